"""The examination as lines for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.findings import MOST_LINES, Finding, failed, finding_facts, finding_lines


def finding(verdict="yes", *, essential=False, seen="fine", **more):
    return Finding(id="x", what="locks", verdict=verdict, seen=seen, is_essential=essential, **more)


def test_what_is_proven_takes_one_line_and_no_advice():
    told = finding(consequence="bad", remedy="mend")
    assert finding_lines([told]) == ("yes locks          fine",)


def test_what_is_not_proven_says_what_that_means_and_what_to_do():
    told = finding("no", seen="not kept", consequence="two may start", remedy="use a local disk")
    assert finding_lines([told]) == (
        "NO  locks          not kept",
        "                   → two may start; use a local disk",
    )


@pytest.mark.parametrize(
    ("verdict", "essential", "fails"),
    [
        ("yes", True, False),
        ("no", True, True),
        ("unknown", True, True),
        ("no", False, False),
    ],
)
def test_only_what_matters_fails_the_examination(verdict, essential, fails):
    assert bool(failed([finding(verdict, essential=essential)])) is fails


words = st.lists(st.text("abcdefgh", min_size=1, max_size=12), max_size=60).map(" ".join)


@given(
    st.lists(
        st.builds(
            Finding,
            id=st.just("x"),
            what=st.text("abc ", max_size=14),
            verdict=st.sampled_from(["yes", "no", "unknown"]),
            seen=words,
            consequence=words,
            remedy=words,
            is_essential=st.booleans(),
        ),
        max_size=30,
    )
)
def test_it_fits_a_terminal_whatever_is_found(found):
    lines = finding_lines(found)
    assert len(lines) <= MOST_LINES
    assert all(len(line) <= 80 for line in lines)


def test_programs_get_everything():
    (told,) = finding_facts([finding("no", essential=True, consequence="bad")])
    assert told == {
        "id": "x",
        "what": "locks",
        "verdict": "no",
        "seen": "fine",
        "consequence": "bad",
        "remedy": None,
        "essential": True,
    }


def test_advice_about_what_does_not_matter_goes_first_and_a_long_page_says_so():
    minor = finding("no", consequence="bad " * 40, remedy="mend")
    major = finding("no", essential=True, consequence="worse " * 20, remedy="mend")
    page = finding_lines([major, *[minor] * 20])
    assert len(page) == 24
    assert "worse" in page[1]
    long = finding_lines([major] * 20)
    assert len(long) == MOST_LINES
    assert long[-1] == "… 42 more lines: `--json` has all of it"
