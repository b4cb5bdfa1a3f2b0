import pytest
from msgspec.structs import replace

from bench.model.target import Target, TargetMetadata
from bench.model.trial import Response, ResponseError
from bench.runner.proof import Replays, pin_violated

TARGET = Target(
    id="a/m:eu",
    model="a/m:eu",
    model_id="m",
    mapping="a:eu",
    display_name="M",
    metadata=TargetMetadata(upstream_model="Vendor-M-70B"),
)
ANSWER = Response(content="text", generation_id="g", created_s=5.0)


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        pytest.param(Response(), None, id="nothing-told"),
        pytest.param(Response(served_provider="A"), False, id="provider"),
        pytest.param(Response(served_provider="b"), True, id="other-provider"),
        pytest.param(Response(served_region="EU"), False, id="region"),
        pytest.param(Response(served_region="us"), True, id="other-region"),
        pytest.param(Response(served_model="m-2026-01-01"), False, id="dated"),
        pytest.param(Response(served_model="m-mini"), True, id="other-model"),
        pytest.param(Response(served_model="vendor-m-70b"), False, id="the-providers-own-name"),
        pytest.param(
            Response(served_provider="a", served_model="x"), True, id="right-provider-wrong-model"
        ),
    ],
)
def test_the_pin_is_held_against_what_the_answer_tells(response, verdict):
    assert pin_violated(TARGET, response) is verdict


def test_without_a_pin_only_the_model_counts():
    free = replace(TARGET, mapping=None, model="m")
    assert pin_violated(free, Response(served_provider="x", served_region="y")) is None
    assert pin_violated(free, Response(served_model="other")) is True


def test_the_same_answer_again_is_a_replay_of_the_first():
    replays = Replays()
    assert replays.marked(ANSWER, prompt_hash="p", trial_id="t1") is ANSWER
    again = replays.marked(ANSWER, prompt_hash="p", trial_id="t2")
    assert (again.cache_hit, again.replay_of) == (True, "t1")
    assert replays.marked(ANSWER, prompt_hash="p", trial_id="t1") is ANSWER


@pytest.mark.parametrize(
    ("second", "prompt"),
    [
        pytest.param(ANSWER, "q", id="a-server-with-one-id-for-all"),
        pytest.param(replace(ANSWER, content="other"), "p", id="another-text"),
        pytest.param(replace(ANSWER, created_s=6.0), "p", id="made-later"),
        pytest.param(replace(ANSWER, created_s=None), "p", id="no-moment"),
        pytest.param(replace(ANSWER, generation_id=None), "p", id="no-id"),
        pytest.param(
            replace(ANSWER, error=ResponseError(code="x", seed_code="x", message="m")),
            "p",
            id="failed",
        ),
    ],
)
def test_anything_else_is_none(second, prompt):
    replays = Replays()
    replays.marked(ANSWER, prompt_hash="p", trial_id="t1")
    assert replays.marked(second, prompt_hash=prompt, trial_id="t2") is second


def test_an_id_that_other_prompts_have_too_is_no_evidence():
    replays = Replays()
    for number, prompt in enumerate(["p", "q", "p"]):
        seen = replays.marked(ANSWER, prompt_hash=prompt, trial_id=f"t{number}")
        assert seen is ANSWER
