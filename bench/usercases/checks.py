"""The checks of a case: what each is told, and how it judges. Pure, and bounded for any answer.

Patterns run on RE2, in time linear in the text; so do those inside a JSON Schema.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from bench.evaluators.excerpt import MAX_JUDGED_CHARACTERS, excerpt
from bench.evaluators.final_answer import loose_final_text, unwrapped
from bench.evaluators.json_object import without_fence
from bench.evaluators.number_text import canonical_number
from bench.evaluators.strict_json import NotJson, parse_strict
from bench.evaluators.tool_call import call_text, judge_tool_call
from bench.model.trial import Answer, ToolCall
from bench.usercases import fields
from bench.usercases.fields import Table

_INSTALL = "`pip install 'gateway-bench[cases]'`"
_NUMBER = re.compile(r"[+\-\u2212]?\d[\d.,'_]*(?:[eE][+-]?\d{1,3})?")
_MAX_ERRORS = 3

Judge = Callable[[Answer], str | None]
"""Answer → what is wrong with it; ``None`` = it passes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that is demanded of an answer."""

    name: str
    """Its type, or what the case calls it."""
    judge: Judge
    expected: str
    """What is demanded, for reports."""
    right: Answer | None
    """An answer that passes this check, where one can be told."""

    def problem(self, answer: Answer) -> str | None:
        """Return what is wrong with ``answer``, or ``None``."""
        return self.judge(answer)


def read_check(table: Table) -> Check | None:
    """Return the check that ``table`` describes; faults are noted in it."""
    kind = table.need("type", fields.one_of(*_READERS))
    if kind is None:
        return None
    is_turned = table.take("not", fields.truth) or False
    name = table.take("name", fields.text) or kind
    made = _READERS[kind](table)
    table.finish()
    if made is None:
        return None
    judge, expected, right = made
    if is_turned:
        return Check(
            name=name, judge=partial(_turned, judge=judge), expected=f"not {expected}", right=None
        )
    return Check(name=name, judge=judge, expected=expected, right=right)


_Made = tuple[Judge, str, Answer | None]


def _turned(answer: Answer, *, judge: Judge) -> str | None:
    return "it is just what was not wanted" if judge(answer) is None else None


def _subject(table: Table, default: str) -> Callable[[Answer], str]:
    of = table.take("of", fields.one_of("answer", "final")) or default
    return _final if of == "final" else _whole


def _whole(answer: Answer) -> str:
    # A lone surrogate is no text that a pattern could be held against.
    text = answer.content[-MAX_JUDGED_CHARACTERS:].strip()
    return text.encode("utf-8", "replace").decode("utf-8")


def _final(answer: Answer) -> str:
    return unwrapped(loose_final_text(_whole(answer)) or "")


def _words(raw: object) -> str:
    """Return text; a number or truth value counts as its text."""
    if isinstance(raw, bool | int | float):
        return "true" if raw is True else "false" if raw is False else str(raw)
    return fields.text(raw)


def _folded(text: str, *, ignore_case: bool) -> str:
    return text.casefold() if ignore_case else text


def _exact(table: Table) -> _Made | None:
    subject, value = _subject(table, "answer"), table.need("value", _words)
    ignore_case = table.take("ignore-case", fields.truth) or False
    if value is None:
        return None
    wanted = value.strip()

    def judge(answer: Answer) -> str | None:
        said = subject(answer)
        same = _folded(said, ignore_case=ignore_case) == _folded(wanted, ignore_case=ignore_case)
        return None if same else f"{_quoted(said)} instead of {_quoted(wanted)}"

    return judge, wanted, Answer(content=wanted, finish_reason="stop")


def _contains(table: Table) -> _Made | None:
    subject, values = _subject(table, "answer"), table.need("value", _word_list)
    ignore_case = table.take("ignore-case", fields.truth) or False
    if values is None:
        return None

    def judge(answer: Answer) -> str | None:
        said = _folded(subject(answer), ignore_case=ignore_case)
        missing = [one for one in values if _folded(one, ignore_case=ignore_case) not in said]
        return f"without {', '.join(map(_quoted, missing))}" if missing else None

    return judge, ", ".join(values), Answer(content=" ".join(values), finish_reason="stop")


def _word_list(raw: object) -> tuple[str, ...]:
    return tuple(map(_words, raw)) if isinstance(raw, list) and raw else (_words(raw),)


def _regex(table: Table) -> _Made | None:
    subject = _subject(table, "answer")
    ignore_case = table.take("ignore-case", fields.truth) or False
    pattern = table.need("pattern", partial(_pattern, ignore_case=ignore_case))
    if pattern is None:
        return None
    shown = str(table.raw("pattern"))

    def judge(answer: Answer) -> str | None:
        return (
            None if pattern.search(subject(answer)) else f"nothing in it matches {_quoted(shown)}"
        )

    return judge, f"/{shown}/", None


def _pattern(raw: object, *, ignore_case: bool) -> Any:  # noqa: ANN401 - the library has no types
    return _compiled(fields.text(raw), ignore_case)


@lru_cache(maxsize=1024)
def _compiled(pattern: str, ignore_case: bool) -> Any:  # noqa: ANN401, FBT001 - a cache key
    try:
        import re2
    except ImportError as error:
        message = f"`regex` needs the package `google-re2`: {_INSTALL}"
        raise ValueError(message) from error
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0]
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
        message = f"no pattern of RE2, which has no look-around and no back references: {reason}"
        raise ValueError(message) from error


def _number(table: Table) -> _Made | None:
    subject, value = _subject(table, "final"), table.need("value", fields.number)
    tolerance = table.take("tolerance", fields.amount) or 0.0
    share = table.take("relative-tolerance", fields.amount) or 0.0
    if value is None:
        return None
    allowed = max(tolerance, share * abs(value))

    def judge(answer: Answer) -> str | None:
        said = subject(answer)
        seen = _last_number(said)
        if seen is None:
            return f"no number in {_quoted(said)}"
        # Both sides were rounded to binary once; a hair's breadth is no miss.
        hair = 1e-12 * max(abs(value), abs(seen))
        return None if abs(seen - value) <= allowed + hair else f"{seen:.12g}, not {value:.12g}"

    margin = f" ± {allowed:g}" if allowed else ""
    right = Answer(content=f"FINAL: {value:.17g}", finish_reason="stop")
    return judge, f"{value:.12g}{margin}", right


def _last_number(text: str) -> float | None:
    """Return the number that the text is, else the last one in it."""
    for candidate in (text, *reversed(_NUMBER.findall(text)[-1:])):
        plain = canonical_number(candidate.rstrip(".,'_"))
        try:
            value = float(plain if plain is not None else candidate)
        except ValueError:
            continue
        if abs(value) < float("inf"):
            return value
    return None


def _json_schema(table: Table) -> _Made | None:
    schema = table.need("schema", _schema_value)
    if schema is None:
        return None
    try:
        validator = _validator(schema)
    except ValueError as error:
        table.faults.add(table.place_of("schema"), str(error))
        return None

    def judge(answer: Answer) -> str | None:
        try:
            value = parse_strict(without_fence(answer.content.strip()))
        except NotJson as error:
            return f"no JSON: {error}"
        return _violations(validator, value)

    return judge, "JSON that keeps to the schema", None


def _schema_value(raw: object) -> bool | dict[str, Any]:
    return raw if isinstance(raw, bool) else fields.mapping(raw)


def _validator(schema: bool | dict[str, Any]) -> Any:  # noqa: ANN401, FBT001 - either is a schema
    try:
        import jsonschema_rs
    except ImportError as error:
        message = f"`json-schema` needs the package `jsonschema-rs`: {_INSTALL}"
        raise ValueError(message) from error
    try:
        return jsonschema_rs.validator_for(
            schema, pattern_options=jsonschema_rs.RegexOptions(), retriever=_never_retrieve
        )
    except (jsonschema_rs.ValidationError, ValueError) as error:
        reason = getattr(error, "message", str(error))
        message = f"no JSON Schema: {reason}"
        raise ValueError(message) from error


def _never_retrieve(uri: str) -> Any:  # noqa: ANN401 - never returns
    message = f"`{uri}` is not in the file; nothing is fetched"
    raise ValueError(message)


def _violations(validator: Any, value: object) -> str | None:  # noqa: ANN401
    try:
        errors = [
            error
            for error, _ in zip(validator.iter_errors(value), range(_MAX_ERRORS), strict=False)
        ]
    except (ValueError, OverflowError, RecursionError) as error:
        return f"a value that can't be held against a schema: {error}"
    said = [
        f"{'/'.join(map(str, error.instance_path)) or 'it'}: {error.message}" for error in errors
    ]
    return "; ".join(excerpt(one) for one in said) or None


def _tool_call(table: Table) -> _Made | None:
    name = table.need("tool", fields.text)
    arguments = table.take("arguments", fields.mapping)
    if name is None:
        return None
    expected = name if arguments is None else call_text(name, arguments)

    def judge(answer: Answer) -> str | None:
        if arguments is None:
            called = [call.name for call in answer.tool_calls]
            return None if called == [name] else f"called: {', '.join(called)[:120] or 'nothing'}"
        return judge_tool_call(answer, name=name, arguments=arguments).detail

    return judge, expected, None if arguments is None else _calling(name, arguments)


def _calling(name: str, arguments: Mapping[str, Any]) -> Answer:
    call = ToolCall(id="call_1", name=name, arguments=json.dumps(arguments, ensure_ascii=False))
    return Answer(tool_calls=(call,), finish_reason="tool_calls")


def _quoted(text: str) -> str:
    return f"`{excerpt(text)}`"


_READERS: Mapping[str, Callable[[Table], _Made | None]] = {
    "exact": _exact,
    "contains": _contains,
    "regex": _regex,
    "number": _number,
    "json-schema": _json_schema,
    "tool-call": _tool_call,
}
CHECK_TYPES: Sequence[str] = tuple(_READERS)
