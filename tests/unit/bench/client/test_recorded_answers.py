"""Every recorded answer, replayed without a network, comes to the truth its bytes allow."""

import pytest

from bench.client.exchange import AFTER_DONE_NS
from bench.client.verdict import respond
from tests.recorded_streams import Recording, recordings
from tests.replay import MS, assert_true, circumstances, exchange, pieces, replay, seen

every_recording = pytest.mark.parametrize(
    "recording", [pytest.param(recording, id=recording.name) for recording in recordings()]
)


def _as_recorded(recording: Recording) -> list[tuple[int, bytes]]:
    return [(int(ms * MS), data) for ms, data in recording.reads]


def test_all_recordings_are_there() -> None:
    assert len(recordings()) == 82
    assert sum(recording.truth.hides is not None for recording in recordings()) == 12


@every_recording
def test_a_recorded_answer_reads_as_its_bytes_say(recording: Recording) -> None:
    response = replay(_as_recorded(recording), eof_ns=int(recording.eof_ms * MS))
    assert_true(response, recording.truth)


@every_recording
@pytest.mark.parametrize("size", [1, 2, 3, 7, 61, 100_000])
def test_how_the_network_cuts_an_answer_does_not_change_it(recording: Recording, size: int) -> None:
    whole = replay(_as_recorded(recording))
    assert seen(replay(pieces(recording.raw, size))) == seen(whole)


@every_recording
def test_the_end_mark_is_seen_where_it_was_sent(recording: Recording) -> None:
    state = exchange()
    for at_ns, data in _as_recorded(recording):
        state.receive(at_ns, data)
    assert (state.decoder.done_ns is not None) is recording.truth.done


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(recording, id=recording.name)
        for recording in recordings()
        # These bodies never end: the end of file is all there is.
        if recording.key[:2] not in {("upstream", "die"), ("upstream", "reset")}
    ],
)
def test_a_body_ends_with_its_last_byte_and_not_with_its_socket(recording: Recording) -> None:
    state = exchange()
    for at_ns, data in _as_recorded(recording):
        state.receive(at_ns, data)
    assert state.is_over
    state.eof(int(recording.eof_ms * MS))
    total = respond(state, circumstances()).timing.total_ms
    assert total == pytest.approx(recording.reads[-1][0], abs=0.001)


@every_recording
def test_each_chunk_has_the_time_of_the_read_that_carried_it(recording: Recording) -> None:
    reads = _as_recorded(recording)
    response = replay(reads)
    for chunk in response.stream_chunks:
        assert chunk.at_ms == pytest.approx(reads[chunk.read][0] / MS, abs=0.001)
    if response.stream_chunks:
        first, last = response.stream_chunks[0], response.stream_chunks[-1]
        assert response.timing.first_token_ms == first.at_ms
        assert response.timing.last_token_ms == last.at_ms


@every_recording
def test_an_answer_cut_anywhere_is_never_a_success_without_its_end(recording: Recording) -> None:
    raw = recording.raw
    for cut in range(0, len(raw), 97):
        state = exchange()
        state.receive(0, raw[:cut])
        state.eof(AFTER_DONE_NS)
        response = respond(state, circumstances())
        if response.error is None:
            assert response.finish_reason is not None
            assert state.decoder.done_ns is not None or state.http.is_complete
