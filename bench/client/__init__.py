"""The HTTP client that measures: stamps each read once, tells errors apart, reads to the end."""
