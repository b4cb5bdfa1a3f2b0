"""An answer in the making: what every protocol collects in the same way. Pure."""

from collections.abc import Sequence
from typing import Any

import msgspec

from bench.stream.deltas import CONTENT, REASONING, TOOL, Deltas, Read
from bench.wire.faults import failure_in
from bench.wire.protocol import Fault
from bench.wire.tool_calls import ToolCallAssembly


class Draft:
    """Texts, tool calls and stamps so far; ``read`` is the one that is being taken."""

    __slots__ = (
        "calls",
        "content",
        "deltas",
        "done_ns",
        "fault",
        "fingerprint",
        "finish_reason",
        "is_json",
        "model",
        "provider_reason",
        "read",
        "reasoning",
    )

    def __init__(self) -> None:
        self.read = Read(0, 0, b"")
        self.is_json = False
        self.done_ns: int | None = None
        """Stamp of the end mark."""
        self.content: list[str] = []
        self.reasoning: list[str] = []
        self.calls = ToolCallAssembly()
        self.finish_reason: str | None = None
        self.provider_reason: str | None = None
        self.model: str | None = None
        self.fingerprint: str | None = None
        self.deltas = Deltas()
        self.fault: Fault | None = None

    def add_content(self, text: str) -> None:
        """Add a piece of the answer; nothing if it is empty."""
        if text:
            self.content.append(text)
            self._note(CONTENT, len(text))

    def add_contents(self, texts: Sequence[str], reads: Sequence[Read]) -> None:
        """Add pieces of a streamed answer, each with the read that brought it."""
        if not all(texts):
            told = [(text, read) for text, read in zip(texts, reads, strict=True) if text]
            texts, reads = [text for text, _ in told], [read for _, read in told]
        self.content += texts
        self.deltas.extend(CONTENT, list(map(len, texts)), reads)

    def add_reasoning(self, text: str) -> None:
        """Add a piece of reasoning; nothing if it is empty."""
        if text:
            self.reasoning.append(text)
            self._note(REASONING, len(text))

    def note_tool(self, characters: int) -> None:
        """Note that a piece of a tool call came; ``calls`` gets it apart."""
        self._note(TOOL, characters)

    def done(self) -> None:
        """Note that the end mark was read; the first one counts."""
        if self.done_ns is None:
            self.done_ns = self.read.at_ns

    def end(self, provider: str, reason: str) -> None:
        """Note the finish reason in the provider's word and in that of chat completions."""
        self.provider_reason, self.finish_reason = provider, reason

    def fail(self, fault: Fault) -> None:
        """Note what went wrong; the first one counts."""
        self.fault = self.fault or fault

    def upstream_failed(self, message: str) -> None:
        """Note an error that the answer itself reports."""
        self.fail(Fault(code="upstream_stream_error", message=message or "no message"))

    def examine(self, data: bytes, *, is_error_event: bool) -> None:
        """Look for a failure in JSON that has no usual shape."""
        fields: Any = msgspec.json.decode(data)
        if not isinstance(fields, dict):
            return
        message = failure_in(fields, is_error_event=is_error_event)
        if message is not None or is_error_event:
            self.upstream_failed(message or "")

    def _note(self, kind: int, characters: int) -> None:
        if not self.is_json:
            self.deltas.append(self.read.at_ns, self.read.number, kind, characters)
