"""One case of a file: its fields, read and checked as far as they don't depend on a seed. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bench.evaluators.strict_json import parse_strict
from bench.model.case import CaseKind, Difficulty
from bench.usercases import fields
from bench.usercases.fields import Faults, Table
from bench.usercases.located import Place
from bench.usercases.variables import Variables, read_variables, unknown_names

ReadFile = Callable[[str], str]
"""Relative name → text of a file beside the case's. Raises ``ValueError``."""
_ID = "letters, digits, `_`, `-`, `.`, at most 80 of them, are an id"
_MAX_ID = 80
_MAX_SEED = 2**53 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A case as its file has it; texts may hold places for variables."""

    id: str
    name: str
    description: str | None
    kind: CaseKind
    category: str | None
    dimension: str | None
    difficulty: Difficulty | None
    runs: int | None
    warmup: int
    concurrency: int
    seeds: tuple[int, ...]
    """Of the measured runs, in order and over again; empty = drawn from the base seed."""
    messages: tuple[tuple[str, str], ...]
    """Role and text."""
    parameters: Mapping[str, Any]
    """Of the request: token limit, temperature, effort, tools, tool choice."""
    variables: Variables
    checks: tuple[tuple[Place, Mapping[str, Any]], ...]
    """Place and fields of each."""
    answer: str | None
    wrong: str | None
    place: Place


def read_definition(
    value: object, place: Place, faults: Faults, *, default_id: str, read_file: ReadFile
) -> Definition:
    """Return one case; after a fault it is there only to find further ones with.

    Args:
        value: The table.
        place: Of it in the file.
        faults: Takes what is wrong.
        default_id: For a case that has none of its own.
        read_file: For `prompt-file` and `schema-file`.
    """
    case = Table(value, place, faults, kind="case")
    variables = read_variables(case)
    checks = _checks(case, read_file)
    seeds = tuple(case.take("seeds", _seeds) or range(len(variables.rows)))
    definition = Definition(
        id=case.take("id", _identifier) or default_id,
        name=case.take("name", fields.text) or str(case.raw("id") or default_id),
        description=case.take("description", fields.text),
        kind=_kind(case, has_checks=bool(checks)),
        category=case.take("category", fields.text) or "custom",
        dimension=case.take("dimension", fields.text),
        difficulty=_difficulty(case),
        runs=case.take("runs", fields.whole(1)),
        warmup=case.take("warmup", fields.whole(0)) or 0,
        concurrency=case.take("concurrency", fields.whole(1)) or 1,
        seeds=seeds,
        messages=_messages(case, read_file),
        parameters=_parameters(case),
        variables=variables,
        checks=checks,
        answer=case.take("answer", fields.text),
        wrong=case.take("wrong", fields.text),
        place=place,
    )
    case.finish()
    _refuse_unknown_names(definition, case)
    return definition


def _identifier(raw: object) -> str:
    name = fields.text(raw)
    if len(name) > _MAX_ID or not all(one.isalnum() or one in "_-." for one in name):
        raise ValueError(_ID)
    return name


def _seeds(raw: object) -> list[int]:
    return [fields.whole(0, _MAX_SEED)(one) for one in fields.listed(raw)]


def _kind(case: Table, *, has_checks: bool) -> CaseKind:
    """Return the kind; a case without checks is only timed."""
    typed = case.take("kind", fields.one_of("quality", "performance"))
    if typed == "quality" and not has_checks:
        case.faults.add(case.place_of("kind"), "a quality case needs `checks`")
    kind: Literal["quality", "performance"] = "quality" if has_checks else "performance"
    return "performance" if typed == "performance" else kind


def _difficulty(case: Table) -> Difficulty | None:
    match case.take("difficulty", fields.one_of("easy", "medium", "hard")):
        case "easy":
            return "easy"
        case "medium":
            return "medium"
        case "hard":
            return "hard"
        case _:
            return None


def _messages(case: Table, read_file: ReadFile) -> tuple[tuple[str, str], ...]:
    """Return role and text of each message: `prompt`, `prompt-file` or `messages`, and `system`."""
    said = [name for name in ("prompt", "prompt-file", "messages") if case.has(name)]
    if len(said) != 1:
        told = " and ".join(f"`{name}`" for name in said) + " stand side by side" if said else ""
        case.faults.add(
            case.place_of(said[1]) if said else case.place,
            told or "this case has no `prompt`, `prompt-file` or `messages`",
        )
    prompt = case.take("prompt", fields.text)
    read = case.take("prompt-file", lambda raw: read_file(fields.text(raw)))
    listed = case.take("messages", fields.listed)
    system = case.take("system", fields.text)
    if system is not None and listed is not None:
        case.faults.add(case.place_of("system"), "`system` and `messages` stand side by side")
    first = [("system", system)] if system is not None else []
    if listed is not None:
        return tuple(
            _message(one, (*case.place_of("messages"), n), case) for n, one in enumerate(listed)
        )
    text = prompt if prompt is not None else read
    return (*first, ("user", text)) if text is not None else ()


def _message(raw: object, place: Place, case: Table) -> tuple[str, str]:
    table = Table(raw, place, case.faults, kind="message")
    role = table.need("role", fields.one_of("system", "developer", "user", "assistant"))
    content = table.need("content", fields.text)
    table.finish()
    return role or "user", content or ""


def _parameters(case: Table) -> dict[str, Any]:
    taken = {
        "max_tokens": case.take("max-tokens", fields.whole(1)),
        "temperature": case.take("temperature", fields.amount),
        "reasoning_effort": case.take("reasoning-effort", fields.text),
        "tools": case.take("tools", _tools),
        "tool_choice": case.raw("tool-choice"),
    }
    return {name: value for name, value in taken.items() if value is not None}


def _tools(raw: object) -> list[dict[str, Any]]:
    """Return function tools; `{name, description, parameters}` alone is wrapped."""
    made = []
    for one in fields.listed(raw):
        tool = fields.mapping(one)
        function = tool.get("function") if tool.get("type") == "function" else tool
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            message = "each tool needs a `name`, beside `description` and `parameters`"
            raise ValueError(message)  # noqa: TRY004 - a value's fault
        made.append({"type": "function", "function": dict(function)})
    return made


def _checks(case: Table, read_file: ReadFile) -> tuple[tuple[Place, Mapping[str, Any]], ...]:
    raw = case.take("checks", fields.listed) or []
    place = case.place_of("checks")
    return tuple(
        ((*place, n), _with_schema(one, (*place, n), case, read_file)) for n, one in enumerate(raw)
    )


def _with_schema(raw: object, place: Place, case: Table, read_file: ReadFile) -> Mapping[str, Any]:
    """Return a check's fields, with the schema of a `schema-file` in the schema's place."""
    if not isinstance(raw, Mapping):
        case.faults.add(place, f"a check is a table of fields, not {fields.shown(raw)}")
        return {}
    key = next((key for key in raw if str(key).replace("_", "-") == "schema-file"), None)
    if key is None:
        return raw
    try:
        schema = _json(read_file(fields.text(raw[key])))
    except ValueError as fault:
        case.faults.add((*place, key), f"`schema-file` is {fields.shown(raw[key])}: {fault}")
        return {}
    return {**{one: value for one, value in raw.items() if one != key}, "schema": schema}


def _json(text: str) -> object:
    return parse_strict(text)


def _refuse_unknown_names(definition: Definition, case: Table) -> None:
    known = definition.variables.names
    parts: Sequence[tuple[Place, object]] = (
        *(
            (case.place_of(name), case.raw(name))
            for name in ("prompt", "system", "messages", "tools", "answer", "wrong")
        ),
        (case.place_of("prompt-file"), [text for _, text in definition.messages]),
        *definition.checks,
    )
    for place, value in parts:
        for name in unknown_names(value, known):
            text = f"`{{{{{name}}}}}` is no variable of this case; `\\{{{{{name}}}}}` is plain text"
            case.faults.add(place, text)
