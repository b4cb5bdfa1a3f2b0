import gzip
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.stream.content_coding import (
    NotInCoding,
    TooLarge,
    UnknownCoding,
    decoder_for,
)

_TEXT = "data: wörter, wörter, wörter\n\n".encode() * 5


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


_CODED = {
    "gzip": gzip.compress(_TEXT),
    "x-gzip": gzip.compress(_TEXT),
    "GZIP": gzip.compress(_TEXT[:40]) + gzip.compress(_TEXT[40:]),
    "deflate": zlib.compress(_TEXT),
    " deflate ": _raw_deflate(_TEXT),
    "br": brotli.compress(_TEXT),
    "deflate, gzip": gzip.compress(zlib.compress(_TEXT)),
    "identity, br": brotli.compress(_TEXT),
}


@pytest.mark.parametrize("coding", _CODED)
@given(size=st.integers(min_value=1, max_value=40))
def test_every_coding_decodes_however_it_is_cut(coding: str, size: int) -> None:
    decoder = decoder_for(coding)
    assert decoder is not None
    data = _CODED[coding]
    decoded = [decoder.feed(data[at : at + size], 10_000) for at in range(0, len(data), size)]
    assert b"".join(decoded) == _TEXT


@pytest.mark.parametrize("coding", ["", "identity", "identity, identity"])
def test_a_plain_body_needs_no_decoder(coding: str) -> None:
    assert decoder_for(coding) is None


def test_a_flushed_event_is_decoded_at_once() -> None:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    first = packer.compress(b"data: a\n\n") + packer.flush(zlib.Z_SYNC_FLUSH)
    decoder = decoder_for("gzip")
    assert decoder is not None
    assert decoder.feed(first, 1000) == b"data: a\n\n"


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_bytes_in_another_coding_are_named(coding: str) -> None:
    decoder = decoder_for(coding)
    assert decoder is not None
    with pytest.raises(NotInCoding, match="content coding"):
        decoder.feed(b"\xff\xff plain text that is longer", 1000)


def test_a_coding_nobody_asked_for_is_named() -> None:
    with pytest.raises(UnknownCoding, match="`zstd`"):
        decoder_for("zstd")


@pytest.mark.parametrize(
    "bomb",
    [
        pytest.param(("gzip", gzip.compress(bytes(1_000_000))), id="gzip"),
        pytest.param(("deflate", zlib.compress(bytes(1_000_000))), id="deflate"),
        pytest.param(("br", brotli.compress(bytes(1_000_000))), id="br"),
        pytest.param(("gzip", gzip.compress(b"x" * 600) * 2), id="second gzip member"),
    ],
)
def test_a_small_body_does_not_become_a_large_one(bomb: tuple[str, bytes]) -> None:
    coding, data = bomb
    decoder = decoder_for(coding)
    assert decoder is not None
    with pytest.raises(TooLarge, match="more than"):
        decoder.feed(data, 1000)
