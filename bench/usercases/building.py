"""From the definition of a case to a case that can be built for any seed. Pure."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from bench.evaluators.excerpt import excerpt
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.trial import Answer, Evaluation
from bench.usercases.checks import Check, read_check
from bench.usercases.definition import Definition, ReadFile, read_definition
from bench.usercases.fields import Faults, Table
from bench.usercases.located import Place
from bench.usercases.variables import Values, as_text, filled, unknown_names

_FORMAT = 1
"""Of what a definition means; raised when the same file would ask or judge otherwise."""
_WRONG = Answer(content="I can't say.", finish_reason="stop")


class BrokenCheck(Exception):
    """A check that one seed's values spoil; the evaluation of its trial tells the reason."""


def read_case(
    value: object, place: Place, faults: Faults, *, default_id: str, read_file: ReadFile
) -> Case | None:
    """Return the case that a table describes; ``None`` when it has a fault.

    Arguments as in ``read_definition``.
    """
    before = len(faults.found)
    definition = read_definition(value, place, faults, default_id=default_id, read_file=read_file)
    for values in definition.variables.samples():
        checks = _checks(definition, values, faults)
        _try_answer(definition, values, checks, faults)
    return _case(definition, faults) if len(faults.found) == before else None


def _case(definition: Definition, faults: Faults) -> Case:
    return Case(
        info=CaseInfo(
            id=definition.id,
            name=definition.name,
            kind=definition.kind,
            category=definition.category,
            dimension=definition.dimension,
            difficulty=definition.difficulty,
            runs=definition.runs or len(definition.seeds) or 1,
            warmup_runs=definition.warmup,
            concurrency=definition.concurrency,
            seeds=definition.seeds,
            text_hash=_hash(definition),
        ),
        build=partial(_instance, definition, faults),
        description=definition.description,
    )


def _instance(definition: Definition, faults: Faults, seed: int) -> Instance:
    values = definition.variables.at(seed)
    own = Faults(faults.file)
    checks = _checks(definition, values, own)
    spoilt = "; ".join(text for _, text in own.found)
    return Instance(
        request=_request(definition, values),
        expected=excerpt("; ".join(check.expected for check in checks)) if checks else None,
        evaluate=_judge(checks, spoilt),
        book=_right(definition, values, checks),
        book_wrong=_wrong(definition, values, checks),
    )


def _request(definition: Definition, values: Values) -> ChatRequest:
    parameters = filled(definition.parameters, values)
    messages = tuple(
        msgspec.convert({"role": role, "content": as_text(filled(text, values))}, type=Message)
        for role, text in definition.messages
    )
    if "tools" in parameters:
        parameters["tools"] = tuple(parameters["tools"])
    return ChatRequest(messages=messages, **parameters)


def _checks(definition: Definition, values: Values, faults: Faults) -> tuple[Check, ...]:
    tables = (
        Table(filled(fields, values), place, faults, kind="check")
        for place, fields in definition.checks
        if not unknown_names(fields, definition.variables.names)  # told before, at the name
    )
    return tuple(check for table in tables if (check := read_check(table)) is not None)


def _judge(checks: Sequence[Check], spoilt: str) -> Callable[[Answer], Evaluation] | None:
    if not checks and not spoilt:
        return None
    return partial(judge_checks, checks=tuple(checks), spoilt=spoilt)


def judge_checks(answer: Answer, *, checks: Sequence[Check], spoilt: str = "") -> Evaluation:
    """Judge an answer: it passes when every check does.

    Args:
        answer: What the model said.
        checks: At least one.
        spoilt: Why some check could not be made of this seed's values; empty = all could.

    Raises:
        BrokenCheck: ``spoilt``; no answer could pass.
    """
    if spoilt:
        raise BrokenCheck(spoilt)
    problems = [(check.name, check.problem(answer)) for check in checks]
    failed = [f"{name}: {problem}" for name, problem in problems if problem is not None]
    said = answer.content.strip() or "; ".join(
        f"{call.name[:80]}({call.arguments[:200]})" for call in answer.tool_calls[:8]
    )
    cut = "; it was cut at its token limit" if answer.finish_reason == "length" else ""
    return Evaluation(
        passed=not failed,
        answer=excerpt(said) or None,
        expected=excerpt("; ".join(check.expected for check in checks)),
        detail=excerpt("; ".join(failed) + cut) if failed else None,
        score=(len(checks) - len(failed)) / len(checks),
        metrics={
            "checksPassed": len(checks) - len(failed),
            "checksTotal": len(checks),
            "failedChecks": [name for name, problem in problems if problem is not None],
        },
    )


def _right(definition: Definition, values: Values, checks: Sequence[Check]) -> Answer | None:
    """Return an answer that passes every check: the one given, else what a check can tell."""
    if definition.answer is not None:
        return Answer(content=as_text(filled(definition.answer, values)), finish_reason="stop")
    told = (check.right for check in checks if check.right is not None)
    return next((one for one in told if _passes(one, checks)), None)


def _wrong(definition: Definition, values: Values, checks: Sequence[Check]) -> Answer | None:
    typed = definition.wrong
    answer = (
        _WRONG
        if typed is None
        else Answer(content=as_text(filled(typed, values)), finish_reason="stop")
    )
    return answer if checks and not _passes(answer, checks) else None


def _passes(answer: Answer, checks: Sequence[Check]) -> bool:
    return all(check.problem(answer) is None for check in checks)


def _try_answer(
    definition: Definition, values: Values, checks: Sequence[Check], faults: Faults
) -> None:
    """Hold the answers that a case gives against its own checks."""
    if len(checks) < len(definition.checks) or not checks:
        return
    right = _right(definition, values, checks)
    if definition.answer is not None and right is not None:
        for check in checks:
            problem = check.problem(right)
            if problem is not None:
                text = f"its own `answer` fails its check `{check.name}`: {problem}"
                faults.add((*definition.place, "answer"), text)
    if definition.wrong is not None and _wrong(definition, values, checks) is None:
        faults.add((*definition.place, "wrong"), "its own `wrong` answer passes every check")


def _hash(definition: Definition) -> str:
    """Return the SHA-256 (hex) of everything that is asked, drawn and demanded."""
    rows: Sequence[Mapping[str, Any]] = definition.variables.rows
    choices = {
        name: [options.start, options.stop] if isinstance(options, range) else list(options)
        for name, options in definition.variables.choices.items()
    }
    asked = {
        "format": _FORMAT,
        "messages": definition.messages,
        "parameters": definition.parameters,
        "choices": choices,
        "rows": rows,
        "seeds": definition.seeds,
        "checks": [fields for _, fields in definition.checks],
    }
    text = json.dumps(asked, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
