"""The recorded answers of `cases/streams`, and what a meter can know from their bytes."""

import base64
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "cases" / "streams"

Key = tuple[str, str, bool]
"""Gateway, case, whether a stream was asked for."""
Usage = tuple[int, int, int | None, int | None]
"""Prompt, completion, reasoning, cached prompt tokens."""

THREE = "one two three"
FIVE = "one two three four five"
CALL = (("call_1", "get_w", '{"a":1}'),)


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What the bytes of one answer say."""

    status: int | None = 200
    content: str | None = ""
    """``None`` = long, only its length counts (``chunks``)."""
    reasoning: str = ""
    tools: tuple[tuple[str, str, str], ...] = ()
    finish: str | None = None
    usage: Usage | None = None
    error: str | None = None
    seed: str | None = None
    done: bool = False
    """``[DONE]`` was sent."""
    chunks: int = 0
    retry_after_ms: float | None = None
    hides: str | None = None
    """What happened at the upstream and can't be known from these bytes."""


@dataclass(frozen=True, kw_only=True)
class Recording:
    """One answer: its reads with their times; the end of file follows the last."""

    key: Key
    reads: tuple[tuple[float, bytes], ...]
    eof_ms: float
    truth: Truth

    @property
    def raw(self) -> bytes:
        """All bytes."""
        return b"".join(data for _, data in self.reads)

    @property
    def name(self) -> str:
        """For test ids."""
        gateway, case, stream = self.key
        return f"{gateway}-{case}-{'stream' if stream else 'json'}"


def _ok(usage: Usage = (7, 5, 0, 0), **changes: object) -> Truth:
    told: dict[str, object] = {"content": FIVE, "finish": "stop", "done": True, "chunks": 5}
    return Truth(**(told | {"usage": usage} | changes))  # type: ignore[arg-type]


def _whole(usage: Usage = (7, 5, None, None)) -> Truth:
    """One JSON body: no chunks, no ``[DONE]``."""
    return Truth(content=FIVE, finish="stop", usage=usage)


def _http(status: int, **changes: object) -> Truth:
    code = "rate_limited" if status == 429 else f"http_{status}"
    told: dict[str, object] = {"status": status, "error": code, "seed": f"http_{status}"}
    return Truth(**(told | changes))  # type: ignore[arg-type]


def _told(**changes: object) -> Truth:
    """An error event under status 200."""
    told: dict[str, object] = {"error": "upstream_stream_error", "seed": "upstream_stream_error"}
    return Truth(**(told | changes))  # type: ignore[arg-type]


def _cut(content: str = THREE, chunks: int = 3, **changes: object) -> Truth:
    told: dict[str, object] = {"error": "stream_incomplete", "seed": "stream_read_error"}
    return Truth(content=content, chunks=chunks, **(told | changes))  # type: ignore[arg-type]


_REASONED = _ok((7, 5, 2, 0), reasoning="think hard", chunks=7)
_CALLED = _ok(content="", tools=CALL, finish="tool_calls", chunks=3)
_NEVER_ANSWERED = Truth(status=None, error="connect_reset", seed="request_error")
_BY_CASE: dict[tuple[str, str], Truth] = {
    ("upstream", "nodone"): _ok(done=False),
    ("upstream", "die"): _cut(),
    ("upstream", "eof"): _cut(),
    ("upstream", "miderr"): _told(content=THREE, chunks=3),
    ("upstream", "reset"): _NEVER_ANSWERED,
    ("upstream", "429"): _http(429, retry_after_ms=1000.0),
    ("upstream", "html"): _http(502),
    ("litellm", "die"): _told(content=THREE, chunks=3),
    ("litellm", "miderr"): _told(content=THREE, chunks=3),
    ("litellm", "eof"): _ok(
        (12, 3, 0, None),
        content=THREE,
        chunks=3,
        hides="the upstream never finished: finish reason, usage and [DONE] are the gateway's own",
    ),
    ("litellm", "html"): _http(502),
    ("litellm", "reset"): _http(500),
    ("litellm", "429"): _http(
        429, hides="the upstream's retry-after is only passed on under another name"
    ),
    ("llmgateway", "die"): _cut(usage=(5, 3, None, None), done=True),
    ("llmgateway", "miderr"): _cut(
        usage=(6, 3, None, None),
        done=True,
        hides="the upstream sent an error: what is left of it is a missing finish reason",
    ),
    ("llama-server", "ok"): Truth(
        content=None, finish="length", usage=(35, 64, None, 0), done=True, chunks=64
    ),
    ("guidellm-mock", "ok"): Truth(
        content=None, finish="stop", usage=(7, 24, None, None), done=True, chunks=24
    ),
}
_ANYWHERE: dict[str, Truth] = {
    "reason": _REASONED,
    "reason2": _REASONED,
    "tool": _CALLED,
    "length": _ok(finish="length"),
}
_JSON: dict[tuple[str, str], Truth] = {
    ("llama-server", "ok"): Truth(content=None, finish="length", usage=(35, 64, None, 34)),
    ("guidellm-mock", "ok"): Truth(content=None, finish="stop", usage=(7, 24, None, None)),
}
_STATUS_HIDDEN = "the upstream's status is only in the text of an error event under status 200"


def _llmgateway_failure(case: str, *, stream: bool) -> Truth | None:
    if case not in ("401", "429", "html", "reset"):
        return None
    if not stream:
        return _http(500, hides="every upstream error is a 500 here")
    if case == "reset":
        return Truth(error="empty_answer", seed="stream_read_error", hides="why it is empty")
    return _told(done=True, hides=_STATUS_HIDDEN)


def _truth(key: Key) -> Truth:
    gateway, case, stream = key
    if gateway == "llmgateway" and (failure := _llmgateway_failure(case, stream=stream)):
        return failure
    if not stream and case == "ok":
        return _JSON.get((gateway, case), _whole())
    special = _BY_CASE.get((gateway, case)) or _ANYWHERE.get(case)
    if special is not None:
        return special
    return _http(int(case)) if case.isdigit() else _ok()


@cache
def recordings() -> tuple[Recording, ...]:
    """Return every recorded answer with its truth."""
    found = []
    for path in sorted(_FOLDER.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            entry = json.loads(line)
            reads = [(ms, base64.b64decode(data)) for ms, data in entry["reads"]]
            key = (entry["gateway"], entry["case"], entry["stream"])
            found.append(
                Recording(
                    key=key,
                    reads=tuple(read for read in reads if read[1]),
                    eof_ms=reads[-1][0],
                    truth=_truth(key),
                )
            )
    return tuple(found)
