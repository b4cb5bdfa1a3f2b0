"""The command line of the benchmark: parse, call one use case, say how it ended.

stdout is data, stderr is talk; only modules in here write to either.
"""
