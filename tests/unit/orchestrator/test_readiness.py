"""Ready is decided by evidence, step by step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.ports import HealthAnswer
from orchestrator.readiness import HealthCheck, Progress, Turn, shortcoming, step

OURS = frozenset({10, 11})
GOOD = HealthAnswer(status=200, body='{"ok": true}', owners=frozenset({11}))
REFUSED = HealthAnswer(status=None, fault="connection refused")
CHECK = HealthCheck()


def progress(deadline_ns=1000, settle_ns=100):
    return Progress(deadline_ns=deadline_ns, settle_ns=settle_ns)


def turn(at_ns, answer=GOOD, *, is_dead=False):
    return Turn(at_ns=at_ns, is_dead=is_dead, answer=answer, members=OURS)


def decisions(*turns, start=None):
    now, said = start or progress(), []
    for one in turns:
        now, following = step(now, one, CHECK)
        said.append(following)
    return said


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        pytest.param([turn(1), turn(101)], ["settle", "ready"], id="good, and still good"),
        pytest.param([turn(1), turn(50), turn(101)], ["settle"] * 2 + ["ready"], id="too early"),
        pytest.param(
            [turn(1), turn(50, REFUSED), turn(101), turn(201)],
            ["settle", "ask", "settle", "ready"],
            id="a bad answer starts the settle again",
        ),
        pytest.param([turn(1), turn(101, is_dead=True)], ["settle", "died"], id="ready and dies"),
        pytest.param([turn(5, REFUSED), turn(1000, REFUSED)], ["ask", "late"], id="never"),
        pytest.param([turn(2000, None, is_dead=True)], ["died"], id="death counts before time"),
        pytest.param([turn(2000)], ["settle"], id="a good answer is never too late"),
    ],
)
def test_the_next_step_follows_from_the_turns(turns, expected):
    assert decisions(*turns) == expected


def test_different_last_answers_are_kept_and_repeats_are_not():
    now = progress()
    for answer in [REFUSED, REFUSED, HealthAnswer(status=503), REFUSED]:
        now, _ = step(now, turn(1, answer), CHECK)
    assert now.said == (
        "connection refused",
        "HTTP 503 instead of 200: an empty body",
        "connection refused",
    )


@pytest.mark.parametrize(
    ("answer", "check", "expected"),
    [
        pytest.param(GOOD, CHECK, None, id="as expected"),
        pytest.param(REFUSED, CHECK, "connection refused", id="no answer"),
        pytest.param(HealthAnswer(status=None), CHECK, "no answer", id="no answer, no reason"),
        pytest.param(
            HealthAnswer(status=302, body="x " * 100, owners=OURS),
            CHECK,
            "HTTP 302 instead of 200: `" + ("x " * 60) + "…`",
            id="a redirect is not followed, its body is cut",
        ),
        pytest.param(
            HealthAnswer(status=200, body="<html>", owners=OURS),
            HealthCheck(text="OK"),
            "HTTP 200 without `OK` in it: `<html>`",
            id="another program's page",
        ),
        pytest.param(
            HealthAnswer(status=200, body="OK", owners=OURS),
            HealthCheck(field="status"),
            "HTTP 200 whose body is no JSON: `OK`",
            id="no JSON",
        ),
        pytest.param(
            HealthAnswer(status=200, body='{"a": 1}', owners=OURS),
            HealthCheck(field="a.b"),
            'HTTP 200 whose `a.b` is missing: `{"a": 1}`',
            id="no such field",
        ),
        pytest.param(
            HealthAnswer(status=200, body='{"health": {"status": "error"}}', owners=OURS),
            HealthCheck(field="health.status", equals="ok"),
            'HTTP 200 whose `health.status` is error, not ok: `{"health": {"status": "error"}}`',
            id="says OK outside and error inside",
        ),
        pytest.param(
            HealthAnswer(status=200, body='{"up": false}', owners=OURS),
            HealthCheck(field="up"),
            'HTTP 200 whose `up` is false: `{"up": false}`',
            id="false is not true",
        ),
        pytest.param(
            HealthAnswer(status=200, body='{"up": true, "n": 1}', owners=OURS),
            HealthCheck(field="up", equals="true"),
            None,
            id="values are compared as JSON writes them",
        ),
        pytest.param(
            HealthAnswer(status=200, body="OK"),
            CHECK,
            "HTTP 200 from a process that can't be seen",
            id="nobody holds the connection",
        ),
        pytest.param(
            HealthAnswer(status=200, body="OK", owners=frozenset({7, 5})),
            CHECK,
            "HTTP 200 from another process than ours: PID 5, 7",
            id="an old server on the port",
        ),
    ],
)
def test_an_answer_that_does_not_count_says_why(answer, check, expected):
    assert shortcoming(answer, check, OURS) == expected


@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.sampled_from([GOOD, REFUSED]), st.booleans()), max_size=30
    )
)
def test_ready_needs_an_unbroken_row_of_good_answers_over_the_settle_time(steps):
    now, at, good_since = progress(deadline_ns=10**9), 0, None
    for wait, answer, is_dead in steps:
        at += wait
        now, following = step(now, turn(at, answer, is_dead=is_dead), CHECK)
        if is_dead:
            assert following == "died"
            return
        good_since = (good_since if good_since is not None else at) if answer is GOOD else None
        assert (following == "ready") == (good_since is not None and at - good_since >= 100)


def test_a_port_that_others_share_is_not_ready_although_ours_answered():
    shared = Turn(at_ns=5, is_dead=False, answer=GOOD, members=OURS, others=frozenset({77, 70}))
    now, following = step(progress(), shared, CHECK)
    assert following == "ask"
    assert now.said == ("another process than ours listens on the same port: PID 70, 77",)


@pytest.mark.parametrize(
    ("body", "check", "expected"),
    [
        pytest.param(
            " <!doctype html><p>x",
            CHECK,
            "HTTP 200 with a web page instead of a health answer: `<!doctype html><p>x`",
            id="a page",
        ),
        pytest.param("<HTML lang=x>", CHECK, "HTTP 200 with a web page", id="without a doctype"),
        pytest.param("<html>fine", HealthCheck(text="fine"), None, id="a page that is asked for"),
        pytest.param("<ok/>", CHECK, None, id="other markup"),
    ],
)
def test_a_web_page_is_no_health_unless_its_text_is_asked_for(body, check, expected):
    fault = shortcoming(HealthAnswer(status=200, body=body, owners=OURS), check, OURS)
    if expected is None:
        assert fault is None
    else:
        assert fault is not None
        assert fault.startswith(expected)
