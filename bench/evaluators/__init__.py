"""Judges of answers, one small file each: pure functions from an ``Answer`` to an ``Evaluation``.

Whatever a model sends is judged in bounded work: text by its last ``MAX_JUDGED_CHARACTERS``.
"""

from bench.evaluators.excerpt import excerpt
from bench.model.case import Instance
from bench.model.trial import Answer, Evaluation


def evaluate(instance: Instance, answer: Answer) -> Evaluation | None:
    """Judge ``answer``; the border at which a fault of an evaluator becomes a failed verdict.

    Returns:
        The verdict, or ``None`` where the instance has nothing to judge.
    """
    if instance.evaluate is None:
        return None
    try:
        return instance.evaluate(answer)
    except Exception as error:  # noqa: BLE001 - a judge's fault must not lose a paid trial
        return Evaluation(
            passed=False,
            expected=instance.expected,
            detail=excerpt(f"the evaluator raised {type(error).__name__}: {error}"),
            score=0.0,
        )
