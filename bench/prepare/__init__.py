"""From settings to a run that can start: address and key, targets, cases, and what it may cost.

Everything that refuses a run does so here, before the first request to a model.
"""
