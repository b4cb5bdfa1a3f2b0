"""Every recorded answer in messages and responses comes to what its upstream really sent."""

import pytest

from bench.client.exchange import AFTER_DONE_NS
from bench.client.verdict import respond
from tests.recorded_apis import ApiRecording, api_recordings
from tests.replay import circumstances, exchange, pieces, replay, seen

every_recording = pytest.mark.parametrize(
    "recording", [pytest.param(recording, id=recording.name) for recording in api_recordings()]
)


def test_all_recordings_are_there() -> None:
    assert len(api_recordings()) == 74
    assert sum(recording.truth.hides is not None for recording in api_recordings()) == 14


@every_recording
def test_a_recorded_answer_is_what_its_upstream_sent(recording: ApiRecording) -> None:
    truth = recording.truth
    response = replay(recording.reads, api=recording.api, eof_ns=recording.eof_ns)
    usage = response.usage
    assert (response.error.code if response.error else None) == truth.error, response.error
    assert response.status == truth.status
    assert (response.content, response.reasoning) == (truth.content, truth.reasoning)
    calls = [(call.id, call.name, call.arguments.replace(" ", "")) for call in response.tool_calls]
    assert calls == [(id_, "get_w", arguments) for id_, arguments in truth.tools]
    assert response.finish_reason == truth.finish
    assert (
        usage
        and (
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.reasoning_tokens,
            usage.visible_completion_tokens,
            usage.cached_prompt_tokens,
        )
    ) == truth.usage
    assert len(response.stream_chunks) == truth.chunks
    assert bool(response.opaque) is truth.echoes


@every_recording
@pytest.mark.parametrize("size", [1, 2, 3, 7, 61, 100_000])
def test_how_the_network_cuts_an_answer_does_not_change_it(
    recording: ApiRecording, size: int
) -> None:
    whole = replay(recording.reads, api=recording.api)
    assert seen(replay(pieces(recording.raw, size), api=recording.api)) == seen(whole)


@every_recording
def test_each_chunk_has_the_time_of_the_read_that_carried_it(recording: ApiRecording) -> None:
    response = replay(recording.reads, api=recording.api)
    for chunk in response.stream_chunks:
        assert chunk.at_ms == pytest.approx(recording.reads[chunk.read][0] / 1e6, abs=0.001)


@every_recording
def test_an_answer_cut_anywhere_is_never_a_success_without_its_end(
    recording: ApiRecording,
) -> None:
    raw = recording.raw
    for cut in range(0, len(raw), 197):
        state = exchange(api=recording.api)
        state.receive(0, raw[:cut])
        state.eof(AFTER_DONE_NS)
        response = respond(state, circumstances())
        if response.error is None:
            assert response.finish_reason is not None
            assert state.decoder.done_ns is not None or state.http.is_complete


@every_recording
def test_without_a_stream_there_is_no_first_token(recording: ApiRecording) -> None:
    timing = replay(recording.reads, api=recording.api).timing
    if not recording.is_stream:
        assert (timing.first_content_ms, timing.first_token_ms, timing.itl_ms) == (None,) * 3
        assert timing.total_ms is not None
