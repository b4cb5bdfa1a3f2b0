"""Wire protocols: how a question is written and an answer read. Pure data and parsing."""

from collections.abc import Mapping
from types import MappingProxyType

from bench.wire.chat import ChatCompletions
from bench.wire.protocol import WireProtocol

PROTOCOLS: Mapping[str, WireProtocol] = MappingProxyType({"chat": ChatCompletions()})
"""By the name that ``--api`` takes."""
