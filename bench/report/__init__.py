"""Result document → reports as text. Pure: what is shown was computed before, nothing is written.

Everything that came from outside (model output, names, error messages) is shown through
``bench.report.escaping``; see there for what each format does to it.
"""

from bench.model.document import Document
from bench.report.as_csv import timings_csv
from bench.report.as_html import html_report
from bench.report.as_markdown import markdown_report, timings_markdown
from bench.report.as_text import terminal_summary
from bench.report.verdict import headline

__all__ = ["headline", "render_reports", "terminal_summary"]


def render_reports(document: Document) -> dict[str, str]:
    """Return every report, by the ending that follows the run's file name stem."""
    return {
        ".md": markdown_report(document),
        ".html": html_report(document),
        "-timings.md": timings_markdown(document),
        "-timings.csv": timings_csv(document),
    }
