import re

import pytest

from bench.cases import CASES
from bench.cases.grounded_ledger import ROWS, draw_ledger
from bench.evaluators import evaluate
from bench.model.trial import Answer

CASE = CASES["seeded_grounded_unknown"]
ROW = re.compile(r"(?m)^2031-05-\d\d \| (INV-\d{4}) \| ([\w ]+) \| (\d+)$")


def test_no_ledger_holds_the_invoice_asked_for_but_each_holds_similar_ones():
    for seed in range(1_000):
        ledger = draw_ledger(seed)
        invoices = [row.invoice for row in ledger.rows]
        assert len(set(invoices)) == ROWS
        assert ledger.asked_invoice not in invoices
        assert sorted(ledger.swapped.invoice) == sorted(ledger.asked_invoice)
        assert sum(row.party == ledger.asked_party for row in ledger.rows) == 2
        one_off = [
            invoice
            for invoice in invoices
            if sum(a != b for a, b in zip(invoice, ledger.asked_invoice, strict=True)) == 1
        ]
        assert one_off
        assert len({row.amount for row in ledger.rows}) == ROWS
        assert str(ledger.swapped.amount) in ledger.near_misses()
        assert 3 <= len(ledger.near_misses()) < ROWS / 2


def test_the_prompt_tells_the_whole_ledger():
    for seed in range(100):
        ledger = draw_ledger(seed)
        prompt = CASE.build(seed).request.messages[0].content
        assert prompt is not None
        told = [(invoice, party, int(amount)) for invoice, party, amount in ROW.findall(prompt)]
        assert told == [(row.invoice, row.party, row.amount) for row in ledger.rows]
        assert f"invoice {ledger.asked_invoice} of {ledger.asked_party}?" in prompt


@pytest.mark.parametrize(
    ("form", "passed", "near_miss"),
    [
        pytest.param("FINAL: UNKNOWN", True, False, id="right"),
        pytest.param(
            "FINAL: {swapped}\nNo, other digits.\nFINAL: unknown.", True, False, id="decoy"
        ),
        pytest.param("FINAL: {swapped}", False, True, id="similar-entry"),
        pytest.param("FINAL: 0", False, False, id="zero"),
        pytest.param("The ledger does not say.", False, False, id="other-words"),
        pytest.param("FINAL: UNKNOWN\x1b[8m {swapped}", False, False, id="hidden-by-an-escape"),
    ],
)
def test_answers_are_judged(form, passed, near_miss):
    content = form.format(swapped=draw_ledger(6).swapped.amount)
    verdict = evaluate(CASE.build(6), Answer(content=content))
    assert verdict is not None
    assert (verdict.passed, verdict.metrics["nearMiss"]) == (passed, near_miss)
