"""The tools that a model works with: what it is told of them, and how its calls are understood.

A call is hostile text. Whatever it holds, the model gets a sentence that says what was wrong and
what would be right; nothing here raises.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from bench.model.trial import ToolCall

ToolName = Literal["list_files", "read_file", "search", "write_file", "run_tests"]
Kind = Literal["text", "count"]

MAX_CALLS = 16
"""Calls of one turn that are carried out; the others are answered with that number."""
_QUOTED = 160
"""Characters of a broken call that are shown to the model again."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of a tool."""

    name: str
    kind: Kind
    help: str
    required: bool = True

    @property
    def schema(self) -> dict[str, Any]:
        """Return its JSON schema."""
        if self.kind == "text":
            return {"type": "string", "description": self.help}
        return {"type": "integer", "minimum": 1, "description": self.help}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool."""

    name: ToolName
    help: str
    parameters: tuple[Parameter, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """Return it in the shape of chat completions."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.help,
                "parameters": {
                    "type": "object",
                    "properties": {one.name: one.schema for one in self.parameters},
                    "required": [one.name for one in self.parameters if one.required],
                    "additionalProperties": False,
                },
            },
        }


def _path(text: str) -> Parameter:
    return Parameter(name="path", kind="text", help=text)


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            name="list_files",
            help="List the files of the repository with their sizes.",
            parameters=(
                Parameter(
                    name="folder",
                    kind="text",
                    help="Only files below this folder, such as `src`. Left out: all files.",
                    required=False,
                ),
            ),
        ),
        Tool(
            name="read_file",
            help="Return the text of a file. Of a long one, the part from `start_line` on.",
            parameters=(
                _path("Path from the root of the repository, such as `src/main.py`."),
                Parameter(
                    name="start_line",
                    kind="count",
                    help="First line to return, from 1. Left out: 1.",
                    required=False,
                ),
            ),
        ),
        Tool(
            name="search",
            help="Find lines that contain a text, in all files; returns path, line number, line.",
            parameters=(
                Parameter(name="text", kind="text", help="Taken literally; case matters."),
                Parameter(
                    name="folder",
                    kind="text",
                    help="Only files below this folder. Left out: all files.",
                    required=False,
                ),
            ),
        ),
        Tool(
            name="write_file",
            help="Create a file, or replace the whole of one. Folders are made as needed.",
            parameters=(
                _path("Path from the root of the repository, such as `src/main.py`."),
                Parameter(name="content", kind="text", help="The whole new text of the file."),
            ),
        ),
        Tool(name="run_tests", help="Run the tests of the repository and return what they print."),
    )
}

TOOL_SCHEMAS: tuple[dict[str, Any], ...] = tuple(tool.schema for tool in TOOLS.values())

INSTRUCTIONS = """\
You work on a small software repository. You see and change it only through your tools: \
list_files, read_file, search, write_file and run_tests. Paths are relative to the root of the \
repository. write_file replaces the whole file, so send its full text.

Find out what is there, make the change that is asked for, run the tests, and go on until the task \
is done. The work is judged by further tests that you can't see: solve the task itself, in \
general, and leave the existing tests as they are.

When you are done, answer in one or two sentences without calling a tool. That ends your work."""
"""The system message of every agentic trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A call that was understood."""

    tool: ToolName
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def key(self, version: int) -> tuple[str, bytes, int]:
        """Return what is the same for the same call while nothing has changed."""
        encoded = msgspec.json.encode(self.arguments, order="deterministic")
        return self.tool, encoded, version


@dataclass(frozen=True, slots=True, kw_only=True)
class Misunderstood:
    """A call that can't be carried out."""

    detail: str
    """One line for people."""
    told: str
    """For the model: what was wrong and what would be right."""


