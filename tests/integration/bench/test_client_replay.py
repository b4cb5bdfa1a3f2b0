"""Every recorded answer from a real socket with its own timing, and cut in two at every place."""

import asyncio
from collections.abc import Sequence

import pytest

from bench.model.trial import Response
from tests.asking import asking, call
from tests.fake_gateway import Act, Step, fake_gateway
from tests.recorded_streams import Recording, recordings
from tests.replay import assert_true, exchange

pytestmark = pytest.mark.integration
_LONGEST_S = 0.15
"""Recordings that took longer are replayed faster, every gap by the same factor."""
_AT_ONCE = 12
_DENSE_BYTES = 1_500
"""Of longer recordings the rest repeats one event many times: it is cut at every 13th place."""
_LONG_BYTES = 5_000


def _script(recording: Recording, longest_s: float) -> Sequence[Step]:
    """Return the reads as steps; at the end the socket closes or, where it was held, stays open."""
    if not recording.reads:
        return [Act.CLOSE]
    began, last = recording.reads[0][0], recording.reads[-1][0]
    speed = min(1.0, longest_s / max((last - began) / 1000, 1e-9))
    steps: list[Step] = []
    before = began
    for at, data in recording.reads:
        steps += [(at - before) / 1000 * speed, data]
        before = at
    is_held = recording.eof_ms - last > 1000
    return [*steps, Act.HOLD if is_held else Act.CLOSE]


async def _ask(recording: Recording, longest_s: float = _LONGEST_S) -> Response:
    async with (
        fake_gateway(_script(recording, longest_s)) as gateway,
        asking(gateway.url) as client,
    ):
        response = (await client.send(call()))[1]
        assert len(gateway.requests) == 1
        return response


def _replayed() -> list[Response]:
    async def scene() -> list[Response]:
        slots = asyncio.Semaphore(_AT_ONCE)

        async def one(recording: Recording) -> Response:
            async with slots:
                response = await _ask(recording)
                # The machine may have stood still for a second before the end of the body.
                return await _ask(recording) if response.timing.body_not_ended else response

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(recording)) for recording in recordings()]
        return [task.result() for task in tasks]

    return asyncio.run(scene())


def test_every_recording_reads_from_a_socket_as_its_bytes_say() -> None:
    for recording, response in zip(recordings(), _replayed(), strict=True):
        try:
            assert_true(response, recording.truth)
            _assert_times_are_in_order(response)
        except AssertionError as error:
            error.add_note(f"recording {recording.name}")
            raise


def _assert_times_are_in_order(response: Response) -> None:
    timing = response.timing
    stamps = [
        timing.sent_ms,
        timing.headers_ms,
        timing.first_event_ms,
        timing.first_token_ms,
        timing.last_token_ms,
        timing.total_ms,
    ]
    known = [stamp for stamp in stamps if stamp is not None]
    assert known == sorted(known)
    assert not timing.body_not_ended
    at = [chunk.at_ms for chunk in response.stream_chunks]
    assert at == sorted(at)


def test_words_sent_apart_are_read_apart() -> None:
    recording = next(r for r in recordings() if r.key == ("upstream", "ok", True))
    response = asyncio.run(_ask(recording))
    assert len({chunk.read for chunk in response.stream_chunks}) >= 4
    assert response.timing.itl_ms is not None
    assert response.timing.max_content_stall_ms is not None


def test_silence_in_the_middle_is_the_longest_stall() -> None:
    recording = next(r for r in recordings() if r.key == ("upstream", "midstall", True))

    def is_longest() -> bool:
        response = asyncio.run(_ask(recording, longest_s=1.0))
        gaps = response.timing.content_itl_ms
        assert gaps is not None
        assert response.timing.max_content_stall_ms == max(gaps)
        return gaps[2] == max(gaps)

    # A machine that stands still elsewhere for longer does not do so each time.
    assert any(is_longest() for _ in range(5))


def _places(recording: Recording) -> list[int]:
    """Return where to cut. Headers that a gateway sends with every answer are cut in one of them."""
    size = len(recording.raw)
    gateway, case, _ = recording.key
    began = 1
    if gateway == "litellm" and case != "ok":
        began = recording.raw.find(b"\r\n\r\n")
    if size > _LONG_BYTES:
        return [cut for cut in range(1, size) if cut < _DENSE_BYTES or cut % 13 == 0]
    return list(range(began, size))


def _parsed(*pieces: bytes) -> tuple[object, ...]:
    """Return everything that was read, without computing what follows from it."""
    state = exchange()
    for at_ns, piece in enumerate(pieces):
        state.receive(at_ns, piece)
    state.eof(len(pieces))
    said = state.decoder.finish()
    return (
        state.http.head,
        state.ending,
        state.decoder.done_ns is not None,
        bytes(state.error_body),
        said.content,
        said.reasoning,
        said.tool_calls,
        said.finish_reason,
        said.usage,
        said.event_count,
        said.fault,
        bytes(said.deltas.kinds),
        said.deltas.characters,
    )


@pytest.mark.parametrize(
    "recording",
    [pytest.param(found, id=found.name) for found in recordings() if found.reads],
)
def test_an_answer_cut_in_two_at_any_place_is_the_same(recording: Recording) -> None:
    raw = recording.raw
    whole = _parsed(raw)
    for cut in _places(recording):
        assert _parsed(raw[:cut], raw[cut:]) == whole, cut
