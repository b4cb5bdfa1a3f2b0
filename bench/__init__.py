"""Measure any OpenAI-compatible endpoint. Never imports the orchestrator."""

__version__ = "0.1.0"
