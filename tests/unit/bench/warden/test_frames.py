"""Frames on the report pipe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.warden.frames import Frames, frame

FRAME = st.tuples(st.sampled_from([b"S", b"R", b"E", b"F", b"."]), st.binary(max_size=40))


@given(st.lists(FRAME, max_size=6), st.integers(min_value=1, max_value=9))
def test_borders_of_reads_do_not_change_frames(frames, step):
    written = b"".join(frame(kind, content) for kind, content in frames)
    reader = Frames()
    read = []
    for at in range(0, len(written), step):
        read += reader.feed(written[at : at + step])
    assert read == frames


@pytest.mark.parametrize("received", [b"X\0\0\0\0", b"F\xff\xff\xff\xff"])
def test_what_our_side_never_writes_is_a_fault(received):
    with pytest.raises(ValueError, match="a frame of kind"):
        Frames().feed(received)
