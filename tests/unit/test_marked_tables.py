"""Tables of figures that benchmarks write into pages."""

from pathlib import Path

import pytest

from benchmarks.marked import replaced

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"


def test_a_table_takes_the_place_of_the_one_between_its_comments():
    page = "above\n<!-- a -->\n| old |\n\nmore\n<!-- /a -->\nbelow <!-- b -->\n"
    assert replaced(page, "a", "\n| \\1 new |\n") == (
        "above\n<!-- a -->\n| \\1 new |\n<!-- /a -->\nbelow <!-- b -->\n"
    )


@pytest.mark.parametrize("page", ["", "<!-- a -->", "<!-- a -->\n<!-- /a -->\n" * 2])
def test_a_page_without_just_one_place_is_left_alone(page):
    with pytest.raises(ValueError, match="one `<!-- a -->`"):
        replaced(page, "a", "x")


def test_the_page_of_figures_has_its_place():
    page = PAGE.read_text(encoding="utf-8")
    assert "| 1 |" in replaced(page, "benchmarks.load_peers", "| 1 |")
