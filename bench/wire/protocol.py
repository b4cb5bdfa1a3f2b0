"""The seam between what is asked and how a protocol says it: one file per protocol behind it.

A wire protocol writes a request body and reads a response body; connections, headers, status and
time limits are the client's business. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from bench.model.case import ChatRequest
from bench.model.record import Value
from bench.model.trial import ToolCall, Usage
from bench.stream.deltas import Deltas, Read

FaultCode = Literal["upstream_stream_error", "invalid_stream_json"]


class Fault(Value, frozen=True, kw_only=True):
    """Something in the body says that the answer failed, whatever the status was."""

    code: FaultCode
    message: str
    """One line, at most a few hundred characters, without control characters."""


class Decoded(Value, frozen=True, kw_only=True):
    """What a body said, as far as it came."""

    content: str
    reasoning: str
    tool_calls: tuple[ToolCall, ...]
    opaque: tuple[dict[str, Any], ...]
    """What ``Message.opaque`` has to repeat."""
    finish_reason: str | None
    """In the words of chat completions."""
    provider_finish_reason: str | None
    """As it came, where that is another word."""
    response_model: str | None
    system_fingerprint: str | None
    usage: Usage | None
    deltas: Deltas
    """Empty when the answer came as one JSON body."""
    first_event_ns: int | None
    event_count: int
    """Events with data, an end mark included; a JSON body is none."""
    is_json: bool
    """One JSON (or HTML) body instead of a stream."""
    fields: Mapping[str, Any]
    """Top-level fields of the answer, each as last seen, its texts left out."""
    fault: Fault | None
    """The first one."""


class BodyDecoder(Protocol):
    """Reads one response body, incrementally."""

    @property
    def done_ns(self) -> int | None:
        """Stamp of the read that brought the protocol's own end mark."""
        ...

    def feed(self, read: Read) -> None:
        """Take what one read brought."""
        ...

    def feed_all(self, reads: Sequence[Read]) -> None:
        """Take what several reads brought: the same as one after another, at less cost."""
        ...

    def finish(self) -> Decoded:
        """Say what the body told; call once, after its last byte."""
        ...


class WireProtocol(Protocol):
    """One way to ask a model over HTTP."""

    @property
    def path(self) -> str:
        """Path below the ``/v1`` base."""
        ...

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Headers that every request needs, names in lower case; typed ones win over them."""
        ...

    @property
    def key_header_hosts(self) -> Mapping[str, str]:
        """Host → header that carries the key there; everywhere else ``Authorization: Bearer`` does.

        A host stands for itself and all below it.
        """
        ...

    def encode(self, request: ChatRequest, *, model: str, stream: bool) -> bytes:
        """Return the request body as JSON."""
        ...

    def output_limit(self, request: ChatRequest) -> int | None:
        """Return the most tokens that ``encode`` lets the answer have; ``None`` = no limit is sent."""
        ...

    def decoder(self, *, stream: bool) -> BodyDecoder:
        """Return a decoder for one answer.

        Args:
            stream: Whether a stream was asked for. What comes decides: servers send JSON where a
                stream was asked for, and streams where none was.
        """
        ...
