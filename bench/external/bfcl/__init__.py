"""The simple calls of the Berkeley Function Calling Leaderboard: one function, one call.

The data is in the package `bfcl-eval` (Apache-2.0), which does not ship with this one. The rules of
comparison are the leaderboard's, written afresh; docs/external-suites.md lists them.
"""
