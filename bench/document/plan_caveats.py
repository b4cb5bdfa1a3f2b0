"""What the plan of a run leaves out, though it was asked for. Pure."""

from collections.abc import Iterable

from bench.model.document import Caveat
from bench.model.run_config import RunConfig


def plan_caveats(config: RunConfig) -> Iterable[Caveat]:
    """Yield one caveat for each reason why cases were not run."""
    for why in dict.fromkeys(config.not_run.values()):
        names = [case_id for case_id, reason in config.not_run.items() if reason == why]
        yield Caveat(
            code="not_run",
            level="note",
            text=f"Not run: {', '.join(names)}. {why} They are not in the plan and count nowhere.",
        )
