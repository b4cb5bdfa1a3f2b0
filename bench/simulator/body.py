"""A request's body → what a protocol asks for; a body that is none is refused in one wording. Pure."""

from typing import TypeVar

import msgspec

from bench.simulator.errors import RequestRefused

_Asked = TypeVar("_Asked")


def decoded(decoder: msgspec.json.Decoder[_Asked], body: bytes) -> _Asked:
    """Return the request in ``body``.

    Raises:
        RequestRefused: 400 for what is no JSON, lacks a field or has a wrong type.
    """
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        message = f"request body: {error}"
        raise invalid(message) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"request body is not JSON: {error}"
        raise invalid(message) from error


def invalid(message: str) -> RequestRefused:
    """Return the refusal of a request that asks for what can't be."""
    return RequestRefused(400, "invalid_request", message)
