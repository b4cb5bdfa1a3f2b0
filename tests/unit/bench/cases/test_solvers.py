"""Each solver against trying everything, on small random tasks and on the task that is asked."""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.cases import CASES
from bench.cases.cheapest_assignment import cheapest, row_by_row
from bench.cases.dijkstra import edge
from bench.cases.problems import assignment, constraints, scheduling, topological, voucher_path
from bench.cases.problems.cipher import CHANGES, WORD, changed
from bench.cases.problems.crt import ABOVE, CONGRUENCES, combined, smallest_above
from bench.cases.problems.determinant import MATRIX, determinant
from bench.cases.problems.edit_distance import GOAL, PRICES, SOURCE, EditPrices, edit_cost
from bench.cases.problems.hypergeometric import chance_of_at_least, parts_added
from bench.cases.problems.javascript import printed
from bench.cases.problems.knapsack import CAPACITY, ITEMS, best_value
from bench.cases.problems.powmod import BASE, EXPONENT, MODULUS, power_modulo
from bench.cases.problems.recurrence import term
from bench.cases.problems.strings import ALPHABET, FORBIDDEN, LENGTH, words_without

few = settings(max_examples=40)


def expected(case_id):
    return CASES[case_id].build(1).expected


@few
@given(st.integers(0, 99), st.integers(0, 200), st.integers(1, 99))
def test_a_power_is_its_repeated_product(base, exponent, modulus):
    assert power_modulo(base, exponent, modulus) == base**exponent % modulus


def test_the_power_asked_for_is_right_and_its_modulus_prime():
    assert expected("number_theory_powmod") == str(pow(BASE, EXPONENT, MODULUS))
    assert all(MODULUS % divisor for divisor in range(2, MODULUS))


@few
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), min_size=1, max_size=3))
def test_congruences_are_combined_or_contradict(congruences):
    period = math.lcm(*(divisor for _, divisor in congruences))
    fitting = [
        n for n in range(period) if all((n - rest) % divisor == 0 for rest, divisor in congruences)
    ]
    assert combined(congruences) == ((fitting[0], period) if fitting else None)


def test_contradicting_congruences_have_no_smallest_number():
    with pytest.raises(ValueError, match="contradict"):
        smallest_above([(0, 2), (1, 4)], 0)


def test_the_number_asked_for_is_the_first_that_fits():
    fits = (n for n in range(ABOVE + 1, 10**6) if all(n % d == rest for rest, d in CONGRUENCES))
    assert expected("number_theory_crt") == str(next(fits))


def subsets(items):
    return (chosen for size in range(len(items) + 1) for chosen in combinations(items, size))


@few
@given(
    st.lists(st.tuples(st.just("x"), st.integers(1, 9), st.integers(0, 20)), max_size=6),
    st.integers(0, 25),
)
def test_the_best_load_is_the_best_of_all_subsets(items, capacity):
    assert best_value(items, capacity) == best_of_subsets(items, capacity)


def best_of_subsets(items, capacity):
    return max(
        sum(item[2] for item in chosen)
        for chosen in subsets(items)
        if sum(item[1] for item in chosen) <= capacity
    )


def test_the_load_asked_for_is_the_best():
    assert expected("knapsack") == str(best_of_subsets(ITEMS, CAPACITY))


def cheapest_by_walking(roads, start, end):
    def walks(path):
        if path[-1] == end:
            yield path
            return
        for pair in roads:
            if path[-1] in pair:
                other = pair[0] + pair[1] - path[-1]
                if other not in path:
                    yield from walks([*path, other])

    tolls = ([roads[edge(*pair)] for pair in pairwise(path)] for path in walks([start]))
    return min((sum(legs) - max(legs) for legs in tolls), default=None)


@few
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] < pair[1]),
        st.integers(1, 20),
    )
)
def test_a_voucher_takes_the_dearest_road_off_the_best_walk(roads):
    assert voucher_path.cost_with_voucher(roads, 0, 4) == cheapest_by_walking(roads, 0, 4)


