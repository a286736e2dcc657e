"""The types that enforced contracts declare, in the YAML files of a project."""
