"""The benchmark's use cases: run a plan, go on with a journal, render what was recorded.

The command line parses and calls one of them; nothing here reads an environment or prints.
``rendering`` is asked for by name: its reports take as long to load as all the rest.
"""

from bench.app.request import Outcome, RunRequest, Session
from bench.app.running import resume_plan, run_plan

__all__ = [
    "Outcome",
    "RunRequest",
    "Session",
    "resume_plan",
    "run_plan",
]
