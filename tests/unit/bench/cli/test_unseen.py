"""What of our own command line stays, and how words are handed over."""

import os
import sys

import pytest

from bench.cli.unseen import VARIABLE, own_words, plain_flags


@pytest.mark.parametrize(
    ("original", "seen", "expected"),
    [
        pytest.param(
            ["python", "-m", "orchestrator", "run", "m"],
            ["/x/orchestrator/__main__.py", "run", "m"],
            [],
            id="a module",
        ),
        pytest.param(
            ["python", "-X", "dev", "-P", "-m", "orchestrator"],
            ["/x/orchestrator/__main__.py"],
            ["-X", "dev", "-P"],
            id="Python's own options stay",
        ),
        pytest.param(
            ["/x/bin/python", "/x/bin/gateway-bench", "stop"],
            ["/x/bin/gateway-bench", "stop"],
            ["-P"],
            id="a script, without the working directory in the import path",
        ),
        pytest.param(
            ["python", "-m", "pdb", "-m", "orchestrator", "run"],
            ["orchestrator", "run"],
            None,
            id="a debugger runs us",
        ),
        pytest.param(
            ["/x/bin/python", "/x/bin/pytest", "-q"],
            ["/x/bin/pytest", "-q"],
            None,
            id="another script runs us",
        ),
        pytest.param(["python", "-c", "main()"], ["-c"], None, id="another program runs us"),
        pytest.param(["python"], [""], None, id="an interactive one"),
    ],
)
def test_only_what_was_started_as_itself_begins_again(original, seen, expected):
    assert plain_flags(original, seen, "orchestrator") == expected


def test_run_by_another_program_the_words_are_taken_as_they_are():
    assert VARIABLE not in os.environ
    assert own_words("nobody") == sys.argv[1:]


@pytest.mark.parametrize("handed", ["-1", "no number", "100000"])
def test_a_number_that_names_no_file_is_no_handing_over(handed):
    os.environ[VARIABLE] = handed
    assert own_words("nobody") == sys.argv[1:]
    assert VARIABLE not in os.environ
