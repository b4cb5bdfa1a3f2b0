"""``assignment``: five crews, five sites, each crew to one site, at the least total cost."""

from bench.cases.cheapest_assignment import cheapest, row_by_row
from bench.cases.problem import Problem, problem_case

CREWS = ("Ash", "Birch", "Cedar", "Dogwood", "Elm")
COSTS = (
    (45, 24, 30, 48, 64),
    (35, 68, 28, 26, 63),
    (52, 34, 29, 65, 60),
    (45, 43, 36, 39, 42),
    (60, 66, 43, 45, 45),
)

ASSIGNMENT = problem_case(
    Problem(
        id="assignment",
        name="Assignment",
        category="reasoning",
        dimension="optimisation",
        difficulty="medium",
        description="gives each crew another site at the least total cost",
        question="\n".join(
            [
                "Five crews are sent to the sites 1 to 5, one crew to each site. What each crew "
                "costs at site 1, 2, 3, 4, 5:",
                *(
                    f"- {crew}: {', '.join(map(str, row))}"
                    for crew, row in zip(CREWS, COSTS, strict=True)
                ),
                "\nWhat is the least total cost?",
            ]
        ),
        form="the total cost",
        solve=lambda: cheapest(COSTS).cost,
        mistake=lambda: row_by_row(COSTS),
    )
)

CASES = (ASSIGNMENT,)
