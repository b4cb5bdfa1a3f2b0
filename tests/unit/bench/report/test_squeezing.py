from hypothesis import given
from hypothesis import strategies as st

from bench.report.escaping import display_width
from bench.report.squeezing import LineShare, shared, squeezed

_WORDS = st.lists(st.sampled_from(["load", "p99", "8.04", "at", "once:", "ms,", "busy;", "client"]))
_INNER = st.lists(_WORDS.map(" ".join), min_size=1, max_size=6).map(
    lambda parts: f"({'; '.join(parts)})"
)
_HEADS = st.lists(st.one_of(_WORDS.map(" ".join), _INNER), max_size=8).map(" ".join)
_ENDINGS = st.sampled_from(
    ["measure with less load, on a quieter machine.", "what (as said) is left empty."]
)

SATURATED = (
    "!  This machine, not the gateway, may be what was measured in 2 load stages (64 at once: this "
    "client's event loop was 100% busy in one second (at most 90% is fine), and every hundredth "
    "read waited 7.0 ms or more for this client; 128 at once: this client's event loop was 100% "
    "busy in one second (at most 90% is fine)). Gates on that stay undecided: measure with less "
    "load, on a quieter or larger machine."
)


def depths(text: str) -> list[int]:
    """Return how many parentheses are open behind each character."""
    return [text[:end].count("(") - text[:end].count(")") for end in range(len(text) + 1)]


@given(head=_HEADS, ending=_ENDINGS, width=st.integers(64, 120), most=st.integers(2, 6))
def test_what_is_shown_has_whole_parentheses_and_ends_as_the_text_does(head, ending, width, most):
    text = f"Begun {head}. {ending}"
    lines = squeezed(text, width, most=most)
    told = " ".join(line.strip() for line in lines)
    assert len(lines) <= most
    assert max(map(display_width, lines)) <= width
    assert told.endswith(ending)
    assert min(depths(told)) == depths(told)[-1] == 0


@given(text=st.text(alphabet="(); .a", max_size=400), most=st.integers(1, 4))
def test_whatever_the_text_its_lines_are_counted_and_fit(text, most):
    lines = squeezed(text, 64, most=most)
    assert len(lines) <= most
    assert all(display_width(line) <= 64 for line in lines)


def test_a_text_that_fits_is_told_whole():
    assert " ".join(line.strip() for line in squeezed(SATURATED, 80, most=6)) == SATURATED


def test_a_parenthesis_is_cut_behind_a_clause_and_closed():
    assert squeezed(SATURATED, 80, most=5, indent="   ") == [
        "!  This machine, not the gateway, may be what was measured in 2 load stages (64",
        "   at once: this client's event loop was 100% busy in one second (at most 90% is",
        "   fine), and every hundredth read waited 7.0 ms or more for this client; …).",
        "   Gates on that stay undecided: measure with less load, on a quieter or larger",
        "   machine.",
    ]


def test_a_long_text_has_the_lines_that_short_ones_leave_and_no_more_than_the_longest():
    texts = ["short", SATURATED, "short"]
    nine = LineShare(together=9, least=3, longest=6)
    assert shared(texts, 80, lines=nine) == ["short", *squeezed(SATURATED, 80, most=6), "short"]
    five = LineShare(together=9, least=3, longest=5)
    assert shared(texts, 80, lines=five) == ["short", *squeezed(SATURATED, 80, most=5), "short"]
    tight = shared([SATURATED] * 3, 80, lines=nine)
    assert len(tight) == 9
    assert " ".join(" ".join(tight).split()).count("stay undecided: measure with less") == 3
