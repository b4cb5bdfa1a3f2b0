"""One HTTP/1.1 response from bytes: head, decoded body, end. A push parser, no IO (httptools).

The end of a body is its last chunk, its content length or, without either, the end of file; the
closing of the socket says nothing about a body that has already ended.
"""

from collections.abc import Callable
from functools import partial

import httptools

from bench.model.record import Value
from bench.stream.content_coding import CodingError, Decoder, decoder_for

MAX_HEAD_BYTES = 256 * 1024
MAX_BODY_BYTES = 64 * 1024 * 1024
"""Largest answer that is read, on the wire and decoded: far above any real one, below any memory."""

_INFORMATIONAL = range(100, 200)
_BODILESS = (204, 304)
_LONGEST_SIZE = 8
"""Bytes of a chunk's size and its line end, in the reads that are looked at as a whole."""


class Broken(Value, frozen=True, kw_only=True):
    """The bytes are no HTTP/1.1 response, or not one that this client reads."""

    reason: str
    is_too_large: bool = False


class Head(Value, frozen=True, kw_only=True):
    """Status and headers; names in lower case, repeated ones joined by a comma."""

    status: int
    headers: dict[str, str]


class HttpAnswer:
    """Parser for exactly one response (interim 1xx ones are skipped)."""

    __slots__ = (
        "_chunk_bytes",
        "_chunk_head",
        "_coding",
        "_decoder",
        "_fields",
        "_is_between_chunks",
        "_is_released",
        "_is_sized",
        "_parser",
        "_pieces",
        "_wanted",
        "broken",
        "decoded_bytes",
        "head",
        "is_complete",
        "is_open_ended",
        "is_reusable",
        "on_body",
        "on_chunk_complete",
        "read_bytes",
    )

    def __init__(self) -> None:
        self.head: Head | None = None
        self.broken: Broken | None = None
        """Why nothing after this point can be read; body bytes before it have been handed out."""
        self.is_complete = False
        """The last byte of the body has been seen."""
        self.is_reusable = False
        """After the end: the connection may carry another request."""
        self.is_open_ended = False
        """The head is read, and no count of bytes says where the body ends."""
        self.read_bytes = 0
        self.decoded_bytes = 0
        self._is_between_chunks = False
        self._chunk_bytes, self._chunk_head = 0, b""
        """Length and first line of the last read that was a whole chunk."""
        self._coding = ""
        self._decoder: Decoder | None = None
        self._fields: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []
        """Of the body, and an empty one where a chunk of it is complete."""
        self._wanted: int | None = None
        """So many pieces belong to this response; ``None`` = all."""
        # Called by httptools for each token, so without any Python code.
        self.on_body: Callable[[bytes], None] = self._pieces.append
        self.on_chunk_complete: Callable[[], None] = partial(self._pieces.append, b"")
        self._is_sized = False
        self._parser = httptools.HttpResponseParser(self)
        self._is_released = False

    def feed(self, data: bytes) -> bytes:
        """Take one network read; return the body bytes in it, content coding undone."""
        if self.is_complete or self.broken or self._is_released:
            self.is_reusable = False  # bytes that nobody asked for
            return b""
        self.read_bytes += len(data)
        if self.read_bytes > MAX_BODY_BYTES:
            return self._break(f"more than {MAX_BODY_BYTES} bytes in one answer", too_large=True)
        self._parse(data)
        if self.head is None and self.read_bytes > MAX_HEAD_BYTES:
            return self._break(f"more than {MAX_HEAD_BYTES} bytes of headers", too_large=True)
        body = self._body() if self._pieces else b""
        if self._decoder is not None:
            self._is_between_chunks = False  # bytes to be inflated hang together, too
        return body

    def release(self) -> None:
        """Read nothing more, and part with the parser, which knows this object.

        Together they would wait for the garbage collector: 3 % of a busy client's time, in pauses.
        """
        if not self._is_released:
            self._is_released = True
            del self._parser

    def _parse(self, data: bytes) -> None:
        self._is_between_chunks = False
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._break("the server switched to another protocol")
        except httptools.HttpParserError as error:
            self.is_reusable = False
            if not self.is_complete:  # else: noise behind a whole answer
                self._break(f"not an HTTP/1.1 response: {error}")
        else:
            is_whole = bool(self._pieces) and not self._pieces[-1] and not self.is_complete
            # A size that has begun makes two reads hang together. No size ends so.
            self._is_between_chunks = is_whole and data.endswith(b"\n\r\n")

    def whole_chunk(self, data: bytes) -> bytes | None:
        """Take one network read that is one chunk and nothing else: nine of ten reads of a stream.

        The parser stands between two chunks before and after it, so it need not see it.

        Returns:
            The body bytes; ``None`` = nothing was taken, ``feed`` has to.
        """
        if not self._is_between_chunks:
            return None
        size, head = len(data), self._chunk_head
        if size != self._chunk_bytes or not data.startswith(head):  # else as long as the last one
            # As servers write it: the size in hexadecimal digits, no zeros before, no extension.
            head = data[: data.find(b"\r\n", 0, _LONGEST_SIZE) + 2]
            length = size - len(head) - 2
            if length < 1 or head.lower() != b"%x\r\n" % length:
                return None
            self._chunk_bytes, self._chunk_head = size, head
        if not data.endswith(b"\r\n") or self.read_bytes + size > MAX_BODY_BYTES:
            return None
        self.read_bytes += size
        self.decoded_bytes += size - len(head) - 2
        return data[len(head) : -2]

    def eof(self) -> bool:
        """Take the end of file; return whether the response is whole."""
        if self.head is not None and not self._is_sized and not self.broken:
            self.is_complete = True
        self.is_reusable = False
        return self.is_complete

    def _body(self) -> bytes:
        body = b"".join(self._pieces[: self._wanted])
        self._pieces.clear()
        try:
            if self._coding:
                self._decoder, self._coding = decoder_for(self._coding), ""
            if self._decoder is not None:
                body = self._decoder.feed(body, MAX_BODY_BYTES - self.decoded_bytes)
        except CodingError as error:
            return self._break(str(error))
        self.decoded_bytes += len(body)
        return body

    def _break(self, reason: str, *, too_large: bool = False) -> bytes:
        self.broken = Broken(reason=reason, is_too_large=too_large)
        self.is_complete = self.is_reusable = self._is_between_chunks = False
        return b""

    # ---- called by httptools ------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        """Collect one header; chunk trailers come here too and are dropped."""
        if self.head is None:
            self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        """Note status and framing."""
        if self.head is not None:
            return
        status = self._parser.get_status_code()
        if status in _INFORMATIONAL:
            self._fields.clear()
            return
        headers: dict[str, str] = {}
        for raw_name, raw_value in self._fields:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        self.head = Head(status=status, headers=headers)
        chunked = "chunked" in headers.get("transfer-encoding", "").lower()
        self._coding = headers.get("content-encoding", "")
        is_counted = "content-length" in headers or status in _BODILESS
        self._is_sized = chunked or is_counted
        self.is_open_ended = not is_counted

    def on_message_complete(self) -> None:
        """Note the end of the body (of an interim response: nothing)."""
        if self.head is not None and not self.is_complete:
            self.is_complete = True
            self._wanted = len(self._pieces)
            self.is_reusable = bool(self._parser.should_keep_alive())

    def on_message_begin(self) -> None:
        """Note a second response behind the first: the connection can't be trusted with more."""
        self.is_reusable = False