def test_the_toll_asked_for_is_the_least_and_using_the_usual_way_is_not():
    roads, ends = voucher_path.ROADS, (voucher_path.START, voucher_path.END)
    best = cheapest_by_walking(roads, *ends)
    assert expected("shortest_path") == str(best)
    assert voucher_path.voucher_on_the_usual_way(roads, *ends) > best
    with pytest.raises(ValueError, match="no way"):
        voucher_path.voucher_on_the_usual_way({(0, 1): 5}, 0, 2)


@few
@given(st.sets(st.tuples(st.sampled_from("ABCDE"), st.sampled_from("ABCDE"))))
def test_orders_are_the_permutations_that_keep_the_rules(rules):
    assert topological.orders("ABCDE", rules) == orders_by_trying("ABCDE", rules)


def orders_by_trying(jobs, rules):
    return sum(
        all(order.index(first) < order.index(second) for first, second in rules)
        for order in permutations(jobs)
    )


def test_the_orders_asked_for_are_all_that_keep_the_rules():
    counted = orders_by_trying(topological.JOBS, topological.RULES)
    assert expected("topological_orders") == str(counted)


@few
@given(st.integers(0, 5), st.lists(st.text("AB", min_size=1, max_size=3), max_size=3))
def test_words_are_counted_like_writing_all_of_them(length, forbidden):
    assert words_without("AB", length, forbidden) == written_out("AB", length, forbidden)


def written_out(alphabet, length, forbidden):
    words = map("".join, product(alphabet, repeat=length))
    return sum(not any(piece in word for piece in forbidden) for word in words)


def test_the_words_asked_for_are_all_that_avoid_both_pieces():
    assert expected("constrained_strings") == str(written_out(ALPHABET, LENGTH, FORBIDDEN))


@pytest.mark.parametrize("modulus", [7, 1_000])
def test_a_term_is_what_step_by_step_gives(modulus):
    before, here = 1, 4
    assert [term(0, modulus), term(1, modulus)] == [before, here]
    for index in range(2, 40):
        before, here = here, 2 * here + 3 * before + 5
        assert term(index, modulus) == here % modulus


def test_one_state_of_the_lamps_is_left_and_each_statement_is_needed():
    lamps, statements = constraints.LAMPS, constraints.STATEMENTS

    def fitting(held):
        states = (dict(zip(lamps, on, strict=True)) for on in product((True, False), repeat=7))
        return {
            "".join(lamp for lamp in lamps if state[lamp])
            for state in states
            if all(statement.holds(state) for statement in held)
        }

    assert fitting(statements) == {expected("boolean_constraints")}
    for statement in statements:
        rest = [other for other in statements if other is not statement]
        assert len(fitting(rest)) > 1
        assert fitting(rest) == set(constraints.solutions(lamps, rest))
        assert set(statement.lamps) <= set(lamps)
    with pytest.raises(ValueError, match="unpack"):
        constraints.the_only(["A", "B"])


@few
@given(st.integers(0, 6), st.integers(1, 6), st.integers(1, 4), st.integers(0, 4))
def test_a_chance_is_favourable_draws_by_all_draws(marked, others, drawn, at_least):
    drawn = min(drawn, marked + others)
    beads = [True] * marked + [False] * others
    draws = list(combinations(range(len(beads)), drawn))
    hits = sum(sum(beads[at] for at in draw) >= at_least for draw in draws)
    assert chance_of_at_least(marked, others, drawn, at_least) == Fraction(hits, len(draws))


def test_the_fraction_asked_for_is_counted_by_binomials():
    favourable = sum(math.comb(8, red) * math.comb(13, 6 - red) for red in range(3, 7))
    chance = Fraction(favourable, math.comb(21, 6))
    assert expected("hypergeometric") == str(parts_added(chance))


bookings = st.tuples(st.just("x"), st.integers(0, 9), st.integers(1, 5), st.integers(1, 20)).map(
    lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2], drawn[3])
)


