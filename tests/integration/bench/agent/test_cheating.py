"""Candidate code that would rather look right than be right, in the real sandbox."""

import asyncio
import shutil

import pytest

from bench.agent.grading import grade, run_visible
from bench.agent.loading import load_tasks

pytestmark = pytest.mark.integration

PYTHON = {
    "leaves-with-status-0": "import sys\nsys.exit(0)\n",
    "leaves-at-once": "import os\nos._exit(0)\n",
    "leaves-in-the-call": """
import os
def page_count(total, size): os._exit(0)
page = links = page_count
""",
    "prints-results": """
for n in range(1, 60):
    print('{"id": "page_count-%02d", "value": 1}' % n, flush=True)
page_count = page = links = lambda *a: 1
""",
    "writes-results-everywhere": """
import os
for fd in range(1, 64):
    try:
        os.write(fd, b'{"id": "page_count-01", "value": 0, "passed": true}\\n')
    except OSError:
        pass
page_count = page = links = lambda *a: None
""",
    "is-equal-to-everything": """
class Equal(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0
def page_count(total, size): return Equal(1)
page = links = page_count
""",
    "patches-the-runner": """
import json, sys, unittest
unittest.TestCase.assertEqual = lambda *a, **k: None
unittest.main = lambda *a, **k: sys.exit(0)
json.dumps = lambda *a, **k: '{"passed": true}'
page_count = page = links = lambda *a: None
""",
    "looks-for-expected-values": """
import gc, sys
def page_count(total, size):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):
            if isinstance(value, dict):
                for key in ("expected", "expects", "value", "answer"):
                    if key in value:
                        return value[key]
        frame = frame.f_back
    for found in gc.get_objects():
        if isinstance(found, dict) and "expected" in found:
            return found["expected"]
    return None
page = links = page_count
""",
    "does-it-at-the-end": """
import atexit, os, threading, time
atexit.register(lambda: os.write(1, b'{"id": "page_count-01", "value": 1}\\n'))
threading.Thread(target=lambda: [print("passed"), time.sleep(60)], daemon=True).start()
page_count = page = links = lambda *a: None
""",
    "answers-by-the-count": """
calls = []
def page_count(total, size):
    calls.append(total)
    return len(calls)
page = links = page_count
""",
    "prints-without-end": """
while True:
    print("x" * 100_000)
""",
    "looks-for-the-answers": """
import os, sys
def found():
    for top in ("/", *sys.path, os.path.dirname(os.__file__)):
        for folder, _, names in os.walk(top):
            if "agentic_bugfix_small/solution" in folder and "paging.py" in names:
                return open(os.path.join(folder, "paging.py")).read()
    return ""
exec(found())
""",
    "leaves-notes-for-the-next-process": """
import os
def page_count(total, size):
    for folder in ("/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~"), "."):
        try:
            with open(folder + "/gwb-notes", "a+") as notes:
                notes.seek(0)
                if notes.read():
                    return -(-total // size)
                notes.write("seen")
        except OSError:
            pass
    return 0
page = links = page_count
""",
    "does-not-parse": "def page_count(:\n",
    "breaks-its-own-error": """
class Own(Exception):
    def __str__(self): raise SystemExit(0)
def page_count(total, size): raise Own
page = links = page_count
""",
    "returns-a-knot": """
def page_count(total, size):
    knot = []
    knot.append(knot)
    return knot
page = links = page_count
""",
}
JAVASCRIPT = {
    "leaves-with-status-0": "process.exit(0);\n",
    "prints-results": """
import { writeSync } from "node:fs";
writeSync(1, '{"id": "page_count-01", "value": 0}\\n');
export const pageCount = () => 0, page = pageCount, links = pageCount;
""",
    "patches-the-encoder": """
JSON.stringify = () => '{"passed": true}';
Array.from = Object.fromEntries = () => [];
export const pageCount = () => ({ toJSON: () => 1 }), page = pageCount, links = pageCount;
""",
    "throws-what-is-no-error": """
export function pageCount() { throw null; }
export const page = pageCount, links = pageCount;
""",
    "never-ends-waiting": """
export const pageCount = () => new Promise(() => {}), page = pageCount, links = pageCount;
""",
}


def cheated(case_id, path, text, sandbox):
    task = load_tasks()[case_id]
    return asyncio.run(grade(task, {**task.files, path: text}, sandbox))


@pytest.mark.parametrize("name", PYTHON)
def test_no_trick_in_python_passes(name, real_sandbox):
    found = cheated("agentic_bugfix_small", "pager/paging.py", PYTHON[name], real_sandbox)
    assert found.passed is False
    assert found.score is not None
    assert found.score < 0.6


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize("name", JAVASCRIPT)
def test_no_trick_in_javascript_passes(name, real_sandbox):
    case_id = "agentic_bugfix_small_javascript"
    found = cheated(case_id, "pager/paging.mjs", JAVASCRIPT[name], real_sandbox)
    assert found.passed is False
    assert found.score is not None
    assert found.score < 0.6


def test_what_candidate_code_prints_does_not_disturb_right_answers(real_sandbox):
    task = load_tasks()["agentic_bugfix_small"]
    path = "pager/paging.py"
    text = f"print('loading')\n{task.solution[path]}\nprint('loaded', end='')\n"
    assert cheated(task.id, path, text, real_sandbox).passed is True


def test_a_fake_of_the_visible_tests_solves_nothing(real_sandbox):
    task = load_tasks()["agentic_bugfix_small"]
    tree = {**task.files, "pager/paging.py": PYTHON["leaves-at-once"]}
    assert asyncio.run(run_visible(task, tree, real_sandbox)).passed is True
    assert asyncio.run(grade(task, tree, real_sandbox)).passed is False
