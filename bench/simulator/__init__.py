"""An OpenAI-compatible gateway that answers as told: a program of its own, never imported.

Started as ``python -m bench.simulator``; docs/simulator.md has its vocabulary. It knows nothing
of the benchmark but the fingerprint of a prompt, and all it says is marked as simulated.
"""
