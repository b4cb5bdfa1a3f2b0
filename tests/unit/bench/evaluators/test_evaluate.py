import pytest

from bench.evaluators import evaluate
from bench.model.case import ChatRequest, Instance, Message
from bench.model.trial import Answer, Evaluation

REQUEST = ChatRequest(messages=(Message(role="user", content="?"),))


def instance(judge):
    return Instance(request=REQUEST, expected="7", evaluate=judge)


def test_nothing_to_judge_is_no_verdict():
    assert evaluate(instance(None), Answer()) is None


def test_a_verdict_passes_through():
    verdict = Evaluation(passed=True)
    assert evaluate(instance(lambda answer: verdict), Answer()) is verdict


@pytest.mark.parametrize("fault", [ValueError("\ud800 bad"), RecursionError("deep"), KeyError("k")])
def test_an_evaluator_that_raises_is_a_failed_verdict_with_its_message(fault):
    def judge(answer):
        raise fault

    verdict = evaluate(instance(judge), Answer(content="7"))
    assert verdict is not None
    assert (verdict.passed, verdict.expected, verdict.answer) == (False, "7", None)
    assert verdict.detail is not None
    assert verdict.detail.startswith(f"the evaluator raised {type(fault).__name__}: ")
    verdict.detail.encode()


def test_an_interrupt_is_no_verdict():
    def judge(answer):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(instance(judge), Answer())
