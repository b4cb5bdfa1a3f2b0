"""IFEval as an external suite: its data format, read into cases."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from bench.external.contract import Loaded, SuiteFault, Unsupported, fixed_case
from bench.external.ifeval.judging import MODES, Instruction, Mode, judge_instructions
from bench.external.ifeval.kinds import KINDS
from bench.external.lines import objects, read_text
from bench.model.case import Case, CaseInfo, ChatRequest, Message
from bench.model.trial import Answer

OWN_PROMPTS = "own_prompts.jsonl"
_INSTALL = "`pip install 'gateway-bench[ifeval]'`"


class IfEval:
    """Prompts with checkable instructions: are they followed, strictly or loosely?

    Data: JSON lines with `key`, `prompt`, `instruction_id_list` and `kwargs` (one object per
    instruction; null arguments are none), as the published file has them. A line may have
    `answer` and `wrong`, a right and a wrong answer for the simulator. No token limit is sent: a prompt may ask for 1,200
    words. Temperature is 0.
    """

    name = "ifeval"
    description = "instructions that a program can check, 25 kinds; own prompts without data"
    modes: tuple[str, ...] = MODES

    def load(self, data: Path | None, *, mode: str) -> Loaded:
        """Return the prompts of ``data``, or the small set that ships.

        Raises:
            SuiteFault: Lines that are no prompts, or a missing library.
        """
        if data is None:
            text = (files(__package__) / OWN_PROMPTS).read_text(encoding="utf-8")
            where = "own prompts of gateway-bench, not the published 541"
        else:
            text, where = read_text(data, what="the prompts"), f"prompts of `{data}`"
        faults: list[str] = []
        counted: Mode = "loose" if mode == "loose" else "strict"
        items = [
            item
            for number, line in objects(text, faults)
            if (item := _item(line, number, counted, faults)) is not None
        ]
        _note_repeated(items, faults)
        if faults or not items:
            raise SuiteFault(
                data or OWN_PROMPTS,
                faults or ["no prompt in it"],
                hint="each line is an object with `key`, `prompt`, `instruction_id_list`, `kwargs`",
            )
        return Loaded(items=items, source=f"{len(items)} {where}")


def _item(
    line: Mapping[str, Any], number: int, mode: Mode, faults: list[str]
) -> Case | Unsupported | None:
    key, prompt = line.get("key"), line.get("prompt")
    ids, told = line.get("instruction_id_list"), line.get("kwargs")
    problem = _problem(key, prompt, ids, told)
    if problem is not None or not isinstance(ids, list) or not isinstance(told, list):
        faults.append(f"line {number}: {problem}")
        return None
    case_id = f"ifeval_{key}"
    instructions = []
    for kind_id, arguments in zip(ids, told, strict=True):
        read = _instruction(kind_id, arguments or {})
        if isinstance(read, str):
            return Unsupported(id=case_id, reason=read)
        instructions.append(read)
    return _case(case_id, str(prompt), instructions, mode, line)


def _problem(key: object, prompt: object, ids: object, told: object) -> str | None:
    if isinstance(key, bool) or not isinstance(key, int | str) or key == "":
        return "`key` is neither a number nor text"
    if not isinstance(prompt, str) or not prompt.strip():
        return "`prompt` is no text"
    if not isinstance(ids, list) or not ids or not all(isinstance(one, str) for one in ids):
        return "`instruction_id_list` is no list of instruction ids"
    given = told if isinstance(told, list) else []
    if len(given) != len(ids) or not all(one is None or isinstance(one, dict) for one in given):
        return "`kwargs` has not one object for each instruction"
    return None


def _instruction(kind_id: str, arguments: Mapping[str, Any]) -> Instruction | str:
    """Return the instruction, or why it can't be judged."""
    kind = KINDS.get(kind_id)
    if kind is None:
        return f"no kind of instruction `{kind_id}`"
    told = {}
    for name, read in kind.wants.items():
        raw = arguments.get(name)
        if raw is None:
            return f"`{kind_id}` without `{name}`"
        try:
            told[name] = read(raw)
        except (ValueError, OverflowError) as fault:
            return f"`{name}` of `{kind_id}`: {fault}"
    for load in kind.loads:
        try:
            load()
        except ImportError as error:
            message = f"`{kind_id}` needs the package `{error.name}`, which is not installed"
            raise SuiteFault("ifeval", [message], hint=_INSTALL) from error
    return Instruction(kind=kind, told=told)


def _case(
    case_id: str,
    prompt: str,
    instructions: Sequence[Instruction],
    mode: Mode,
    line: Mapping[str, Any],
) -> Case:
    count = len(instructions)
    return fixed_case(
        CaseInfo(
            id=case_id,
            name=f"IFEval {line['key']}",
            kind="quality",
            category="instruction following",
            dimension="1 instruction" if count == 1 else f"{count} instructions",
            difficulty=None,
            runs=1,
            text_hash=None,
        ),
        request=ChatRequest(messages=(Message(role="user", content=prompt),), temperature=0.0),
        evaluate=partial(judge_instructions, instructions=tuple(instructions), mode=mode),
        rules=[mode, *([one.kind.id, dict(one.told)] for one in instructions)],
        book=_answer(line.get("answer")),
        book_wrong=_answer(line.get("wrong")),
    )


def _answer(text: object) -> Answer | None:
    return Answer(content=text, finish_reason="stop") if isinstance(text, str) else None


def _note_repeated(items: Sequence[Case | Unsupported], faults: list[str]) -> None:
    ids = [item.info.id if isinstance(item, Case) else item.id for item in items]
    if len(set(ids)) < len(ids):
        twice = sorted({one for one in ids if ids.count(one) > 1})
        faults.append(f"a key stands twice: {', '.join(twice[:5])}")
