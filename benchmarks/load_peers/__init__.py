"""The load generator beside other tools, all against one C server on the same machine."""
