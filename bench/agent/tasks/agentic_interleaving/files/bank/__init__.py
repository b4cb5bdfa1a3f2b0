"""Transfers that run at once."""
