"""``determinant``: of a four by four matrix; it is negative."""

from collections.abc import Sequence

from bench.cases.problem import Problem, problem_case

MATRIX = (
    (3, -2, 5, 1),
    (7, 2, 0, -3),
    (0, 4, -1, 6),
    (-1, 5, 2, 8),
)


def determinant(matrix: Sequence[Sequence[int]]) -> int:
    """Return the determinant by Bareiss' elimination: whole numbers all the way."""
    rows = [list(row) for row in matrix]
    sign, previous = 1, 1
    for step in range(len(rows) - 1):
        pivot = next((at for at in range(step, len(rows)) if rows[at][step]), None)
        if pivot is None:
            return 0
        if pivot != step:
            rows[step], rows[pivot] = rows[pivot], rows[step]
            sign = -sign
        for row in rows[step + 1 :]:
            factor = row[step]
            for at in range(step, len(rows)):
                # The division is exact: the quotient is a minor of the matrix.
                row[at] = (row[at] * rows[step][step] - factor * rows[step][at]) // previous
        previous = rows[step][step]
    return sign * rows[-1][-1]


DETERMINANT = problem_case(
    Problem(
        id="determinant",
        name="Determinant",
        category="mathematics",
        dimension="arithmetic",
        difficulty="medium",
        description="computes a determinant with signs: long exact arithmetic",
        question="What is the determinant of this matrix?\n\n"
        + "\n".join("[ " + "  ".join(f"{entry:2d}" for entry in row) + " ]" for row in MATRIX),
        form="the determinant",
        solve=lambda: determinant(MATRIX),
        mistake=lambda: -determinant(MATRIX),
    )
)

CASES = (DETERMINANT,)
