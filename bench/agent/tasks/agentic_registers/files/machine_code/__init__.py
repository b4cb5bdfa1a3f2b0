"""Code for a machine with few registers."""
