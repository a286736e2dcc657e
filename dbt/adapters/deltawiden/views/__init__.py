"""Views over tables that become wider."""
