"""Result document → reports as text. Pure: what is shown was computed before, nothing is written.

Everything that came from outside (model output, names, error messages) is shown through
``bench.report.escaping``; see there for what each format does to it.
"""

from collections.abc import Callable, Mapping

from bench.model.document import Document
from bench.report.as_csv import timings_csv
from bench.report.as_html import html_report
from bench.report.as_markdown import markdown_report, timings_markdown
from bench.report.as_text import terminal_summary
from bench.report.verdict import headline

__all__ = ["REPORTS", "headline", "render_reports", "terminal_summary"]

REPORTS: Mapping[str, Callable[[Document], str]] = {
    ".md": markdown_report,
    ".html": html_report,
    "-timings.md": timings_markdown,
    "-timings.csv": timings_csv,
}
"""Each report by the ending that follows the run's file name stem: one that fails is one lost."""


def render_reports(document: Document) -> dict[str, str]:
    """Return every report, by its ending."""
    return {ending: report(document) for ending, report in REPORTS.items()}
