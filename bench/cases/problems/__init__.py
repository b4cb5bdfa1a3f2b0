"""Fixed problems whose answers are computed: a solver, a wording and a likely slip in each file."""

from bench.cases.problems.assignment import ASSIGNMENT
from bench.cases.problems.cipher import INSTRUCTION_CIPHER
from bench.cases.problems.constraints import BOOLEAN_CONSTRAINTS
from bench.cases.problems.crt import NUMBER_THEORY_CRT
from bench.cases.problems.determinant import DETERMINANT
from bench.cases.problems.edit_distance import EDIT_DISTANCE
from bench.cases.problems.hypergeometric import HYPERGEOMETRIC
from bench.cases.problems.javascript import JAVASCRIPT_TRACE
from bench.cases.problems.knapsack import KNAPSACK
from bench.cases.problems.powmod import NUMBER_THEORY_POWMOD
from bench.cases.problems.recurrence import RECURRENCE
from bench.cases.problems.scheduling import WEIGHTED_SCHEDULING
from bench.cases.problems.strings import CONSTRAINED_STRINGS
from bench.cases.problems.topological import TOPOLOGICAL_ORDERS
from bench.cases.problems.voucher_path import SHORTEST_PATH_WITH_VOUCHER

PROBLEMS = (
    NUMBER_THEORY_POWMOD,
    NUMBER_THEORY_CRT,
    KNAPSACK,
    SHORTEST_PATH_WITH_VOUCHER,
    TOPOLOGICAL_ORDERS,
    CONSTRAINED_STRINGS,
    RECURRENCE,
    BOOLEAN_CONSTRAINTS,
    HYPERGEOMETRIC,
    WEIGHTED_SCHEDULING,
    DETERMINANT,
    JAVASCRIPT_TRACE,
    EDIT_DISTANCE,
    ASSIGNMENT,
    INSTRUCTION_CIPHER,
)
"""In the order in which they are asked."""
