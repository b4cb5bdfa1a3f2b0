"""The partner's exchange format."""
