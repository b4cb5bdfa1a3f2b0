"""What is measured through a real gateway, held against what the simulator behind it logged.

Both stamp with the machine's one monotonic clock, so order and cause can be asserted exactly; how
many milliseconds a gateway adds is told at the end of the session, and judged by nobody.
"""

from statistics import median

import pytest

from bench.journal import read_journal
from bench.model.trial import Trial
from tests.real.gateways import Standing, journal_of

pytestmark = pytest.mark.real

PACED = "sim-ttft50-itl10-n40"
HELD = "sim-ttft50-itl10-n40-hold"
CRLF = "sim-ttft50-itl10-n40-crlf"
FINISHES = {"sim-n20": "stop", "sim-n20-length": "length", "sim-n20-filtered": "content_filter"}
REASONING = "sim-ttft20-itl10-reasoning10-n20"
REASONING_CONTENT = "sim-ttft20-itl10-reasoningcontent10-n20"
HIDDEN = "sim-ttft20-itl5-hiddenreasoning10-n20"
TOOLS = "sim-ttft20-itl5-tools2"
USAGE_TWICE = "sim-n20-doubleusage"
USAGE_AT_FINISH = "sim-n20-finishusage"
NO_USAGE = "sim-n20-nousage"
ODD = (
    *("sim-n20-nodone", "sim-n20-comments", "sim-n20-pings", "sim-n20-itl2-gzip"),
    *("sim-n20-earlyrole", "sim-n20-norole", "sim-n20-allroles", "sim-n20-unicode-split3"),
)
ALL = (
    *(PACED, HELD, CRLF, *FINISHES, REASONING, REASONING_CONTENT, HIDDEN, TOOLS),
    *(USAGE_TWICE, USAGE_AT_FINISH, NO_USAGE, *ODD),
)


@pytest.fixture(scope="module")
def measured(standing):
    """Trials of every model, by model."""
    done = standing.bench(*ALL, words=("--runs", "2"))
    assert done.code == 0, done.err
    by_model: dict[str, list[Trial]] = {model: [] for model in ALL}
    for trial in read_journal(journal_of(done)).trials:
        by_model[trial.target_id].append(trial)
    return by_model


def shown(record) -> list[tuple[int, str, int, int]]:
    """Events of the simulator's log that carry something to read."""
    return [event for event in record["events"] if event[1] in ("content", "reasoning", "tool")]


def test_every_answer_came_whole_and_is_marked_as_simulated(measured):
    for trials in measured.values():
        assert [(t.response.error, t.outcome) for t in trials] == [(None, "completed")] * 2
        assert all(trial.response.simulated for trial in trials)


def test_no_chunk_arrives_before_it_was_sent(measured, standing: Standing, tell):
    added: list[float] = []
    for trial in (*measured[PACED], *measured[REASONING], *measured[REASONING_CONTENT]):
        record, chunks = standing.sent(trial), trial.response.stream_chunks
        assert trial.sent_at_ns is not None
        assert trial.sent_at_ns < record["received_ns"] < record["headers_sent_ns"]
        events = shown(record)
        assert [chunk.characters for chunk in chunks] == [event[2] for event in events]
        lags = [
            trial.sent_at_ns + chunk.at_ms * 1e6 - event[0]
            for chunk, event in zip(chunks, events, strict=True)
        ]
        assert min(lags) >= 0
        added.append(median(lags) / 1e6)
    tell(f"{standing.gateway.name}: a chunk arrives {median(added):.1f} ms after it was sent")


def test_the_first_token_is_the_simulators_first_token(measured, standing: Standing, tell):
    upward, downward = [], []
    for trial in measured[PACED]:
        record, timing = standing.sent(trial), trial.response.timing
        assert timing.first_content_ms is not None
        assert timing.total_ms is not None
        assert trial.sent_at_ns is not None
        first_ns = trial.sent_at_ns + timing.first_content_ms * 1e6
        assert first_ns >= record["first_content_ns"]
        assert trial.sent_at_ns + timing.total_ms * 1e6 >= record["last_content_ns"]
        # What was asked of the simulator is inside, whatever else the gateway adds.
        assert timing.first_content_ms >= 50
        upward.append((record["received_ns"] - trial.sent_at_ns) / 1e6)
        downward.append((first_ns - record["first_content_ns"]) / 1e6)
    tell(
        f"{standing.gateway.name}: of the TTFT, {median(upward):.1f} ms are the request's way "
        f"through the gateway and {median(downward):.1f} ms the first token's way back"
    )


