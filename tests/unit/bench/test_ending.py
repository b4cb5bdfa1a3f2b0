import signal

import pytest

from bench.model.surroundings import Incident
from bench.model.target import Target
from bench.model.trial import Response
from bench.runner.ending import Fact, concluded, exit_code, is_provider_error
from bench.runner.proof import explained, pin_violated
from tests.run_stage import error

# ---- pure parts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "options", "code"),
    [
        pytest.param("done", {}, 0, id="done"),
        pytest.param("budget", {}, 0, id="cut by time"),
        pytest.param("budget", {"require_complete": True}, 5, id="cut though asked for all"),
        pytest.param("key_rejected", {}, 2, id="key"),
        pytest.param("gateway", {}, 4, id="gateway"),
        pytest.param("max_cost", {}, 5, id="money"),
        pytest.param("provider_down", {}, 5, id="provider down"),
        pytest.param("no_success", {}, 5, id="no success"),
        pytest.param("set_aside", {}, 5, id="trials set aside"),
        pytest.param("disk_full", {}, 5, id="disk"),
        pytest.param("killed", {}, 5, id="killed"),
        pytest.param("interrupted", {"signal_number": signal.SIGINT}, 130, id="ctrl-c"),
        pytest.param("interrupted", {"signal_number": signal.SIGTERM}, 143, id="sigterm"),
    ],
)
def test_each_reason_has_its_exit_code(reason, options, code):
    assert exit_code(reason, **options) == code


def fact(code=None, target_id="a", at=0.0, *, warmup=False, invalidated=False):
    return Fact(
        target_id=target_id,
        warmup=warmup,
        finished_offset_ms=at,
        error_code=code,
        is_invalidated=invalidated,
    )


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        pytest.param([fact()], "done", id="all good"),
        pytest.param([fact("http_503")], "no_success", id="one failure is no outage"),
        pytest.param([fact("http_400")] * 4, "no_success", id="refused requests are no outage"),
        pytest.param([fact(warmup=True), fact("http_400")], "no_success", id="only a warm-up"),
        pytest.param([], "no_success", id="nothing came back"),
        pytest.param(
            [fact(), fact(invalidated=True, warmup=True)], "done", id="a warm-up set aside"
        ),
        pytest.param(
            [fact(), *(fact("rate_limited", at=n) for n in (1.0, 2.0, 3.0))],
            "provider_down",
            id="three errors at the end",
        ),
        pytest.param(
            [*(fact("http_502", at=n) for n in (1.0, 2.0, 3.0)), fact(at=4.0)],
            "done",
            id="recovered at the end",
        ),
        pytest.param(
            [fact(), *(fact("http_502", at=1.0, invalidated=True) for _ in range(3))],
            "set_aside",
            id="an incident is not the provider",
        ),
    ],
)
def test_a_run_that_nobody_stopped_ends_by_what_came_back(facts, reason):
    assert concluded(["a"], facts, is_cut=False) == reason


def test_one_target_down_is_enough():
    facts = [fact(), *(fact("idle_timeout", "b", n) for n in (1.0, 2.0, 3.0))]
    assert concluded(["a", "b"], facts, is_cut=True) == "provider_down"


@pytest.mark.parametrize(
    ("code", "is_providers"),
    [
        (None, False),
        ("http_500", True),
        ("http_529", True),
        ("http_404", False),
        ("empty_answer", False),
        ("gateway_died", False),
        ("stream_incomplete", True),
    ],
)
def test_errors_are_told_apart_by_whose_they_are(code, is_providers):
    assert is_provider_error(code) is is_providers


@pytest.mark.parametrize(
    ("mapping", "provider", "model", "verdict"),
    [
        pytest.param("openai", None, None, None, id="the answer does not tell"),
        pytest.param(None, "azure", None, None, id="nothing is pinned"),
        pytest.param("openai", "OpenAI", None, False, id="same provider"),
        pytest.param("openai:eu", "openai", None, False, id="region is not the provider"),
        pytest.param("openai", "azure", None, True, id="other provider"),
        pytest.param("openai", "openai", "gpt-x-2026-01-01", False, id="dated name"),
        pytest.param("openai", "openai", "llama", True, id="other model"),
        pytest.param(None, None, "openai/gpt-x", False, id="model with its provider"),
    ],
)
def test_a_pin_is_violated_only_by_somebody_else(mapping, provider, model, verdict):
    pinned = Target(
        id="t", model="openai/gpt-x", model_id="gpt-x", display_name="x", mapping=mapping
    )
    response = Response(served_provider=provider, served_model=model)
    assert pin_violated(pinned, response) is verdict


def test_an_unknown_class_of_incident_keeps_what_the_client_saw():
    slept = Incident(incident_class="machine_slept", at="z", summary="asleep for 60 s")
    made = explained(error("idle_timeout", None), slept)
    assert (made.code, made.seed_code) == ("idle_timeout", "idle_timeout")
    assert made.message == "asleep for 60 s; the client saw: it broke"
