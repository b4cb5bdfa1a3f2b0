"""How an end is read, named and told."""

import pytest

from orchestrator.events import Exit, classify, described, from_wait_status, last_words


@pytest.mark.parametrize(
    ("status", "code", "number"),
    [
        (0, 0, None),
        (256, 1, None),
        (0xFF00, 255, None),
        (9, None, 9),
        (15, None, 15),
        (134, None, 6),
    ],
)
def test_a_wait_status_is_a_code_or_a_signal(status, code, number):
    end = from_wait_status(status, "pidfd")
    assert (end.code, end.signal, end.source) == (code, number, "pidfd")


@pytest.mark.parametrize(
    ("end", "rose", "name"),
    [
        pytest.param(Exit(signal=15), False, "gateway_killed", id="SIGTERM"),
        pytest.param(Exit(signal=9), False, "gateway_killed", id="SIGKILL"),
        pytest.param(Exit(signal=9), True, "gateway_oom", id="SIGKILL while memory kills rose"),
        pytest.param(Exit(signal=15), True, "gateway_killed", id="SIGTERM is never the kernel's"),
        pytest.param(Exit(signal=9, by_memory=True), False, "gateway_oom", id="jetsam"),
        pytest.param(Exit(signal=6), False, "gateway_crash", id="abort"),
        pytest.param(Exit(signal=11), False, "gateway_crash", id="segmentation fault"),
        pytest.param(Exit(code=1), False, "gateway_crash", id="exit 1"),
        pytest.param(Exit(code=0), False, "gateway_stopped", id="exit 0 is not normal"),
        pytest.param(Exit(), False, "gateway_stopped", id="nobody can tell"),
    ],
)
def test_each_way_to_end_has_its_class(end, rose, name):
    assert classify(end, oom_kills_rose=rose) == name


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (Exit(signal=9), "was ended by SIGKILL"),
        (Exit(signal=37), "was ended by signal 37"),
        (Exit(code=3), "exited with status 3"),
        (Exit(), "ended, nobody can tell how"),
    ],
)
def test_an_end_is_told_in_words(end, text):
    assert described(end) == text


@pytest.mark.parametrize(
    ("error", "line"),
    [
        pytest.param(None, None, id="none seen"),
        pytest.param("\n \n", None, id="empty"),
        pytest.param("TypeError: no\n    at x.js:1:2", "TypeError: no", id="Node"),
        pytest.param(
            'Traceback (most recent call last):\n  File "x", line 1\nKeyError: 7\n',
            "KeyError: 7",
            id="Python",
        ),
        pytest.param("x" * 300, "x" * 200 + "…", id="a long one"),
    ],
)
def test_the_last_words_are_the_line_that_names_the_error(error, line):
    assert last_words(Exit(code=1, error=error)) == line
