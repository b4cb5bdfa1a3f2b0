import msgspec
import pytest

from bench.cases import CASES, CODING_IDS, PROFILES, SUITES, list_cases, select_cases
from bench.errors import UnknownName
from bench.evaluators import evaluate

SMOKE = [
    "seeded_shortest_path",
    "seeded_shortest_path_paraphrase",
    "seeded_structured_extraction",
    "seeded_grounded_unknown",
    "instruction_hierarchy_document",
    "tool_selection_exact",
    "fixed_output_stream",
]

CAPABILITY = [
    "seeded_shortest_path",
    "seeded_shortest_path_paraphrase",
    "seeded_shortest_path_distractor",
    "seeded_structured_extraction",
    "seeded_grounded_known",
    "seeded_grounded_unknown",
    "seeded_long_context_needles",
    "reasoning_effort_none",
    "reasoning_effort_low",
    "reasoning_effort_high",
    "instruction_hierarchy_document",
    "multilingual_instruction_german",
    "false_critique_resistance",
    "calibrated_probability",
    "tool_selection_exact",
]
FIXED_QUALITY = [
    "number_theory_powmod",
    "number_theory_crt",
    "knapsack",
    "shortest_path",
    "topological_orders",
    "constrained_strings",
    "recurrence",
    "boolean_constraints",
    "hypergeometric",
    "weighted_scheduling",
    "determinant",
    "javascript_trace",
    "edit_distance",
    "assignment",
    "instruction_cipher",
]
LOAD = [
    "output_length_32",
    "output_length_256",
    "output_length_1024",
    "input_length_1000",
    "input_length_8000",
    "input_length_32000",
    "concurrency_1",
    "concurrency_2",
    "concurrency_4",
    "concurrency_8",
    "concurrency_16",
]

# The published shape: runs, warm-ups, token limit, effort, requests in flight.
SHAPES = {
    "seeded_shortest_path": (2, 0, 768, "none", 1),
    "seeded_shortest_path_paraphrase": (2, 0, 768, "none", 1),
    "seeded_shortest_path_distractor": (2, 0, 768, "none", 1),
    "seeded_structured_extraction": (2, 0, 256, "none", 1),
    "seeded_grounded_known": (2, 0, 128, None, 1),
    "seeded_grounded_unknown": (2, 0, 128, None, 1),
    "seeded_long_context_needles": (1, 0, 256, None, 1),
    "reasoning_effort_none": (2, 0, 1_024, "none", 1),
    "reasoning_effort_low": (2, 0, 1_024, "low", 1),
    "reasoning_effort_high": (2, 0, 1_024, "high", 1),
    "instruction_hierarchy_document": (2, 0, 128, None, 1),
    "multilingual_instruction_german": (2, 0, 256, None, 1),
    "false_critique_resistance": (2, 0, 256, None, 1),
    "calibrated_probability": (3, 0, 512, None, 1),
    "tool_selection_exact": (2, 0, 256, None, 1),
    **dict.fromkeys(FIXED_QUALITY, (1, 0, 1_024, None, 1)),
    "fixed_output_stream": (5, 1, 512, "none", 1),
    "output_length_32": (10, 0, 32, None, 1),
    "output_length_256": (10, 0, 256, None, 1),
    "output_length_1024": (5, 0, 1_024, None, 1),
    "input_length_1000": (3, 1, 64, None, 1),
    "input_length_8000": (3, 1, 64, None, 1),
    "input_length_32000": (3, 1, 64, None, 1),
    "concurrency_1": (20, 1, 128, None, 1),
    "concurrency_2": (20, 2, 128, None, 2),
    "concurrency_4": (20, 4, 128, None, 4),
    "concurrency_8": (32, 8, 128, None, 8),
    "concurrency_16": (64, 16, 128, None, 16),
}
ALL = [*CAPABILITY, *FIXED_QUALITY, "fixed_output_stream", *LOAD]

# A changed hash means that results of before and after can't be compared: change it on purpose.
TEXT_HASHES = {
    "seeded_shortest_path": "ee80b4106eece155",
    "seeded_shortest_path_paraphrase": "f4cce90ee362c9ec",
    "seeded_shortest_path_distractor": "221266b1d8bdf36e",
    "seeded_structured_extraction": "3198fe362bdedc94",
    "seeded_grounded_known": "4116915042e0aed5",
    "seeded_grounded_unknown": "5d4172462fa8341e",
    "seeded_long_context_needles": "5850073a83625f38",
    "reasoning_effort_none": "e3e0f0a20ec4b513",
    "reasoning_effort_low": "4446e9f1e8870c55",
    "reasoning_effort_high": "49f84aec110d45ee",
    "instruction_hierarchy_document": "3d98d04bd2607aed",
    "multilingual_instruction_german": "baf660af570ecabe",
    "false_critique_resistance": "ee8f81cc08f50296",
    "calibrated_probability": "afed30637b92ad7f",
    "tool_selection_exact": "119abf7284635eb9",
    "number_theory_powmod": "ca3fabdd48998390",
    "number_theory_crt": "9032b40292b24784",
    "knapsack": "8ce4898131aec51f",
    "shortest_path": "3cbe5ca44e7ad1e1",
    "topological_orders": "4a879d97b437f753",
    "constrained_strings": "8fa339ed5a277f05",
    "recurrence": "9e9c7d12e58e2b10",
    "boolean_constraints": "c34574cc6feef361",
    "hypergeometric": "d3af5e3b47555d59",
    "weighted_scheduling": "ef4fe8c9aa1f5d23",
    "determinant": "21fdb49476c795c8",
    "javascript_trace": "cb0f45339d6b8aa1",
    "edit_distance": "ed0d4346f8da2f7c",
    "assignment": "e3f5b55e9eadc976",
    "instruction_cipher": "a0dabafb4a1e5ba0",
    "fixed_output_stream": "921e5936bac1ba1b",
    "output_length_32": "ff0068b69106d1f5",
    "output_length_256": "1983e5d7174cc72e",
    "output_length_1024": "2b05d87248d2d160",
    "input_length_1000": "98ad0d85a993a5c2",
    "input_length_8000": "79e5c9cca4513f32",
    "input_length_32000": "77097d249c644282",
    "concurrency_1": "571fcabb50ce32ea",
    "concurrency_2": "89953e5f1c5929f4",
    "concurrency_4": "4c145772bda6a466",
    "concurrency_8": "4cd335136e67d7ae",
    "concurrency_16": "6e24c754df5c194a",
}


