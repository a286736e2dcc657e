"""What happens before and after a write."""
