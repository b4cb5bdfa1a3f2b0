"""Agentic coding: tasks, the loop that lets a model work on one, and the judgement of its work."""
