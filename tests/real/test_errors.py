"""What an upstream's failure looks like through a real gateway, and what we call it.

A gateway passes some failures on and hides others. Where its bytes no longer tell, no client can:
then the expectation is what the bytes say, with the reason beside it.
"""

from dataclasses import dataclass

import pytest

from bench.journal import read_journal
from bench.model.trial import Trial
from tests.real.gateways import Standing, journal_of

pytestmark = pytest.mark.real


@dataclass(frozen=True, kw_only=True)
class Told:
    """One upstream failure and what each gateway makes of it; ``None`` = no error can be told."""

    model: str
    litellm: str | None
    portkey: str | None
    why: str = ""


FAILURES = (
    Told(model="sim-status400", litellm="http_400", portkey="http_400"),
    Told(model="sim-status404", litellm="http_404", portkey="http_404"),
    Told(model="sim-status429-retryafter7", litellm="rate_limited", portkey="rate_limited"),
    Told(model="sim-status500", litellm="http_500", portkey="http_500"),
    Told(model="sim-status503", litellm="http_503", portkey="http_503"),
    Told(model="sim-status502-html", litellm="http_502", portkey="http_502"),
    Told(
        model="sim-n20-reset",
        litellm="http_500",
        portkey="http_500",
        why="a connection reset before the headers becomes the gateway's own 500",
    ),
    Told(
        model="sim-n20-itl20-cut3",
        litellm="upstream_stream_error",
        portkey="stream_incomplete",
        why="LiteLLM sends an error event; Portkey just stops, with a clean end",
    ),
    Told(
        model="sim-n20-itl20-reset3",
        litellm="upstream_stream_error",
        portkey="stream_incomplete",
        why="as cut",
    ),
    Told(
        model="sim-n20-itl20-error3",
        litellm="upstream_stream_error",
        portkey="upstream_stream_error",
    ),
    Told(
        model="sim-n20-itl20-eof3",
        litellm=None,
        portkey="stream_incomplete",
        why="LiteLLM invents `stop`, usage and `[DONE]`: it can't be told from a short answer",
    ),
    Told(
        model="sim-n20-nofinish",
        litellm=None,
        portkey="stream_incomplete",
        why="LiteLLM invents `stop`",
    ),
    Told(
        model="sim-n20-itl2-badjson3",
        litellm="upstream_stream_error",
        portkey="invalid_stream_json",
        why="LiteLLM reads each event, Portkey passes it on",
    ),
    Told(model="sim-empty", litellm="empty_answer", portkey="empty_answer"),
    Told(
        model="sim-n20-json",
        litellm="empty_answer",
        portkey=None,
        why="one JSON body instead of a stream: LiteLLM drops its text, Portkey passes it on",
    ),
    Told(model="sim-n20-itl2-stall3", litellm="total_timeout", portkey="total_timeout"),
    Told(model="sim-n20-hang", litellm="header_timeout", portkey="header_timeout"),
)
SILENT = ("sim-n20-itl2-stall3", "sim-n20-hang")
"""These wait for the request's own time limit."""


@pytest.fixture(scope="module")
def failed(standing):
    """The one trial of every failure, by model."""
    models = [told.model for told in FAILURES if told.model not in SILENT]
    loud = standing.bench("sim-n20", *models, words=("--runs", "1"))
    silent = standing.bench(*SILENT, words=("--runs", "1", "--timeout", "5000"))
    trials: dict[str, Trial] = {}
    for done in (loud, silent):
        assert (done.code, done.told["reason"]) == (5, "no_success"), done.err
        trials |= {trial.target_id: trial for trial in read_journal(journal_of(done)).trials}
    return trials


@pytest.mark.parametrize("told", FAILURES, ids=lambda told: told.model.removeprefix("sim-"))
def test_a_failure_is_named_by_what_the_bytes_say(failed, standing: Standing, told: Told):
    response = failed[told.model].response
    expected = told.litellm if standing.gateway.name == "litellm" else told.portkey
    assert (response.error.code if response.error else None) == expected, told.why


def test_a_failed_target_does_not_spoil_its_neighbour(failed):
    assert failed["sim-n20"].response.error is None


def test_the_wait_a_provider_asks_for_gets_through(failed):
    error = failed["sim-status429-retryafter7"].response.error
    assert error.retry_after_ms == 7000
    assert error.seed_code == "http_429"


def test_what_was_streamed_before_the_end_is_kept(failed):
    for model in ("sim-n20-itl20-cut3", "sim-n20-itl20-error3", "sim-n20-itl2-stall3"):
        response = failed[model].response
        # The last token before a cut goes down with it in some gateways.
        assert 1 <= len(response.stream_chunks) <= 3
        assert response.content
        assert response.finish_reason is None


def test_one_body_instead_of_a_stream_has_no_time_to_first_token(failed, standing: Standing):
    response = failed["sim-n20-json"].response
    assert response.timing.first_content_ms is None
    if standing.gateway.name == "portkey":
        assert response.timing.held_back is True
        assert response.content


def test_a_page_of_html_is_told_in_words(failed):
    error = failed["sim-status502-html"].response.error
    assert "502" in error.message
    assert "<" not in error.message


def test_a_wrong_key_ends_the_run_at_the_first_answer(standing: Standing):
    model = "sim-n20-itl1"
    done = standing.bench(model, words=("--runs", "3"), key="sk-wrong-key")
    assert (done.code, done.told["reason"]) == (2, "key_rejected"), done.err
    assert f"refused the key in `{standing.gateway.key_variable}`" in done.err
    assert "sk-wrong-key" not in done.err
    # LiteLLM refuses it when asked for its models (HTTP 400: it has no database to look it up in).
    # Portkey has no keys: the upstream says 401, to the first question.
    answered = [r for r in standing.simulator.records() if r["model"] == model]
    assert answered == []
    if standing.gateway.name == "litellm":
        assert "No connected db" in done.err


def test_an_upstream_that_refuses_the_gateways_key_reads_like_a_refused_key(standing: Standing):
    """HTTP 401 comes through as it is: whose key was wrong, only the message can say."""
    done = standing.bench("sim-status401", words=("--runs", "3"))
    assert (done.code, done.told["reason"]) == (2, "key_rejected"), done.err
    assert "simulated HTTP status 401" in done.err
    (only,) = (r for r in standing.simulator.records() if r["model"] == "sim-status401")
    assert only["status"] == 401
