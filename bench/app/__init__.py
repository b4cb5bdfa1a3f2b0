"""The benchmark's use cases: run a plan, go on with a journal, render what was recorded.

The command line parses and calls one of them; nothing here reads an environment or prints.
"""

from bench.app.rendering import Published, read_run, render
from bench.app.request import Outcome, RunRequest, Session
from bench.app.running import resume_plan, run_plan

__all__ = [
    "Outcome",
    "Published",
    "RunRequest",
    "Session",
    "read_run",
    "render",
    "resume_plan",
    "run_plan",
]
