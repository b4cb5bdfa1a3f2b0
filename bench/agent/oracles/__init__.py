"""The hidden checks of each coding task, by task id: inputs and what has to come of them.

Every expected value is computed here, by a solver that shares no code with the task's own solution.
"""

from collections.abc import Callable, Mapping

from bench.agent.task import Check

CHECKS: Mapping[str, Callable[[], tuple[Check, ...]]] = {}
