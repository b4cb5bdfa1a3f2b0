"""`--body FILE`: a request that is sent byte for byte, as a case of its own. Pure."""

import hashlib
from typing import Any

import msgspec

from bench.errors import UsageFault
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message

CASE_ID = "request_body"
_RUNS, _WARMUPS = 5, 1


def body_model(data: bytes, *, typed: str | None) -> str:
    """Return the model that the body names.

    Raises:
        UsageFault: No JSON object, no model, or another one than ``typed``.
    """
    model = _fields(data).get("model")
    if not isinstance(model, str) or not model:
        raise UsageFault("the file of `--body` names no `model`")
    if typed is not None and typed != model:
        message = f"the file of `--body` asks for `{model}`, the command line for `{typed}`"
        raise UsageFault(message, hint="leave MODEL out: the body is sent as it is")
    return model


def body_case(data: bytes) -> Case:
    """Return the case that sends ``data``; nothing in its answer is judged.

    Its request repeats what the body says as far as a record needs it: texts and token limit.
    """
    fields = _fields(data)
    request = ChatRequest(messages=_messages(fields), max_tokens=_limit(fields))
    info = CaseInfo(
        id=CASE_ID,
        name="Request body from a file",
        kind="performance",
        category="custom",
        dimension="latency",
        difficulty="easy",
        runs=_RUNS,
        warmup_runs=_WARMUPS,
        text_hash=body_hash(data),
    )
    instance = Instance(request=request, expected=None, evaluate=None)
    return Case(info=info, build=lambda _: instance, description="the file of `--body`, as it is")


def body_hash(data: bytes) -> str:
    """Return the SHA-256 (hex) of the bytes that are sent."""
    return hashlib.sha256(data).hexdigest()


def _fields(data: bytes) -> dict[str, Any]:
    try:
        read = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as fault:
        message = f"the file of `--body` is no JSON: {fault}"
        raise UsageFault(message) from fault
    if not isinstance(read, dict):
        raise UsageFault("the file of `--body` is no JSON object")
    return read


def _messages(fields: dict[str, Any]) -> tuple[Message, ...]:
    """Return the texts of a body in any wire protocol, the system's first."""
    told = [fields[name] for name in ("system", "instructions") if fields.get(name)]
    asked = fields.get("messages", fields.get("input"))
    entries = asked if isinstance(asked, list) else [asked] if isinstance(asked, str) else []
    texts = [*told, *map(_content, entries)]
    return tuple(Message(role="user", content=_text(text)) for text in texts)


def _content(entry: object) -> object:
    """Return what a message, or an item of ``input``, says."""
    if not isinstance(entry, dict):
        return entry
    names = ("content", "output", "arguments")
    return next((entry[name] for name in names if name in entry), None)


def _text(content: object) -> str:
    return content if isinstance(content, str) else msgspec.json.encode(content).decode()


def _limit(fields: dict[str, Any]) -> int | None:
    """Return the answer's token limit; a bool is no number."""
    for name in ("max_completion_tokens", "max_tokens", "max_output_tokens"):
        limit = fields.get(name)
        if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
            return limit
    return None
