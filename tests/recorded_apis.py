"""The recorded answers in the protocols beside chat completions, and what the upstream really sent.

Behind every gateway stood the simulator; its scenario is the truth, not what a decoder makes of it.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "cases" / "streams"

FIVE = "mifa veno gavo namo gevu"
THREE = "mifa veno gavo"
TWENTY = (
    "mifa veno gavo namo gevu velo soke tina soso konu "
    "vedi pumu resu tuko toge vusu bosi bedi gida kiso"
)
SPOKEN = "Hello! I'sure I'm not what I'm supposed to be. I'm here to help with any kind of"
"""What a real small model said, to its limit of 24 tokens."""
CITY = '{"city":"simulated"}'

Usage = tuple[int, int, int | None, int | None, int | None]
"""Prompt, completion, reasoning, visible, cached prompt tokens."""


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What the upstream sent, as far as the gateway passed it on."""

    status: int = 200
    content: str = ""
    reasoning: str = ""
    tools: tuple[tuple[str, str], ...] = ()
    """Id and arguments."""
    finish: str | None = None
    usage: Usage | None = None
    chunks: int = 0
    error: str | None = None
    echoes: bool = False
    """There is something to repeat with the results of tools."""
    hides: str | None = None
    """What happened at the upstream and can't be known from these bytes."""


@dataclass(frozen=True, kw_only=True)
class ApiRecording:
    """One answer: its reads with their times; the end of file follows the last."""

    api: str
    gateway: str
    case: str
    is_stream: bool
    reads: tuple[tuple[int, bytes], ...]
    """Nanoseconds since the request was written, and what one read brought."""
    eof_ns: int
    truth: Truth

    @property
    def raw(self) -> bytes:
        return b"".join(data for _, data in self.reads)

    @property
    def name(self) -> str:
        kind = "stream" if self.is_stream else "json"
        return f"{self.api}-{self.gateway}-{self.case}-{kind}"


_CALL = ("call_sim_0", CITY)
_BY_CASE = {
    "ok": Truth(content=FIVE, finish="stop", usage=(5, 5, None, 5, 0), chunks=5),
    "reason": Truth(
        content=THREE,
        reasoning="neba dile",
        finish="stop",
        usage=(5, 5, None, None, 0),
        chunks=5,
        echoes=True,
    ),
    "tool": Truth(
        tools=(_CALL, ("call_sim_1", CITY)),
        finish="tool_calls",
        usage=(5, 8, None, 8, 0),
        chunks=8,
    ),
    "length": Truth(content=TWENTY, finish="length", usage=(5, 20, None, 20, 0), chunks=20),
    "cut": Truth(content=THREE, chunks=3, error="stream_incomplete"),
    "error": Truth(content=THREE, chunks=3, error="upstream_stream_error"),
    "503": Truth(status=503, error="http_503"),
    "429": Truth(status=429, error="rate_limited"),
}
_WHOLE = {
    "ok": Truth(content=FIVE, finish="stop", usage=(5, 5, None, 5, 0)),
    "tool": Truth(tools=(_CALL,), finish="tool_calls", usage=(5, 4, None, 4, 0)),
}
_FAKED = "it waits for the whole answer and then plays a stream of its own"
_TOLD = Truth(content=THREE, chunks=3, error="upstream_stream_error")
_LOST = Truth(status=500, error="http_500", hides=_FAKED)
_EXCEPTIONS: Mapping[tuple[str, str, str], Truth] = {
    # LiteLLM tells a cut stream as an error event, a faked one not at all.
    ("messages", "litellm-anthropic", "cut"): _TOLD,
    ("messages", "litellm-vllm", "cut"): _TOLD,
    ("responses", "litellm-anthropic", "cut"): _TOLD,
    ("messages", "litellm-openai", "cut"): _LOST,
    ("responses", "litellm-openai", "cut"): _LOST,
    ("responses", "litellm-openai", "error"): _LOST,
    ("messages", "litellm-openai", "error"): Truth(error="upstream_stream_error", hides=_FAKED),
}
_FAKES_STREAMS = {("messages", "litellm-openai"), ("responses", "litellm-openai")}
_GUESSES_REASONING = 3
"""LiteLLM counts reasoning itself where Anthropic does not: a word too many."""


def _truth(api: str, gateway: str, case: str, *, is_stream: bool) -> Truth:
    if gateway == "llama-server":
        return _llama(api, is_stream=is_stream)
    special = _EXCEPTIONS.get((api, gateway, case))
    if special is not None:
        return special
    truth = (_BY_CASE if is_stream else _WHOLE)[case]
    if (api, gateway) in _FAKES_STREAMS and is_stream and truth.error is None:
        # Tool calls are cut anew, five characters each.
        truth = replace(truth, hides=_FAKED, chunks=10 if truth.tools else truth.chunks)
    return replace(truth, usage=_usage(truth, api, gateway, is_stream=is_stream))


def _usage(truth: Truth, api: str, gateway: str, *, is_stream: bool) -> Usage | None:
    """Return the counts as this protocol has them: only Responses tells reasoning."""
    if truth.usage is None:
        return None
    prompt, completion, _, _, cached = truth.usage
    if api == "responses":
        guessed = _GUESSES_REASONING if gateway == "litellm-anthropic" else 2
        reasoning = guessed if truth.reasoning else 0
        return (prompt, completion, reasoning, completion - reasoning, cached)
    if not is_stream and gateway in {"litellm-openai", "litellm-vllm"}:
        return (*truth.usage[:4], None)
    return truth.usage


def _llama(api: str, *, is_stream: bool) -> Truth:
    is_warm = not (api == "messages" and is_stream)
    return Truth(
        content=SPOKEN,
        finish="length" if api == "messages" else "stop",
        usage=(33, 24, None, 24, 32 if is_warm else 0),
        chunks=24 if is_stream else 0,
        hides=None if api == "messages" else "it calls an answer cut by its limit `completed`",
    )


@cache
def api_recordings() -> tuple[ApiRecording, ...]:
    """Return every recorded answer with its truth."""
    return tuple(
        _recording(json.loads(line))
        for api in ("messages", "responses")
        for path in sorted((_FOLDER / api).glob("*.jsonl"))
        for line in path.read_bytes().splitlines()
    )


def _recording(entry: dict[str, object]) -> ApiRecording:
    raw: list[tuple[float, str]] = entry["reads"]  # type: ignore[assignment]
    reads = [(int(ms * 1e6), base64.b64decode(data)) for ms, data in raw]
    api, gateway, case = str(entry["api"]), str(entry["gateway"]), str(entry["case"])
    is_stream = entry["stream"] is True
    return ApiRecording(
        api=api,
        gateway=gateway,
        case=case,
        is_stream=is_stream,
        reads=tuple(read for read in reads if read[1]),
        eof_ns=reads[-1][0],
        truth=_truth(api, gateway, case, is_stream=is_stream),
    )
