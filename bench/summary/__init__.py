"""Trials → figures: one pure function over what was recorded.

What enters a figure is decided in ``selection``; each other module computes one group of figures.
"""

from bench.summary.selection import Evidence
from bench.summary.whole import summarize

__all__ = ["Evidence", "summarize"]
