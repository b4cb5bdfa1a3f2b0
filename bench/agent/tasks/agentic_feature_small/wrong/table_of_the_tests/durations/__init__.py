"""Durations as text."""

from durations.reading import parse_duration
from durations.writing import format_duration

__all__ = ["format_duration", "parse_duration"]
