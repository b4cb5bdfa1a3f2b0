"""BFCL's simple calls as an external suite: its two files, read into cases."""

import json
import re
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.external.bfcl.judging import Described, judge_simple_call, right_arguments
from bench.external.contract import Loaded, SuiteFault, Unsupported, fixed_case
from bench.external.lines import objects, read_text
from bench.model.case import Case, CaseInfo, ChatRequest, Message
from bench.model.trial import Answer, ToolCall

_QUESTIONS = "BFCL_v*_simple_python.json"
_PACKAGE = "bfcl_eval"
_INSTALL = "`pip install --no-deps bfcl-eval`, or name its data folder with `--external-data`"
_TYPES = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    "integer": "integer",
    "string": "string",
    "boolean": "boolean",
    "array": "array",
}
_NO_NAME_CHARACTER = re.compile(r"[^a-zA-Z0-9_-]")


class Bfcl:
    """One question, one function on offer: is it called with right arguments?

    Data: a folder with `BFCL_v4_simple_python.json` and `possible_answer/` as in the package
    `bfcl-eval`, or one such file of questions with that folder beside it.
    """

    name = "bfcl"
    description = "BFCL's 400 simple Python calls; data from the package `bfcl-eval` or a folder"
    modes: tuple[str, ...] = ("strict",)

    def load(self, data: Path | None, *, mode: str) -> Loaded:  # noqa: ARG002 - there is one mode
        """Return the questions of ``data``, or of the installed package.

        Raises:
            SuiteFault: Neither is there, or a line can't be read.
        """
        questions, answers = _files(data)
        faults: list[str] = []
        truths = {
            str(line.get("id")): line.get("ground_truth")
            for _, line in objects(read_text(answers, what="the answers"), faults)
        }
        items = [
            item
            for number, line in objects(read_text(questions, what="the questions"), faults)
            if (item := _item(line, number, truths, faults)) is not None
        ]
        if faults or not items:
            raise SuiteFault(questions, faults or ["no question in it"])
        return Loaded(items=items, source=f"{len(items)} questions of `{questions}`")


def _files(data: Path | None) -> tuple[Path, Path]:
    """Return the files of questions and answers."""
    folder = _installed() if data is None else data
    if folder is None:
        raise SuiteFault("bfcl", [f"the package `{_PACKAGE}` is not installed"], hint=_INSTALL)
    if folder.is_file():
        questions = folder
    else:
        found = sorted(folder.glob(_QUESTIONS))
        if not found:
            raise SuiteFault(folder, [f"no `{_QUESTIONS}` in it"], hint=_INSTALL)
        questions = found[-1]
    answers = questions.parent / "possible_answer" / questions.name
    if not answers.is_file():
        raise SuiteFault(questions, [f"its answers `{answers}` are missing"], hint=_INSTALL)
    return questions, answers


def _installed() -> Path | None:
    spec = find_spec(_PACKAGE)  # finds a package without running it
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) / "data" if places else None


def _item(
    line: Mapping[str, Any], number: int, truths: Mapping[str, object], faults: list[str]
) -> Case | Unsupported | None:
    case_id = line.get("id")
    try:
        messages = tuple(
            Message(role=one["role"], content=one["content"]) for one in line["question"][0]
        )
        (function,) = line["function"]
        described, title = function["parameters"], str(function["name"])
        schema = _schema(described)
        told = Described(
            types={name: one.get("type", "") for name, one in described["properties"].items()},
            required=frozenset(described.get("required", ())),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        faults.append(f"line {number}: no question with one function: {error!r}")
        return None
    allowed = _allowed(truths.get(str(case_id)), title)
    if allowed is None:
        return Unsupported(id=f"bfcl_{case_id}", reason="no answer of one call is known")
    # A name with a dot is none of the wire protocol's.
    name = _NO_NAME_CHARACTER.sub("_", title)
    tool = {
        "type": "function",
        "function": {
            "name": name,
            "description": function.get("description", ""),
            "parameters": schema,
        },
    }
    return fixed_case(
        CaseInfo(
            id=f"bfcl_{case_id}",
            name=f"BFCL {case_id}",
            kind="quality",
            category="tool use",
            dimension="simple call",
            difficulty=None,
            runs=1,
            text_hash=None,
        ),
        request=ChatRequest(messages=messages, temperature=0.0, tools=(tool,)),
        evaluate=partial(judge_simple_call, name=name, allowed=allowed, described=told),
        rules=[allowed, sorted(told.required)],
        book=_calling(name, right_arguments(allowed, told.required)),
        book_wrong=_calling(name, {}),
    )


def _allowed(truth: object, title: str) -> dict[str, list[Any]] | None:
    """Return the allowed values by argument; ``None`` unless exactly one call is right."""
    if not isinstance(truth, list) or len(truth) != 1 or not isinstance(truth[0], dict):
        return None
    arguments = truth[0].get(title)
    if not isinstance(arguments, dict):
        return None
    return {name: list(values) for name, values in arguments.items() if isinstance(values, list)}


def _schema(described: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """Return a parameter description as JSON Schema: the data has Python's names of types."""
    if isinstance(described, list):
        return [_schema(one) for one in described]
    if not isinstance(described, dict):
        return described
    made = {key: _schema(value) for key, value in described.items()}
    kind = made.get("type")
    if isinstance(kind, str):
        if kind in _TYPES:
            made["type"] = _TYPES[kind]
        else:
            del made["type"]  # `any`: JSON Schema says it by leaving the type out
    return made


def _calling(name: str, arguments: Mapping[str, Any]) -> Answer:
    call = ToolCall(id="call_1", name=name, arguments=json.dumps(arguments, ensure_ascii=False))
    return Answer(tool_calls=(call,), finish_reason="tool_calls")
