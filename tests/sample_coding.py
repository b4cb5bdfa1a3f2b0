"""A run of one coding task on two targets, for report tests: solved, wrong, cut, failed, hostile."""

from typing import Any

import msgspec

from bench.agent.loop import figures
from bench.ledger import Ledger, collect
from bench.model.agent import AgentStop
from bench.model.steps import TrialDone, TurnDone
from bench.model.trial import Evaluation, Response, Timing, Trial, Usage
from tests.agent_stage import DONE, MEND, RUN, call, says, worked
from tests.sample_documents import FAST, SLOW, case_info, failure, footer, header

HOSTILE = "<script>alert(1)</script> | [x](javascript:y) \u202e`a` =cmd|"
CODING = case_info(
    "agentic_mend",
    kind="agentic",
    category="coding",
    dimension="python",
    difficulty="easy",
    runs=2,
)
LOOK = says(call("list_files"), content="I look around.", reasoning="What is there?")
TURN_USAGE = Usage(prompt_tokens=100, completion_tokens=10)


def _records(
    target: Any, run: int, *answers: Any, passed: bool | None, stop: AgentStop | None = None
) -> tuple[TurnDone | TrialDone, ...]:
    done, one, _ = worked(*answers)
    trial_id = f"{target.id}|{CODING.id}|r{run}"
    is_cut = stop is not None
    worked_on = figures(done, one, reusable_turns=len(done.turns) if is_cut else 0)
    worked_on = msgspec.structs.replace(
        worked_on,
        stop_reason=stop or done.stop,
        tree_passed=passed,
        sandbox_level="full",
        grading_ms=None if passed is None else 80.0,
    )
    last = done.turns[-1].response
    timing = Timing(first_token_ms=120.0, first_content_ms=150.0, total_ms=worked_on.wall_ms)
    count = len(done.turns)
    trial = Trial(
        id=trial_id,
        target_id=target.id,
        case_id=CODING.id,
        run=run,
        seed=1,
        started_offset_ms=100.0 * run,
        finished_offset_ms=100.0 * run + 90.0,
        outcome="cancelled" if is_cut else "failed" if last.error else "completed",
        response=msgspec.structs.replace(
            last,
            timing=timing,
            usage=Usage(prompt_tokens=100 * count, completion_tokens=10 * count),
        ),
        evaluation=None
        if passed is None
        else Evaluation(
            passed=passed, score=float(passed), detail="4 of 4 hidden checks are right"
        ),
        estimated_cost_usd=0.001 * count,
        cost_source="catalogue",
        invalidated=stop,
        agent=worked_on,
    )
    turns = (
        TurnDone(
            trial_id=trial_id,
            turn=msgspec.structs.replace(turn, cost_usd=0.001, spent_usd=0.001),
        )
        for turn in done.turns
    )
    return (*turns, TrialDone(trial=trial))


def coding_ledger() -> Ledger:
    """Return the run."""
    wrong = call("write_file", {"path": "sums.py", "content": f"# {HOSTILE}\n"})
    broken: Response = failure("http_500")
    records = (
        *_records(FAST, 1, LOOK, says(MEND, RUN), DONE, passed=True),
        *_records(FAST, 2, LOOK, says(call("rm -rf", "{"), MEND, RUN), DONE, passed=True),
        *_records(SLOW, 1, says(wrong, call(HOSTILE)), says(content=HOSTILE), passed=False),
        *_records(SLOW, 2, LOOK, "budget", passed=None, stop="budget"),
        *_records(SLOW, 3, LOOK, broken, passed=None),
    )
    held = {
        "level": "full",
        "walls": "namespaces",
        "items": [{"id": "network", "held": True, "how": "own network namespace"}],
    }
    first = header((FAST, SLOW), (CODING,), sandbox=held)
    return collect([first, *records, footer(reason="budget")])
