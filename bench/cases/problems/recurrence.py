"""``recurrence``: a far term of a sequence, modulo a number that keeps it short."""

from bench.cases.problem import Problem, problem_case

INDEX = 20
MODULUS = 1_000

Row = tuple[int, int, int]
Matrix = tuple[Row, Row, Row]

_STEP: Matrix = ((2, 3, 5), (1, 0, 0), (0, 0, 1))
"""(x(n), x(n - 1), 1) from (x(n - 1), x(n - 2), 1)."""


def term(index: int, modulus: int) -> int:
    """Return x(``index``) modulo ``modulus``, by powers of the matrix of one step.

    x(0) = 1, x(1) = 4, x(n) = 2 x(n - 1) + 3 x(n - 2) + 5.
    """
    power: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    square, left = _STEP, index
    while left:
        if left & 1:
            power = _product(power, square, modulus)
        square = _product(square, square, modulus)
        left >>= 1
    # The lower row of the power turns (x(1), x(0), 1) into x(index).
    row = power[1]
    return (row[0] * 4 + row[1] * 1 + row[2]) % modulus


def _product(left: Matrix, right: Matrix, modulus: int) -> Matrix:
    columns = tuple(zip(*right, strict=True))
    a, b, c = (
        tuple(sum(x * y for x, y in zip(row, column, strict=True)) % modulus for column in columns)
        for row in left
    )
    return (_row(a), _row(b), _row(c))


def _row(values: tuple[int, ...]) -> Row:
    first, second, third = values
    return first, second, third


RECURRENCE = problem_case(
    Problem(
        id="recurrence",
        name="Recurrence",
        category="mathematics",
        dimension="arithmetic",
        difficulty="medium",
        description="follows a recurrence for many exact steps",
        question="A sequence begins with x(0) = 1 and x(1) = 4. After that, "
        "x(n) = 2 * x(n-1) + 3 * x(n-2) + 5.\n"
        f"What is the remainder of x({INDEX}) divided by {MODULUS}?",
        form="the remainder",
        solve=lambda: term(INDEX, MODULUS),
        # One step too few.
        mistake=lambda: term(INDEX - 1, MODULUS),
    )
)

CASES = (RECURRENCE,)
