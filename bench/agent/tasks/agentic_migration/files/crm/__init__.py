"""Customer records."""
