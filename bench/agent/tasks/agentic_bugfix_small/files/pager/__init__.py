"""Pages of a long list."""
