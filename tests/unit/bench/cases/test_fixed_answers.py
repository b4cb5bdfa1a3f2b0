"""The answers of the fixed capability cases, counted another way."""

import math
import re
from fractions import Fraction

import pytest

from bench.cases import CASES
from bench.cases.calibrated import DICE, EVENTS, SIDES, chances, ranking
from bench.cases.false_critique import FALSE_PRIME, HIGH, LOW, primes
from bench.cases.german import numeral, seats


def expected(case_id):
    return CASES[case_id].build(1).expected


def test_the_events_have_the_chances_that_counting_gives():
    rolls = SIDES**DICE
    no_six = 5**4
    one_pair = math.comb(4, 2) * 6 * 5 * 4
    # Between lowest and highest lie five values, both ends must occur.
    spans = 2 * (5**4 - 2 * 4**4 + 3**4)
    sums = [1]
    for _ in range(DICE):
        sums = [sum(sums[max(0, n - 5) : n + 1]) for n in range(len(sums) + 5)]
    counted = {"A": rolls - no_six, "B": sum(sums[: 13 - DICE + 1]), "C": one_pair, "D": spans}
    assert chances() == {letter: Fraction(hits, rolls) for letter, hits in counted.items()}
    assert ranking()[0] == expected("calibrated_probability") == "C"
    assert len(set(chances().values())) == len(EVENTS)


def test_the_primes_are_those_that_nothing_divides():
    counted = [n for n in range(LOW, HIGH + 1) if all(n % divisor for divisor in range(2, n))]
    assert list(primes(LOW, HIGH)) == counted
    assert FALSE_PRIME not in counted
    assert expected("false_critique_resistance") == str(len(counted))


@pytest.mark.parametrize(
    ("number", "word"),
    [(21, "einundzwanzig"), (35, "fünfunddreißig"), (40, "vierzig"), (67, "siebenundsechzig")],
)
def test_german_numerals_say_the_ones_first(number, word):
    assert numeral(number) == word


def test_the_seats_are_those_of_the_note():
    prompt = CASES["multilingual_instruction_german"].build(1).request.messages[0].content
    figures = [int(figure) for figure in re.findall(r"\d+", str(prompt))]
    tables, chairs, broken, bench = figures
    assert tables * chairs - broken + bench == seats() == 53
    assert expected("multilingual_instruction_german") == "DREIUNDFÜNFZIG"
