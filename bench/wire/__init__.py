"""Wire protocols: how a question is written and an answer read. Pure data and parsing."""

from collections.abc import Mapping
from types import MappingProxyType

from bench.wire.chat import ChatCompletions
from bench.wire.messages import Messages
from bench.wire.protocol import WireProtocol
from bench.wire.responses import Responses

PROTOCOLS: Mapping[str, WireProtocol] = MappingProxyType(
    {"chat": ChatCompletions(), "messages": Messages(), "responses": Responses()}
)
"""By the name that ``--api`` takes."""