def test_usage_is_the_simulators_and_counted_once(measured, standing: Standing):
    for model in (PACED, USAGE_TWICE, USAGE_AT_FINISH, REASONING, HIDDEN, *FINISHES):
        for trial in measured[model]:
            record, usage = standing.sent(trial), trial.response.usage
            assert usage is not None, model
            assert usage.prompt_tokens == record["prompt_tokens"], model
            assert usage.completion_tokens == record["planned_tokens"], model


def test_usage_that_the_provider_did_not_send_is_missing_or_the_gateways_guess(
    measured, standing: Standing
):
    for trial in measured[NO_USAGE]:
        usage = trial.response.usage
        if standing.gateway.name == "litellm":
            # It counts by a tokenizer of its own, and nothing in its answer says so.
            assert usage is not None
            assert usage.completion_tokens != standing.sent(trial)["planned_tokens"]
        else:
            assert usage is None or usage.completion_tokens is None
            assert trial.response.timing.visible_tokens_per_second is None


@pytest.mark.parametrize(("model", "reason"), FINISHES.items())
def test_finish_reasons_survive(measured, model, reason):
    assert {trial.response.finish_reason for trial in measured[model]} == {reason}


@pytest.mark.parametrize("model", [REASONING, REASONING_CONTENT])
def test_reasoning_is_told_from_content(measured, model):
    for trial in measured[model]:
        kinds = [chunk.kind for chunk in trial.response.stream_chunks]
        assert kinds == ["reasoning"] * 10 + ["content"] * 20
        assert trial.response.usage is not None
        assert trial.response.usage.reasoning_tokens == 10
        assert trial.response.usage.visible_completion_tokens == 20
        timing = trial.response.timing
        assert timing.first_reasoning_ms == timing.first_token_ms
        assert timing.first_content_ms is not None
        assert timing.first_token_ms is not None
        assert timing.first_token_ms < timing.first_content_ms


def test_reasoning_that_is_billed_but_not_shown_leaves_no_time_per_token(measured):
    for trial in measured[HIDDEN]:
        assert trial.response.usage is not None
        assert trial.response.usage.reasoning_tokens == 10
        assert trial.response.reasoning == ""
        assert trial.response.timing.tpot_ms is None


def test_tool_calls_are_put_together(measured, standing: Standing):
    for trial in measured[TOOLS]:
        response = trial.response
        assert response.finish_reason == "tool_calls"
        assert len(response.tool_calls) == 2
        sent = sum(event[2] for event in shown(standing.sent(trial)))
        got = sum(len(call.name) + len(call.arguments) for call in response.tool_calls)
        assert got == sent
        assert response.timing.first_content_ms is None
        assert response.timing.first_tool_call_ms == response.timing.first_token_ms


@pytest.mark.parametrize("model", ODD)
def test_every_spelling_of_a_stream_is_the_same_answer(measured, standing: Standing, model):
    for trial in measured[model]:
        sent = [event[2] for event in shown(standing.sent(trial))]
        assert len(trial.response.content) == sum(sent)
        assert trial.response.finish_reason == "stop"


def test_a_stream_that_was_held_back_upstream(measured, standing: Standing):
    for trial in measured[HELD]:
        timing = trial.response.timing
        last_sent_ns = standing.sent(trial)["last_content_ns"]
        assert trial.sent_at_ns is not None
        assert timing.first_content_ms is not None
        assert trial.sent_at_ns + timing.first_content_ms * 1e6 >= last_sent_ns
        if standing.gateway.name == "portkey":
            assert timing.held_back is True
        # LiteLLM takes the piece apart and sends token by token again: nothing tells it any more.


def test_a_gateway_that_holds_a_stream_back_is_caught(measured, standing: Standing):
    """Portkey looks for LF LF: with a provider that ends lines in CR LF it waits for the end."""
    is_held = standing.gateway.name == "portkey"
    came_late = []
    for trial in measured[CRLF]:
        timing = trial.response.timing
        assert trial.sent_at_ns is not None
        assert timing.first_content_ms is not None
        first_ns = trial.sent_at_ns + timing.first_content_ms * 1e6
        came_late.append(first_ns >= standing.sent(trial)["last_content_ns"])
    # Who stood still for one whole answer, gateway or client, looks as one that held it back.
    assert all(came_late) is is_held
    assert all(trial.response.timing.held_back for trial in measured[CRLF]) is is_held
    assert not all(trial.response.timing.held_back for trial in measured[PACED])
