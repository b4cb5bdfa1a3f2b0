"""``weighted_scheduling``: bookings of one hall that do not overlap and earn the most."""

from bisect import bisect_right
from collections.abc import Sequence

from bench.cases.problem import Problem, problem_case

Booking = tuple[str, int, int, int]
"""Name, first hour, hour at which it is over, fee."""

BOOKINGS: tuple[Booking, ...] = (
    ("choir", 8, 11, 36), ("dance", 9, 13, 61), ("fair", 11, 16, 50), ("lecture", 13, 15, 24),
    ("market", 10, 14, 59), ("play", 15, 19, 47), ("quiz", 16, 18, 29), ("rally", 14, 17, 36),
    ("show", 18, 21, 42), ("talk", 17, 20, 47),
)  # fmt: skip


def best_fee(bookings: Sequence[Booking]) -> int:
    """Return the largest sum of fees of bookings that do not overlap."""
    ordered = sorted(bookings, key=lambda booking: booking[2])
    ends = [end for _, _, end, _ in ordered]
    best = [0]
    for index, (_, start, _, fee) in enumerate(ordered):
        # One may begin in the hour in which another is over.
        before = bisect_right(ends, start, 0, index)
        best.append(max(best[-1], best[before] + fee))
    return best[-1]


def fee_of_the_dearest_first(bookings: Sequence[Booking]) -> int:
    """Return the sum of always taking the highest fee that still fits."""
    taken: list[Booking] = []
    for booking in sorted(bookings, key=lambda entry: entry[3], reverse=True):
        if all(booking[2] <= start or end <= booking[1] for _, start, end, _ in taken):
            taken.append(booking)
    return sum(fee for _, _, _, fee in taken)


WEIGHTED_SCHEDULING = problem_case(
    Problem(
        id="weighted_scheduling",
        name="Weighted scheduling",
        category="reasoning",
        dimension="optimisation",
        difficulty="medium",
        description="chooses bookings that do not overlap and earn the most",
        question="\n".join(
            [
                "A hall can be let to one group at a time. These groups ask for it:",
                *(
                    f"- {name}: {start}:00 to {end}:00, pays {fee}"
                    for name, start, end, fee in BOOKINGS
                ),
                "\nA group may come in at the hour at which another leaves. What is the most that "
                "the hall can earn?",
            ]
        ),
        form="the total",
        solve=lambda: best_fee(BOOKINGS),
        mistake=lambda: fee_of_the_dearest_first(BOOKINGS),
    )
)

CASES = (WEIGHTED_SCHEDULING,)
