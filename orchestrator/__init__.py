"""Own the process of one local gateway. Knows nothing of the benchmark but its command line."""
