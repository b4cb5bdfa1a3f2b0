"""What an adapter of an external suite promises, and what it may build its cases with."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from bench.cases.text_hash import text_hash
from bench.errors import UsageFault
from bench.model.case import Case, CaseInfo, ChatRequest, Instance
from bench.model.trial import Answer, Evaluation

ENTRY_POINT_GROUP = "gateway_bench.external"
_MAX_LISTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported:
    """An item of the data that the adapter can't judge."""

    id: str
    reason: str
    """Half a sentence: what is asked that nobody here knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Everything that a suite's data holds, in its own order."""

    items: Sequence[Case | Unsupported]
    source: str
    """Where they came from, for people: `541 prompts of /data/input_data.jsonl`."""


class ExternalSuite(Protocol):
    """One suite. Adapters keep no state between calls."""

    name: str
    """As typed behind `--external`."""
    description: str
    """One sentence for listings."""
    modes: tuple[str, ...]
    """Ways of judging that `--external-mode` may name; the first is the default."""

    def load(self, data: Path | None, *, mode: str) -> Loaded:
        """Read the data and return its items as cases.

        Limit, offset and what becomes of unsupported items are decided afterwards. The same data
        has to give the same cases, in the same order, with the same hashes: a run is resumed by
        loading it again.

        Args:
            data: File or folder; something at an address has been fetched into a file before.
                ``None`` = the adapter's own.
            mode: One of ``modes``.

        Raises:
            SuiteFault: The data can't be read, or what is needed to judge it is not installed.
        """
        ...


class SuiteFault(UsageFault):
    """The data of an external suite can't be used; every fault in one message, behind the path."""

    def __init__(self, where: object, faults: Sequence[str], *, hint: str | None = None) -> None:
        where = where if isinstance(where, str) else f"`{where}`"
        if len(faults) == 1:
            super().__init__(f"{where}: {faults[0]}", hint=hint)
            return
        shown = "".join(f"\n  {fault}" for fault in faults[:_MAX_LISTED])
        rest = len(faults) - _MAX_LISTED
        more = f"\n  and {rest} more" if rest > 0 else ""
        super().__init__(f"{where}: {len(faults)} faults:{shown}{more}", hint=hint)


def fixed_case(
    info: CaseInfo,
    *,
    request: ChatRequest,
    evaluate: Callable[[Answer], Evaluation],
    rules: object,
    book: Answer | None = None,
    book_wrong: Answer | None = None,
) -> Case:
    """Return a case that asks the same at every seed.

    Args:
        info: Descriptive half; its ``text_hash`` is replaced.
        request: What is sent.
        evaluate: The judge. It has to be quick, bounded, and never to raise, whatever the answer.
        rules: By what answers are judged, as JSON values: part of the hash by which a resumed run
            knows that the case is still the same.
        book: A right answer, where one is known, for the simulator.
        book_wrong: A plausible wrong one.
    """
    instance = Instance(
        request=request, expected=None, evaluate=evaluate, book=book, book_wrong=book_wrong
    )

    def build(seed: int) -> Instance:  # noqa: ARG001 - every seed asks the same
        return instance

    digest = hashlib.sha256(text_hash(build).encode())
    digest.update(json.dumps(rules, sort_keys=True, ensure_ascii=False).encode())
    return Case(info=msgspec.structs.replace(info, text_hash=digest.hexdigest()), build=build)