@few
@given(st.lists(bookings, max_size=7))
def test_the_best_fee_is_the_best_of_all_choices(asked):
    assert scheduling.best_fee(asked) == best_choice(asked)


def best_choice(asked):
    return max(
        sum(booking[3] for booking in chosen)
        for chosen in subsets(asked)
        if all(one[2] <= other[1] for one, other in pairwise(sorted(chosen, key=lambda b: b[1:])))
    )


def test_the_fee_asked_for_is_the_best_and_neither_obvious_choice():
    best = best_choice(scheduling.BOOKINGS)
    assert expected("weighted_scheduling") == str(best)
    assert scheduling.fee_of_the_dearest_first(scheduling.BOOKINGS) < best


def leibniz(matrix):
    size = len(matrix)
    return sum(
        (-1) ** sum(order[a] > order[b] for a, b in combinations(range(size), 2))
        * math.prod(matrix[row][order[row]] for row in range(size))
        for order in permutations(range(size))
    )


@few
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=n, max_size=n
        )
    )
)
def test_a_determinant_is_leibniz_sum(matrix):
    assert determinant(matrix) == leibniz(matrix)


def test_the_determinant_asked_for_is_right_and_negative():
    assert expected("determinant") == str(leibniz(MATRIX))
    assert leibniz(MATRIX) < 0


def test_the_program_prints_what_following_it_by_hand_gives():
    # i: total before the branch. 0: 20. 1: 71 % 23 = 2. 2: -10. 3: 13. 4: 16. 5: 19.
    # One function is put off, called when i is 6 and total 19; text order puts 2 behind 19.
    assert printed() == expected("javascript_trace") == "13:16:19:2:20:25"
    assert printed(remainder=lambda value, divisor: value % divisor) != printed()


words = st.text("abc", max_size=5)


@few
@given(words, words, st.builds(EditPrices, insert=st.integers(1, 5), delete=st.integers(1, 5),
                               replace=st.integers(1, 9)))  # fmt: skip
def test_the_edit_cost_is_the_cheapest_of_all_choices(source, goal, prices):
    assert edit_cost(source, goal, prices) == cheapest_edit(source, goal, prices)


@cache
def cheapest_edit(source, goal, prices):
    if not source or not goal:
        return len(source) * prices.delete + len(goal) * prices.insert
    swapped = 0 if source[-1] == goal[-1] else prices.replace
    return min(
        cheapest_edit(source[:-1], goal, prices) + prices.delete,
        cheapest_edit(source, goal[:-1], prices) + prices.insert,
        cheapest_edit(source[:-1], goal[:-1], prices) + swapped,
    )


def test_the_edit_cost_asked_for_is_the_cheapest():
    assert expected("edit_distance") == str(cheapest_edit(SOURCE, GOAL, PRICES))


squares = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n)
)


@few
@given(squares)
def test_the_cheapest_assignment_is_the_best_permutation(costs):
    sums = [
        sum(costs[row][to] for row, to in enumerate(p)) for p in permutations(range(len(costs)))
    ]
    found = cheapest(costs)
    assert (found.cost, found.ways) == (min(sums), sums.count(min(sums)))
    assert sum(costs[row][column] for row, column in enumerate(found.columns)) == found.cost
    assert row_by_row(costs) >= found.cost


def test_the_assignment_asked_for_is_the_only_cheapest():
    sums = sorted(
        sum(assignment.COSTS[row][to] for row, to in enumerate(p)) for p in permutations(range(5))
    )
    assert expected("assignment") == str(sums[0])
    assert sums[0] < sums[1]


def test_the_cipher_is_what_each_step_by_hand_gives():
    steps = ["SENIRUOBMAT", "SINORAUBMET", "TINORAUBMES", "TIORUBES", "TIOR-UBES"]
    assert [changed(WORD, CHANGES[:count]) for count in range(1, 6)] == steps
    assert expected("instruction_cipher") == steps[-1]