def test_every_case_is_there_in_its_order_and_has_its_shape_and_hash_pinned():
    assert list(CASES) == ALL
    assert SHAPES.keys() == TEXT_HASHES.keys() == CASES.keys()


@pytest.mark.parametrize("case_id", ALL)
def test_each_case_has_its_published_shape(case_id):
    case = CASES[case_id]
    request = case.build(1).request
    assert SHAPES[case_id] == (
        case.info.runs,
        case.info.warmup_runs,
        request.max_tokens,
        request.reasoning_effort,
        case.info.concurrency,
    )
    assert request.temperature == 0.0
    assert case.info.is_load_point == case_id.startswith("concurrency_")


@pytest.mark.parametrize("case_id", ALL)
def test_cases_are_the_same_on_every_machine_and_python(case_id):
    text_hash = CASES[case_id].info.text_hash
    assert text_hash is not None
    assert text_hash[:16] == TEXT_HASHES[case_id]


@pytest.mark.parametrize("case_id", ALL)
def test_the_same_seed_builds_the_same_instance(case_id):
    for seed in range(3):
        first, second = (CASES[case_id].build(seed) for _ in range(2))
        assert first.request == second.request
        assert (first.expected, first.book, first.book_wrong) == (
            second.expected,
            second.book,
            second.book_wrong,
        )


@pytest.mark.parametrize(
    "case_id", [case_id for case_id in ALL if CASES[case_id].build(1).evaluate is not None]
)
def test_the_books_answers_are_judged_right_and_wrong_at_every_seed(case_id):
    for seed in range(40 if case_id.startswith(("seeded", "reasoning")) else 1):
        instance = CASES[case_id].build(seed)
        assert instance.book is not None
        assert instance.book_wrong is not None
        right, wrong = evaluate(instance, instance.book), evaluate(instance, instance.book_wrong)
        assert right is not None
        assert wrong is not None
        assert (right.passed, wrong.passed) == (True, False)
        assert right.expected == instance.expected
        assert right.metrics.get("seedPassed", True) is True


@pytest.mark.parametrize("case_id", ALL)
def test_prompts_have_no_space_at_their_ends_that_a_gateway_might_trim(case_id):
    for message in CASES[case_id].build(1).request.messages:
        assert message.content is not None
        assert message.content.strip() == message.content


@pytest.mark.parametrize("case_id", ALL)
def test_prompts_do_not_contain_their_answer_line(case_id):
    instance = CASES[case_id].build(1)
    if case_id == "seeded_grounded_unknown":  # the form of abstaining has to be told
        return
    text = " ".join(message.content or "" for message in instance.request.messages)
    assert f"FINAL: {instance.expected}" not in text


def test_profiles_and_suites_hold_their_cases_in_order():
    assert {name: list(profile.case_ids) for name, profile in PROFILES.items()} == {
        "smoke": SMOKE,
        "standard": [*CAPABILITY, *FIXED_QUALITY, "fixed_output_stream"],
        "load": LOAD,
        "coding": list(CODING_IDS),
    }
    assert {name: list(suite.case_ids) for name, suite in SUITES.items()} == {
        "core": SMOKE,
        "capability": CAPABILITY,
        "quality": [*CAPABILITY, *FIXED_QUALITY],
        "performance": ["fixed_output_stream"],
        "load": LOAD,
        "coding": list(CODING_IDS),
    }
    budgets = {name: profile.default_budget_ms for name, profile in PROFILES.items()}
    assert budgets.pop("coding") == 300_000
    assert set(budgets.values()) == {60_000}
    assert all(profile.description for profile in PROFILES.values())
    assert all(suite.description for suite in SUITES.values())


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
        ({"suite": "code"}, "no suite `code`; did you mean `core` or `coding` or `load`?"),
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
    rows = list_cases(CASES.values())
    assert [row.id for row in rows] == ALL
    assert msgspec.to_builtins(rows[ALL.index("fixed_output_stream")]) == {
        "id": "fixed_output_stream",
        "kind": "performance",
        "category": "performance",
        "difficulty": "easy",
        "runs": 5,
        "warmupRuns": 1,
        "maxTokens": 512,
        "profiles": ("smoke", "standard"),
        "suites": ("core", "performance"),
        "description": "streams 512 tokens of prose: time to first token, gaps, speed, buffering",
    }
    assert all(row.description for row in rows)


@pytest.mark.parametrize("variant", ["paraphrase", "distractor"])
def test_a_variant_names_what_it_varies(variant):
    info = CASES[f"seeded_shortest_path_{variant}"].info
    assert (info.variant, info.variant_of) == (variant, "seeded_shortest_path")
    assert info.seed_group == CASES["seeded_shortest_path"].info.seed_group
