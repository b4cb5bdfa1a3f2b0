"""What a comparison tells `git bisect run`."""

import pytest

from bench.cli.bisecting import bisected
from bench.cli.console import Console
from bench.cli.manners import Manners
from bench.cli.outcome import Outcome


def ended(code, *verdicts):
    gates = [{"gate": f"g{number}", "verdict": one} for number, one in enumerate(verdicts)]
    return Outcome(exit_code=code, reason="done", detail={"gates": gates})


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        pytest.param(ended(0, "passed"), 0, id="passed"),
        pytest.param(ended(0, "passed", "passed"), 0, id="all-passed"),
        pytest.param(ended(6, "failed", "passed"), 1, id="failed"),
        pytest.param(ended(0, "passed", "undecided"), 125, id="one-undecided"),
        pytest.param(ended(0), 125, id="no-gate"),
        pytest.param(ended(8, "undecided"), 125, id="strict"),
        pytest.param(ended(3), 125, id="not-started"),
        pytest.param(ended(4, "passed"), 125, id="died"),
        pytest.param(ended(5, "passed"), 125, id="incomplete"),
        pytest.param(ended(130), 125, id="interrupted"),
    ],
)
def test_only_a_decided_verdict_is_good_or_bad(outcome, code, capsys):
    told = bisected(outcome, Console())
    assert told.exit_code == code
    assert told.detail["class"] == outcome.exit_code
    assert f"({code})" in capsys.readouterr().err


def test_an_own_failure_code_counts_only_with_its_flag():
    manners = Manners(own_failure=125, own_failure_with="--bisect")
    assert manners.failure(["ab", "--bisect"]) == 125
    assert manners.failure(["ab"]) is None
    assert Manners(own_failure=125).failure(["exec"]) == 125
