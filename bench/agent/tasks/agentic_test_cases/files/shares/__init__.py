"""Dividing money."""
