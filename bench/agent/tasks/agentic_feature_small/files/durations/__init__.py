"""Durations as text."""

from durations.writing import format_duration

__all__ = ["format_duration"]
