import pytest

from bench.model.trial import StreamChunk
from bench.overhead.buffering import buffering
from tests.sample_arms import BASE, CHANGED, streamed
from tests.sample_documents import STREAM, failure, response, timing, trial

CHUNKS = 128


def answer(times_ms, *, target=CHANGED, bytes_each=256, total_ms=None):
    """Return a trial whose chunks came at those times, those of one time in one read."""
    reads = {at: n for n, at in enumerate(dict.fromkeys(times_ms))}
    kept = tuple(
        StreamChunk(at_ms=at, characters=8, kind="content", read=reads[at]) for at in times_ms
    )
    first, last = times_ms[0], times_ms[-1]
    times = timing(first, total_ms or last + 1, first_token_ms=first)
    came = response(times, stream_chunks=kept, body_bytes=bytes_each * len(kept))
    return trial(target, STREAM, 1, response=came)


def paced(gap_ms=10.0, count=CHUNKS):
    return [50.0 + gap_ms * n for n in range(count)]


def flushed(size, gap_ms=10.0, count=CHUNKS):
    """Return the times of chunks that wait until so many are there."""
    return [50.0 + gap_ms * min(count, (n // size + 1) * size) for n in range(count)]


def judged(through, direct=None):
    return buffering([answer(direct or paced(), target=BASE)], [answer(through)])


def test_a_stream_that_is_passed_on_is_not_buffered():
    found = judged(paced())
    assert (found.verdict, found.text) == ("none", "does not buffer")
    assert found.changed.chunks_per_burst == 1.0
    assert found.changed.gap_ms == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        pytest.param(64, "16 KB (64 chunks)", id="16 KB"),
        pytest.param(32, "8 KB (32 chunks)", id="8 KB"),
        pytest.param(5, "1.2 KB (5 chunks)", id="odd"),
    ],
)
def test_plateaus_tell_the_size_of_the_buffer(size, text):
    found = judged(flushed(size, count=4 * size))
    assert found.verdict == "coalesces"
    assert found.text == f"passes the stream on in bursts of about {text}"


def test_all_at_the_end_is_held_back():
    found = judged([1_400.0] * CHUNKS)
    assert (found.verdict, found.text) == (
        "holds_back",
        "holds the whole answer back until its end",
    )
    assert found.changed.held_back_share == 1.0


def test_an_upstream_that_holds_back_tells_nothing_of_the_gateway():
    found = judged([1_400.0] * CHUNKS, direct=[1_400.0] * CHUNKS)
    assert found.verdict == "undecided"
    assert "the upstream itself" in found.text


def test_a_stream_faster_than_bursts_is_undecided():
    assert "too fast" in judged(paced(0.5), direct=paced(0.5)).text


def test_a_short_stream_is_undecided():
    found = judged(paced(count=8), direct=paced(count=8))
    assert "fewer than 16 chunks" in found.text


def test_an_upstream_in_bursts_is_compared_with_its_own_bursts():
    assert judged(flushed(4), direct=flushed(4)).verdict == "none"
    assert judged(flushed(32), direct=flushed(4)).verdict == "coalesces"


def test_without_lengths_bursts_are_counted_in_chunks():
    through = trial(CHANGED, STREAM, 1, response=streamed(50.0, body_bytes=None))
    found = buffering([answer(paced(), target=BASE)], [through])
    assert found is not None
    assert found.changed is not None
    assert found.changed.burst_bytes is None


def test_only_answers_that_came_and_were_measured_count():
    bad = trial(CHANGED, STREAM, 1, response=failure())
    assert buffering([answer(paced(), target=BASE)], [bad]) is None
    warmup = trial(CHANGED, STREAM, 1, response=streamed(50.0), warmup=True)
    assert buffering([answer(paced(), target=BASE)], [warmup]) is None
