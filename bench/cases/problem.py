"""The fixed problems: how one is told, judged and described. Each has its solver beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bench.cases.text_hash import text_hash
from bench.evaluators.final_answer import judge_number, judge_text
from bench.model.case import Case, CaseInfo, ChatRequest, Difficulty, Instance, Message
from bench.model.trial import Answer, Evaluation

MAX_TOKENS = 1_024

_TAIL = """\

Work it out in short steps. Then end with exactly one line of this form:
FINAL: <{form}>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem with one right answer, the same at every seed."""

    id: str
    name: str
    category: str
    dimension: str
    difficulty: Difficulty
    description: str
    question: str
    form: str
    """What stands in the angle brackets of the final line."""
    solve: Callable[[], int | str]
    """Computes the right answer. A number is judged as one, text letter by letter."""
    mistake: Callable[[], int | str]
    """Computes what a plausible slip leads to; never the right answer."""


def problem_case(problem: Problem) -> Case:
    """Return the case that asks ``problem``."""

    def build(seed: int) -> Instance:  # noqa: ARG001 - a fixed case: every seed asks the same
        return _instance(problem)

    return Case(
        info=CaseInfo(
            id=problem.id,
            name=problem.name,
            kind="quality",
            category=problem.category,
            dimension=problem.dimension,
            difficulty=problem.difficulty,
            runs=1,
            text_hash=text_hash(build),
        ),
        build=build,
        description=problem.description,
    )


def _instance(problem: Problem) -> Instance:
    solved = problem.solve()
    expected = str(solved)
    prompt = problem.question + "\n" + _TAIL.format(form=problem.form)
    judge: Callable[[Answer], Evaluation]
    if isinstance(solved, int):
        judge = partial(judge_number, expected=expected)
    else:
        judge = partial(judge_text, expected=expected, exact_case=True)
    return Instance(
        request=ChatRequest(
            messages=(Message(role="user", content=prompt),),
            max_tokens=MAX_TOKENS,
            temperature=0.0,
        ),
        expected=expected,
        evaluate=judge,
        book=Answer(content=f"Worked out step by step.\nFINAL: {expected}", finish_reason="stop"),
        book_wrong=Answer(
            content=f"Worked out in a hurry.\nFINAL: {problem.mistake()}", finish_reason="stop"
        ),
    )
