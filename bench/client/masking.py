"""Takes secrets out of what is written down, in case a server echoes them. Pure."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from bench.keys import Redactor
from bench.model.trial import Response, ResponseError

MASK = "[secret]"
_CUT = "…"
"""How ``bench.wire.faults.excerpt`` ends what it cut."""
_LEAST_BEGINNING = 6
"""Characters; fewer tell nothing, and words would be taken for them."""
_OURS = {
    Response: {"stream_chunks", "timing", "connection"},
    ResponseError: {"code", "seed_code"},
}
"""Fields whose texts are this program's own words; all others may hold what a server said."""
_NOTHING: frozenset[str] = frozenset()
_NUMBERS = (int, float, bool)
_PUBLIC = ("accept", "accept-encoding", "content-type", "user-agent", "host", "connection")
_SECRET_NAME = re.compile(
    r"(?:^|[-_])(?:auth\w*|(?:api)?key|\w*token|secret|password|credentials?|cookie|session|"
    r"signature)(?:$|[-_])"
)
"""Whole words of a header's name: ``x-api-key`` has one, ``x-portkey-provider`` has none."""
_LONG = 16
"""A header whose name says nothing: a value this long may be a secret, and no answer holds it by
chance. Shorter ones are words (``x-portkey-provider: openai``), which answers are full of."""
_PLAIN_URL = re.compile(r"https?://[^@?]+")


class Mask:
    """Replaces secret values of request headers, and keys without their ``Bearer``.

    Args:
        headers: Of the request; by name and length it is judged which of them are secrets.
        secrets: Values that are secret whatever their header is called.
    """

    def __init__(self, headers: Iterable[tuple[str, str]], secrets: Iterable[str] = ()) -> None:
        found = {secret.strip() for secret in secrets}
        for name, value in headers:
            if holds_secret(name.lower(), value.strip()):
                found.add(value.strip())
            if "authorization" in name.lower():
                found.add(value.strip().rpartition(" ")[2])
        self._redactor = Redactor(found, MASK)
        self._redactor.prepare()  # not while requests fly
        self._forms = self._redactor.forms

    def text(self, text: str) -> str:
        """Return ``text`` with every secret replaced, however it is written."""
        return self._redactor.text(text)

    def response(self, response: Response) -> Response:
        """Return ``response`` without a secret in anything that the server said."""
        masked: Response = self._value(response)
        error = masked.error
        if error is None:
            return masked
        whole = msgspec.structs.replace(error, message=self._without_beginnings(error.message))
        return msgspec.structs.replace(masked, error=whole)

    def _without_beginnings(self, message: str) -> str:
        """Mask what an excerpt left of a secret when it cut the server's words."""
        *cut, rest = message.split(_CUT)
        return _CUT.join([*map(self._without_beginning, cut), rest])

    def _without_beginning(self, text: str) -> str:
        for form in self._forms:
            for size in range(len(form) - 1, _LEAST_BEGINNING - 1, -1):
                if text.endswith(form[:size]):
                    return text[:-size] + MASK
        return text

    def _value(self, value: Any) -> Any:  # noqa: ANN401  any value of a record
        match value:
            case str():
                return self.text(value)
            case msgspec.Struct():
                return self._record(value)
            case dict():
                return {self._value(key): self._value(one) for key, one in value.items()}
            case list() | tuple():
                return type(value)([self._value(one) for one in value])
            case _:
                return value

    def _record(self, record: msgspec.Struct) -> msgspec.Struct:
        """Return the record itself where there is nothing to mask: nearly always."""
        ours = _OURS.get(type(record), _NOTHING)
        changed = {}
        for name in record.__struct_fields__:
            before = getattr(record, name)
            # Most fields are empty or numbers.
            if before and type(before) not in _NUMBERS and name not in ours:
                after = self._value(before)
                if after is not before and after != before:
                    changed[name] = after
        return msgspec.structs.replace(record, **changed) if changed else record


def holds_secret(name: str, value: str) -> bool:
    """Return whether a header's value has to be masked.

    Args:
        name: Of the header, in lower case.
        value: Without white space around it.
    """
    if name in _PUBLIC:
        return False
    if _SECRET_NAME.search(name):
        return True
    return len(value) >= _LONG and not _PLAIN_URL.fullmatch(value)
