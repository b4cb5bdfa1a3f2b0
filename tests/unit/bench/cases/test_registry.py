import msgspec
import pytest

from bench.cases import CASES, PROFILES, SUITES, list_cases, select_cases
from bench.errors import UnknownName
from bench.evaluators import evaluate
from bench.prompt import prompt_hash

SMOKE = [
    "seeded_shortest_path",
    "seeded_shortest_path_paraphrase",
    "seeded_structured_extraction",
    "seeded_grounded_unknown",
    "instruction_hierarchy_document",
    "tool_selection_exact",
    "fixed_output_stream",
]

# The published shape: runs, warm-ups, token limit, effort.
SHAPES = {
    "seeded_shortest_path": (2, 0, 768, "none"),
    "seeded_shortest_path_paraphrase": (2, 0, 768, "none"),
    "seeded_structured_extraction": (2, 0, 256, "none"),
    "seeded_grounded_unknown": (2, 0, 128, None),
    "instruction_hierarchy_document": (2, 0, 128, None),
    "tool_selection_exact": (2, 0, 256, None),
    "fixed_output_stream": (5, 1, 512, "none"),
}

# A changed hash means that results of before and after can't be compared: change it on purpose.
TEXT_HASHES = {
    "seeded_shortest_path": "ee80b4106eece155",
    "seeded_shortest_path_paraphrase": "f4cce90ee362c9ec",
    "seeded_structured_extraction": "3198fe362bdedc94",
    "seeded_grounded_unknown": "5d4172462fa8341e",
    "instruction_hierarchy_document": "3d98d04bd2607aed",
    "tool_selection_exact": "119abf7284635eb9",
    "fixed_output_stream": "921e5936bac1ba1b",
}


@pytest.mark.parametrize("case_id", SMOKE)
def test_each_case_has_its_published_shape(case_id):
    case = CASES[case_id]
    request = case.build(1).request
    shape = case.info.runs, case.info.warmup_runs, request.max_tokens, request.reasoning_effort
    assert shape == SHAPES[case_id]
    assert request.temperature == 0.0
    assert case.info.concurrency == 1


@pytest.mark.parametrize("case_id", SMOKE)
def test_cases_are_the_same_on_every_machine_and_python(case_id):
    text_hash = CASES[case_id].info.text_hash
    assert text_hash is not None
    assert text_hash[:16] == TEXT_HASHES[case_id]


@pytest.mark.parametrize("case_id", SMOKE)
def test_the_same_seed_builds_the_same_instance(case_id):
    for seed in range(20):
        first, second = (CASES[case_id].build(seed) for _ in range(2))
        assert first.request == second.request
        assert (first.expected, first.book, first.book_wrong) == (
            second.expected,
            second.book,
            second.book_wrong,
        )


@pytest.mark.parametrize(
    "case_id", [case_id for case_id in SMOKE if CASES[case_id].build(1).evaluate is not None]
)
def test_the_books_answers_are_judged_right_and_wrong_at_every_seed(case_id):
    for seed in range(40):
        instance = CASES[case_id].build(seed)
        assert instance.book is not None
        assert instance.book_wrong is not None
        right, wrong = evaluate(instance, instance.book), evaluate(instance, instance.book_wrong)
        assert right is not None
        assert wrong is not None
        assert (right.passed, wrong.passed) == (True, False)
        assert right.expected == instance.expected
        assert right.metrics.get("seedPassed", True) is True


@pytest.mark.parametrize("case_id", [case_id for case_id in SMOKE if "seeded" in case_id])
def test_other_seeds_ask_other_things(case_id):
    prompts = {
        prompt_hash(
            message.content or "" for message in CASES[case_id].build(seed).request.messages
        )
        for seed in range(100)
    }
    assert len(prompts) == 100


@pytest.mark.parametrize("case_id", SMOKE)
def test_prompts_have_no_space_at_their_ends_that_a_gateway_might_trim(case_id):
    for message in CASES[case_id].build(1).request.messages:
        assert message.content is not None
        assert message.content.strip() == message.content


@pytest.mark.parametrize("case_id", SMOKE)
def test_prompts_do_not_contain_their_answer_line(case_id):
    instance = CASES[case_id].build(1)
    if case_id == "seeded_grounded_unknown":  # the form of abstaining has to be told
        return
    text = " ".join(message.content or "" for message in instance.request.messages)
    assert f"FINAL: {instance.expected}" not in text


def test_smoke_and_core_hold_the_seven_cases_in_order():
    assert list(PROFILES["smoke"].case_ids) == list(SUITES["core"].case_ids) == SMOKE
    assert PROFILES["smoke"].default_budget_ms == 60_000


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param({}, SMOKE, id="default"),
        pytest.param({"profile": "smoke"}, SMOKE, id="profile"),
        pytest.param({"suite": "core"}, SMOKE, id="suite"),
        pytest.param({"case_ids": SMOKE[:1] * 2}, SMOKE[:1], id="a-case-twice-counts-once"),
        pytest.param({"case_ids": SMOKE[5:1:-1]}, SMOKE[5:1:-1], id="order-as-typed"),
    ],
)
def test_selectors_give_cases(selector, expected):
    assert [case.info.id for case in select_cases(**selector)] == expected


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ({"profile": "smok"}, "no profile `smok`; did you mean `smoke`?"),
        ({"suite": "quality"}, "no suite `quality`"),
        ({"suite": "cores", "case_ids": SMOKE}, "no suite `cores`; did you mean `core`?"),
        (
            {"case_ids": ["fixed_output_steam"]},
            "no case `fixed_output_steam`; did you mean `fixed_output_stream`?",
        ),
    ],
)
def test_an_unknown_name_is_an_error_with_near_matches(selector, message):
    with pytest.raises(UnknownName) as caught:
        select_cases(**selector)
    assert caught.value.message == message
    assert caught.value.hint == "`gateway-bench cases` lists what there is"
    assert caught.value.exit_code == 2


def test_the_list_names_every_case_with_what_a_person_chooses_by():
    rows = list_cases()
    assert [row.id for row in rows] == SMOKE
    assert msgspec.to_builtins(rows[-1]) == {
        "id": "fixed_output_stream",
        "kind": "performance",
        "category": "performance",
        "difficulty": "easy",
        "runs": 5,
        "warmupRuns": 1,
        "maxTokens": 512,
        "profiles": ("smoke",),
        "suites": ("core",),
        "description": "streams 512 tokens of prose: time to first token, gaps, speed, buffering",
    }
    assert all(row.description for row in rows)


def test_a_paraphrase_names_what_it_varies():
    info = CASES["seeded_shortest_path_paraphrase"].info
    assert (info.variant, info.variant_of) == ("paraphrase", "seeded_shortest_path")
    assert info.seed_group == CASES["seeded_shortest_path"].info.seed_group
