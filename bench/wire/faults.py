"""Finds and words the errors that gateways put into bodies: seven shapes seen in real answers.

``{"error": {"message": …}}``, ``{"error": "…"}``, ``{"error": true, "message": …}``,
``{"detail": …}``, ``{"success": false, …}``, ``{"status": "failure", "message": …}``,
``{"type": "error", …}``, besides HTML pages and plain text.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from bench.wire.nesting import is_too_deep

EXCERPT_CHARACTERS = 300
_SAMPLE = 16 * 1024
"""Bytes or characters of a stranger's words that are looked at."""
_TAGS = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)
_TEXT_KEYS = ("message", "msg", "detail", "html-message", "error", "reason")
_FAILURE_WORDS = ("failure", "failed", "error")


def excerpt(text: str, *, limit: int = EXCERPT_CHARACTERS) -> str:
    """Return ``text`` on one line, unprintable characters gone, cut to ``limit`` characters.

    Only the first ``_SAMPLE`` characters are looked at: the work goes character by character,
    and a stranger chooses how many there are while other answers wait to be read.
    """
    sample = text[:_SAMPLE]
    line = " ".join(sample.split())
    line = "".join(char for char in line if char.isprintable())
    is_whole = len(line) <= limit and len(sample) == len(text)
    return line if is_whole else line[: limit - 1] + "…"


def message_of(body: bytes) -> str:
    """Return what an error body says: its own message, the text of its HTML, or its beginning."""
    sample = body[:_SAMPLE]
    try:
        fields = None if is_too_deep(body) else msgspec.json.decode(body)
    except msgspec.DecodeError:
        return excerpt(_TAGS.sub(" ", sample.decode("utf-8", "replace")))
    if isinstance(fields, Mapping):
        return failure_in(fields, is_error_event=True) or "no message"
    return excerpt(sample.decode("utf-8", "replace"))


def failure_in(fields: Mapping[str, Any], *, is_error_event: bool = False) -> str | None:
    """Return the message if these top-level fields report a failure, else ``None``.

    Args:
        fields: One event, or one JSON body.
        is_error_event: It came as ``event: error`` or with an error status: it is a failure,
            whatever its shape.
    """
    error = fields.get("error")
    if error:
        if error is True:
            return _said(fields)
        text = _said(error)
        beside = fields.get("message")
        if isinstance(error, str) and isinstance(beside, str) and beside:
            text = f"{error}: {beside}"
        return excerpt(text)
    if is_error_event or _is_failure(fields):
        return excerpt(_said(fields)) or None
    return None


def _is_failure(fields: Mapping[str, Any]) -> bool:
    if fields.get("choices") or fields.get("usage"):
        return False
    return (
        fields.get("success") is False
        or fields.get("type") == "error"
        or fields.get("status") in _FAILURE_WORDS
        or bool(fields.get("detail"))
        or bool(fields.get("html-message"))
    )


def _said(value: object) -> str:
    """Return the words in an error value: the first text under a usual key, else all of it."""
    if isinstance(value, str):
        return excerpt(_TAGS.sub(" ", value))
    if isinstance(value, Mapping):
        for key in _TEXT_KEYS:
            found = value.get(key)
            if found and found is not True:
                return _said(found)
        if not value:
            return ""
    return excerpt(msgspec.json.encode(value).decode("utf-8", "replace"))
