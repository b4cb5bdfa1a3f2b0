"""Edits of a text."""
