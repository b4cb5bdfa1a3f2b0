"""The arithmetic of load: when requests are due, when to stop, what was inside an SLO. Pure.

Nothing here sends, waits or reads a clock; `bench.runner` does, with what is computed here.
"""