def understand(call: ToolCall, *, is_cut: bool) -> Order | Misunderstood:
    """Return what a call asks for.

    Args:
        call: As it was streamed.
        is_cut: The answer ended at its token limit, so broken arguments may be cut ones.
    """
    tool = TOOLS.get(call.name)
    if tool is None:
        names = ", ".join(TOOLS)
        return Misunderstood(
            detail=f"unknown tool {call.name[:64]!a}",
            told=f"There is no tool {call.name[:64]!a}. There are: {names}.",
        )
    arguments = _decoded(call.arguments)
    if not isinstance(arguments, dict):
        return _broken(tool, call.arguments, is_cut=is_cut)
    fault = _fault(tool, arguments)
    if fault is not None:
        return Misunderstood(detail=f"{tool.name}: {fault}", told=f"{fault}. {_usage(tool)}")
    return Order(tool=tool.name, arguments=arguments)


def echo_of(name: str, arguments: str) -> tuple[str, str]:
    """Return name and arguments as they can be sent back.

    Providers refuse a conversation in which a call has a name beyond letters, digits, ``_`` and
    ``-``, or arguments that are no JSON object: such ones are replaced. The tool's result says
    what was wrong.
    """
    decoded = _decoded(arguments)
    safe_name = name if _NAME.fullmatch(name) else re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64]
    return safe_name or "unnamed", arguments if _is_object(decoded, arguments) else "{}"


def unique_ids(calls: Sequence[ToolCall], *, turn: int, taken: set[str]) -> list[str]:
    """Return an id for each call: its own, or a new one where it is missing or was used before.

    Args:
        calls: Of one answer.
        turn: Number of the answer.
        taken: Ids of the whole conversation; the new ones are added.
    """
    ids = []
    for number, call in enumerate(calls, start=1):
        found = call.id if call.id and call.id not in taken else f"call_{turn}_{number}"
        while found in taken:
            found += "x"
        taken.add(found)
        ids.append(found)
    return ids


def _is_object(decoded: object, arguments: str) -> bool:
    return isinstance(decoded, dict) and bool(arguments.strip())


def _decoded(arguments: str) -> object:
    """Return what the arguments hold; nothing at all is how some providers say `{}`."""
    if not arguments.strip():
        return {}
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _broken(tool: Tool, arguments: str, *, is_cut: bool) -> Misunderstood:
    shown = ascii(arguments[:_QUOTED])[1:-1] + ("…" if len(arguments) > _QUOTED else "")
    if is_cut:
        return Misunderstood(
            detail=f"{tool.name}: arguments cut by the token limit",
            told=f"Your answer reached its token limit inside the arguments of {tool.name}, so "
            "nothing was done. Send less in one answer: fewer calls, or a shorter file split into "
            f"several. The arguments began: {shown}",
        )
    return Misunderstood(
        detail=f"{tool.name}: arguments are not a JSON object",
        told=f"The arguments of {tool.name} are not a JSON object: {shown} {_usage(tool)}",
    )


def _fault(tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    known = {one.name: one for one in tool.parameters}
    unknown = [name for name in arguments if name not in known]
    if unknown:
        return f"{tool.name} has no argument {unknown[0][:64]!a}"
    for one in tool.parameters:
        value = arguments.get(one.name)
        if value is None:
            if one.required:
                return f"{tool.name} needs `{one.name}`"
        elif one.kind == "text" and not isinstance(value, str):
            return f"`{one.name}` of {tool.name} has to be text, not {_kind_of(value)}"
        elif one.kind == "count" and not _is_count(value):
            return f"`{one.name}` of {tool.name} has to be a whole number from 1"
    return None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _kind_of(value: object) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"


def _usage(tool: Tool) -> str:
    if not tool.parameters:
        return f"{tool.name} takes no arguments: {{}}."
    listed = ", ".join(
        f"`{one.name}` ({'text' if one.kind == 'text' else 'whole number'}"
        f"{'' if one.required else ', may be left out'})"
        for one in tool.parameters
    )
    return f"{tool.name} takes an object with {listed}."
