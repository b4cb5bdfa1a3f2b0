"""One response from HTTP/2 frames that are taken apart already: head, decoded body, end. No IO.

The twin of ``HttpAnswer``, which reads HTTP/1.1 from bytes.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bench.stream.content_coding import CodingError, Decoder, decoder_for
from bench.stream.http_answer import MAX_BODY_BYTES, Broken, Head

_STATUS = b":status"


@dataclass(slots=True)
class Frames:
    """What one network read held of one response."""

    fields: list[tuple[bytes, bytes]] | None = None
    """Status and headers; not those of interim answers, nor trailers."""
    body: bytes = b""
    is_end: bool = False


class FramedAnswer:
    """Exactly one response."""

    __slots__ = (
        "_coding",
        "_decoder",
        "broken",
        "decoded_bytes",
        "head",
        "is_complete",
        "read_bytes",
    )

    def __init__(self) -> None:
        self.head: Head | None = None
        self.broken: Broken | None = None
        """Why nothing after this point can be read."""
        self.is_complete = False
        """The last byte of the body has been seen."""
        self.read_bytes = 0
        self.decoded_bytes = 0
        self._coding = ""
        self._decoder: Decoder | None = None

    @property
    def is_reusable(self) -> bool:
        """Never: whether the connection takes another request is not this stream's business."""
        return False

    def feed(self, frames: Frames) -> bytes:
        """Take one network read; return the body bytes in it, content coding undone."""
        if self.is_complete or self.broken:
            return b""
        if frames.fields is not None and self.head is None:
            self.head = head_of(frames.fields)
            self._coding = self.head.headers.get("content-encoding", "")
        body = self._body(frames.body) if frames.body else b""
        self.is_complete = frames.is_end and self.broken is None and self.head is not None
        return body

    def eof(self) -> bool:
        """Take the end of the connection; return whether the response is whole."""
        return self.is_complete

    def _body(self, data: bytes) -> bytes:
        self.read_bytes += len(data)
        if self.read_bytes > MAX_BODY_BYTES:
            reason = f"more than {MAX_BODY_BYTES} bytes in one answer"
            self.broken = Broken(reason=reason, is_too_large=True)
            return b""
        try:
            if self._coding:
                self._decoder, self._coding = decoder_for(self._coding), ""
            if self._decoder is not None:
                data = self._decoder.feed(data, MAX_BODY_BYTES - self.decoded_bytes)
        except CodingError as error:
            self.broken = Broken(reason=str(error))
            return b""
        self.decoded_bytes += len(data)
        return data


def head_of(fields: Iterable[tuple[bytes, bytes]]) -> Head:
    """Return status and headers, repeated ones joined by a comma."""
    status, headers = 0, dict[str, str]()
    for raw_name, raw_value in fields:
        if raw_name == _STATUS:
            status = int(raw_value)
        else:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Head(status=status, headers=headers)
