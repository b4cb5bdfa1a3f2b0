"""The real client, set up in one line for tests against real sockets."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from bench.client.chat_client import HttpChatClient, Timeouts
from bench.client.endpoint import Endpoint
from bench.dialects import DIALECTS
from bench.model.case import ChatRequest, Message
from bench.model.target import Target
from bench.model.trial import Response
from bench.ports import Call
from bench.wire import PROTOCOLS
from tests.fake_gateway import Step, fake_gateway
from tests.patience import PATIENCE_S

_T = TypeVar("_T")
KEY = "test-token"
PATIENCE_MS = PATIENCE_S * 1e3
"""Time limit of requests whose limit is not what is tested."""
STAMPS_DIFFER_NS = 100_100
"""By so much a read may seem to come before it was sent: the kernel stamps by the wall clock, whose
distance is read five times a second, and stamps are cut to a tenth of a microsecond."""


def endpoint(url: str, **changes: Any) -> Endpoint:
    """Return an endpoint with the usual key."""
    usual: dict[str, Any] = {
        "url": url,
        "headers": (("Authorization", f"Bearer {KEY}"),),
        "stream": True,
        "wire": PROTOCOLS["chat"],
        "dialect": DIALECTS["plain"],
    }
    return Endpoint(**(usual | changes))


def call(
    model: str = "m", *, timeout_ms: float = PATIENCE_MS, text: str = "hi", **fields: Any
) -> Call:
    """Return a call with one user message."""
    return Call(
        target=Target(id=model, model=model, model_id=model, display_name=model),
        request=ChatRequest(messages=(Message(role="user", content=text),), **fields),
        timeout_ms=timeout_ms,
        tags={},
    )


@asynccontextmanager
async def asking(
    url: str, *, timeouts: Timeouts | None = None, **changes: Any
) -> AsyncIterator[HttpChatClient]:
    """Open a client and close it in the end."""
    client = HttpChatClient(endpoint(url, **changes), timeouts=timeouts)
    try:
        yield client
    finally:
        await client.close()


def run(scene: Coroutine[Any, Any, _T]) -> _T:
    """Play a scene in an event loop of its own."""
    return asyncio.run(scene)


async def ask(*steps: Step, timeouts: Timeouts | None = None, ms: float = PATIENCE_MS) -> Response:
    """Ask a fresh gateway that plays ``steps`` once."""
    async with fake_gateway(steps) as gateway, asking(gateway.url, timeouts=timeouts) as client:
        return (await client.send(call(timeout_ms=ms)))[1]


def code(response: Response) -> str | None:
    """Return the error code, ``None`` for success."""
    return response.error.code if response.error else None
