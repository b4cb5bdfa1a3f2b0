"""Likeness to the reference, worked by hand as in docs/metrics.md."""

import math

import msgspec
import pytest

from bench.model.trial import Usage
from bench.summary import Evidence, summarize
from tests.sample_documents import (
    EXTRACTION,
    FAST,
    PARAPHRASE,
    PATH,
    SLOW,
    response,
    trial,
    verdict,
)

THIRD = msgspec.structs.replace(FAST, id="third")
CASES = (PATH, PARAPHRASE, EXTRACTION)


def answers(target, *said, **fields):
    """Trials of one case, run by run; ``None`` = no answer, ``!`` in front = a wrong one."""
    return [
        trial(
            target,
            PATH,
            run,
            evaluation=verdict(not (text or "!").startswith("!"), text and text.lstrip("!")),
            **fields,
        )
        for run, text in enumerate(said, start=1)
    ]


def prints(*trials, targets=(FAST, SLOW), **fields):
    described = {"reference": FAST.id} | fields
    evidence = Evidence(targets=targets, cases=CASES, trials=trials, **described)
    return [target.fingerprint for target in summarize(evidence).targets]


def test_the_example_of_the_documentation():
    _, found, third = prints(
        *answers(FAST, "17", "!22", "!9"),
        *answers(SLOW, "17", "!22", "!8"),
        *answers(THIRD, "17", "!22", "!7"),
        targets=(FAST, SLOW, THIRD),
    )
    assert found.compared == 3
    assert found.agreement == pytest.approx(2 / 3)
    assert found.reference_error_agreement == 0.5
    assert (found.shared_errors.hits, found.shared_errors.of) == (1, 2)
    common, rare = -math.log2(2 / 3), -math.log2(1 / 3)
    assert found.rarity_weighted_error_agreement == pytest.approx(common / (common + rare))
    assert found.category_similarity == 1.0
    assert third.agreement == pytest.approx(2 / 3)


def test_without_further_targets_every_mistake_weighs_the_same():
    _, found = prints(*answers(FAST, "!1", "!2", "!3"), *answers(SLOW, "!1", "!2", "!4"))
    assert found.rarity_weighted_error_agreement == found.reference_error_agreement
    assert found.reference_error_agreement == pytest.approx(2 / 3)


def test_a_right_answer_to_what_the_reference_gets_wrong_is_no_shared_error():
    _, found = prints(*answers(FAST, "!1", "!2"), *answers(SLOW, "42", "!2"))
    assert (found.reference_errors.hits, found.reference_errors.of) == (1, 2)
    assert (found.shared_errors.hits, found.shared_errors.of) == (1, 1)


def test_nothing_in_common_leaves_every_figure_unknown():
    _, found = prints(*answers(FAST, "17", None), *answers(SLOW, None, "17"))
    assert found.compared == 0
    assert found.agreement is None
    assert found.reference_error_agreement is None
    assert found.rarity_weighted_error_agreement is None
    assert found.category_similarity == 1.0


def test_where_nothing_was_judged_there_is_no_similarity():
    _, found = prints()
    assert found.behavioural_similarity is None
    assert found.category_similarity is None
    assert found.reasoning_ratio_delta is None


def test_the_reference_is_not_compared_with_itself_nor_anything_without_one():
    assert prints(*answers(FAST, "1"), *answers(SLOW, "1"))[0] is None
    assert prints(*answers(FAST, "1"), reference=None) == [None, None]
    assert prints(*answers(FAST, "1"), reference="gone") == [None, None]


def test_likeness_is_the_mean_of_what_is_known():
    def thinking(tokens):
        return response(
            usage=Usage(prompt_tokens=1, completion_tokens=100, reasoning_tokens=tokens)
        )

    _, found = prints(
        *answers(FAST, "17", "!2", response=thinking(80)),
        *answers(SLOW, "17", "17", response=thinking(20)),
    )
    assert found.reasoning_ratio_delta == pytest.approx(-0.6)
    assert found.category_similarity == 0.5
    parts = [0.5, 0.0, 0.0, 0.5, 0.4]
    assert found.behavioural_similarity == pytest.approx(sum(parts) / 5)


def test_what_another_provider_answered_is_no_trait_of_the_target():
    _, found = prints(*answers(FAST, "!1"), *answers(SLOW, "!1", pin_violated=True))
    assert found.compared == 0
