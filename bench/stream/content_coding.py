"""Incremental decoding of ``Content-Encoding``: gzip, deflate, br, and chains of them.

Every step is bounded: a small compressed body can't blow up to more than the caller allows.
"""

import zlib
from collections.abc import Sequence
from typing import Protocol

import brotli

ACCEPTED = "gzip, deflate, br"
"""Value for ``Accept-Encoding``: what the usual SDKs ask for."""


_ZLIB_HEADER_BYTES = 2


class CodingError(Exception):
    """The body can't be decoded."""


class UnknownCoding(CodingError):
    """A coding that was never asked for."""

    def __init__(self, coding: str) -> None:
        super().__init__(f"content coding `{coding}` is not known")


class NotInCoding(CodingError):
    """The bytes are not what ``Content-Encoding`` says."""

    def __init__(self, coding: str, found: Exception) -> None:
        super().__init__(f"the body is not in its content coding `{coding}`: {found}")


class TooLarge(CodingError):
    """A step of decoding gave more bytes than were allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} bytes come out of the content coding")


class Decoder(Protocol):
    """One content coding."""

    def feed(self, data: bytes, limit: int) -> bytes:
        """Decode the next bytes.

        Args:
            data: As they came from the body.
            limit: Most bytes that may come out of this step.

        Raises:
            CodingError: The bytes are not in this coding, or more than ``limit`` come out.
        """
        ...


class _Inflater(Protocol):
    """What ``zlib.decompressobj`` returns (its class has no public name)."""

    @property
    def unconsumed_tail(self) -> bytes: ...

    def decompress(self, data: bytes, _max_length: int = 0, /) -> bytes: ...


def _inflate(inner: _Inflater, data: bytes, limit: int) -> bytes:
    # A limit of 0 means "no limit" to zlib.
    try:
        decoded = inner.decompress(data, max(limit, 1))
    except zlib.error as error:
        raise NotInCoding("gzip or deflate", error) from error
    if inner.unconsumed_tail:
        raise TooLarge(limit)
    return decoded


class _Gzip:
    """One or more gzip members, one after another."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)

    def feed(self, data: bytes, limit: int) -> bytes:
        pieces: list[bytes] = []
        while data:
            if self._inner.eof:
                self._inner = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            piece = _inflate(self._inner, data, limit)
            pieces.append(piece)
            limit -= len(piece)
            data = self._inner.unused_data
        return b"".join(pieces)


class _Deflate:
    """Both forms that servers send: with the zlib header of RFC 9110, and without."""

    def __init__(self) -> None:
        self._head = b""
        self._inner: _Inflater | None = None

    def feed(self, data: bytes, limit: int) -> bytes:
        if self._inner is None:
            self._head += data
            if len(self._head) < _ZLIB_HEADER_BYTES:
                return b""
            data = self._head
            first, second = data[:_ZLIB_HEADER_BYTES]
            # RFC 1950: the low bits name the method (8), both bytes are a multiple of 31.
            has_header = first & 0x0F == 8 and (first << 8 | second) % 31 == 0  # noqa: PLR2004
            self._inner = zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
        return _inflate(self._inner, data, limit)


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    def feed(self, data: bytes, limit: int) -> bytes:
        try:
            decoded: bytes = self._inner.process(data, output_buffer_limit=limit)
        except brotli.error as error:
            raise NotInCoding("br", error) from error
        # Its limit is coarse: one step may give up to 32 KB, or all of a block, above it.
        if len(decoded) > limit or not self._inner.can_accept_more_data():
            raise TooLarge(limit)
        return decoded


class _Chain:
    def __init__(self, steps: Sequence[Decoder]) -> None:
        self._steps = steps

    def feed(self, data: bytes, limit: int) -> bytes:
        for step in self._steps:
            data = step.feed(data, limit)
        return data


def decoder_for(content_encoding: str) -> Decoder | None:
    """Return a decoder for the header's value, ``None`` for a body that is sent as it is.

    Args:
        content_encoding: For example ``gzip`` or ``deflate, br`` (in the order of application).

    Raises:
        UnknownCoding: The header names a coding that was never asked for.
    """
    steps: list[Decoder] = []
    for coding in (part.strip().lower() for part in content_encoding.split(",")):
        match coding:
            case "" | "identity":
                pass
            case "gzip" | "x-gzip":
                steps.insert(0, _Gzip())
            case "deflate":
                steps.insert(0, _Deflate())
            case "br":
                steps.insert(0, _Brotli())
            case _:
                raise UnknownCoding(coding)
    return _Chain(steps) if steps else None
