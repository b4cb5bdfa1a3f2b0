"""Tools and tool calls of chat completions, taken apart for protocols that shape them otherwise."""

from collections.abc import Mapping
from typing import Any

import msgspec

from bench.model.record import Value

UNREADABLE = "unreadable_arguments"
"""Holds arguments that are no JSON object where a protocol takes nothing else."""


class CallShape(Value, frozen=True, kw_only=True):
    """One call that an assistant's message repeats."""

    id: str
    name: str
    arguments: str

    def arguments_object(self) -> dict[str, Any]:
        """Return the arguments as an object; text that is none stands in a field of its own."""
        try:
            found = msgspec.json.decode(self.arguments or "{}")
        except (msgspec.DecodeError, RecursionError):
            found = None
        return found if isinstance(found, dict) else {UNREADABLE: self.arguments}


def call_shape(call: Mapping[str, Any]) -> CallShape:
    """Take a tool call of an assistant's message apart."""
    function = _function(call)
    arguments = function.get("arguments")
    return CallShape(
        id=str(call.get("id") or ""),
        name=str(function.get("name") or ""),
        arguments=arguments if isinstance(arguments, str) else "",
    )


def flat_tool(tool: Mapping[str, Any], *, schema: str) -> dict[str, Any]:
    """Return a function tool without the envelope of chat completions.

    Args:
        tool: As in ``ChatRequest.tools``. One that is no function is returned as it is: the
            protocol's own, such as a web search.
        schema: What the field with the JSON schema is called.
    """
    function = _function(tool)
    if not function:
        return dict(tool)
    flat = {key: function[key] for key in ("name", "description") if key in function}
    flat[schema] = function.get("parameters") or {"type": "object", "properties": {}}
    return flat


def forced_name(choice: object) -> str | None:
    """Return the function that ``tool_choice`` demands by name, if it does."""
    name = _function(choice).get("name") if isinstance(choice, Mapping) else None
    return name if isinstance(name, str) else None


def _function(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    function = holder.get("function")
    return function if isinstance(function, Mapping) else {}
