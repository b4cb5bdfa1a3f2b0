"""Each task, its right and its wrong changes, by running them."""

import asyncio
import shutil

import pytest

from bench.agent.coding_cases import coding_cases
from bench.agent.grading import Grade, VisibleRun, grade, run_visible
from bench.agent.loading import load_tasks
from bench.agent.oracles.parcels import CONTRACTS
from bench.agent.registry import all_cases, cases_for
from bench.agent.task import changed
from bench.agent.trees import unfit
from bench.cases import CASE_IDS, CASES, CODING_IDS

pytestmark = pytest.mark.integration

# A changed hash means that results of before and after can't be compared: change it on purpose.
TEXT_HASHES = {
    "agentic_bugfix_small": "4b6e603f20e50d3a",
    "agentic_bugfix_small_javascript": "efafe1bb0dde90db",
    "agentic_feature_small": "6bbd87789f388747",
    "agentic_misleading_comment": "5771d65a32c7725e",
    "agentic_bugfix_files": "9da688a657190328",
    "agentic_api_change": "ee04772752e8a733",
    "agentic_spec_edges": "431b47af93284bff",
    "agentic_spec_edges_javascript": "a6970c2b78f6d3e5",
    "agentic_parser": "31a37f8ba3d7d01a",
    "agentic_step_counter": "330da66a931803f3",
    "agentic_interleaving": "e14d6925e9549fba",
    "agentic_migration": "6e1b46b72ef23e33",
    "agentic_forty_files": "d00184c2e8c3cc03",
    "agentic_test_cases": "897fc89e4acc28b4",
    "agentic_text_merge": "d059ac3eb85ce293",
    "agentic_registers": "4179513e30144c8a",
}


@pytest.fixture(params=CODING_IDS)
def task(request):
    found = load_tasks()[request.param]
    if found.language == "javascript" and shutil.which("node") is None:
        pytest.skip("Node is not installed")
    return found


def judged(task, trees, sandbox):
    """Return for each tree its grade and what its visible tests say; two runs at a time."""
    turns = asyncio.Semaphore(2)
    grades: dict[str, Grade] = {}
    visible: dict[str, VisibleRun] = {}

    async def keep(into, name, made):
        async with turns:
            into[name] = await made(task, trees[name], sandbox)

    async def judge_all():
        async with asyncio.TaskGroup() as group:
            for name in trees:
                group.create_task(keep(grades, name, grade))
                group.create_task(keep(visible, name, run_visible))

    asyncio.run(judge_all())
    return grades, visible


def test_the_solution_passes_and_the_fixture_and_every_wrong_change_fail(task, sandbox):
    wrong = {f"wrong/{name}": changed(task.files, change) for name, change in task.wrong.items()}
    solution = changed(task.files, task.solution)
    trees = {"fixture": task.files, "solution": solution, **wrong}
    found, visible = judged(task, trees, sandbox)
    right = found.pop("solution")
    assert [check for check in right.checks if not check.passed] == []
    assert (right.passed, right.score) == (True, 1.0)
    assert {name: grade.passed for name, grade in found.items()} == dict.fromkeys(found, False)
    ran = visible["solution"]
    assert ran.passed is True, ran.output
    assert visible["fixture"].passed is False
    # One of them satisfies what the model sees, so the visible tests alone decide nothing.
    assert any(visible[name].passed for name in wrong)


def test_a_task_is_whole(task):
    assert task.wrong
    assert task.solution
    assert task.protected <= task.files.keys()
    assert unfit(task.files) is None
    for change in (task.solution, *task.wrong.values()):
        after = changed(task.files, change)
        assert unfit(after) is None
        assert after != dict(task.files)
    # The checks come from elsewhere: no right change touches what is put back.
    assert not task.protected & task.solution.keys()


def test_a_task_becomes_a_case(task):
    case = coding_cases([task])[task.id]
    request = case.build(1).request
    assert case.build(7) == case.build(1)
    assert (case.info.kind, case.info.runs, request.max_tokens) == ("agentic", 2, 2_048)
    assert (case.info.difficulty, case.info.text_hash) == (task.difficulty, task.text_hash)
    assert [message.content for message in request.messages] == [task.prompt]


def test_there_are_four_difficulties_and_two_languages():
    tasks = load_tasks().values()
    assert {task.difficulty for task in tasks} == {"easy", "medium", "hard", "expert"}
    assert sum(task.language == "javascript" for task in tasks) == 2
    assert len(tasks) >= 12


def test_every_text_is_pinned_by_its_hash():
    assert {task.id: task.text_hash[:16] for task in load_tasks().values()} == TEXT_HASHES


def test_tasks_are_read_only_where_one_may_be_meant():
    assert cases_for(["seeded_shortest_path"]) is CASES
    assert list(cases_for(["agentic_parser"])) == list(cases_for(["agentic_parsr"]))
    assert list(all_cases()) == list(CASE_IDS)


def test_the_contracts_of_the_forty_files_are_those_that_they_are_judged_by():
    task = load_tasks()["agentic_forty_files"]
    assert task.files["docs/contract.csv"] == CONTRACTS
    assert len(task.files) == 40


def test_one_tree_gets_one_verdict(sandbox):
    task = load_tasks()["agentic_bugfix_small"]
    tree = changed(task.files, task.wrong["one_more_page"])
    first, again = (asyncio.run(grade(task, tree, sandbox)) for _ in range(2))
    assert (first.score, first.detail, first.checks) == (again.score, again.detail, again.checks)
