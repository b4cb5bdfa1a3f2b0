"""The whole report as one HTML file: no script, no network, readable on a phone and in the dark.

The page's own policy forbids everything but its one style sheet, known by its hash: even markup
that slipped through could load, run and send nothing.
"""

import hashlib
from base64 import b64encode
from functools import cache
from importlib.resources import files

import jinja2

from bench.model.document import Document
from bench.report.added_curves import added_charts
from bench.report.answers import failed_answers
from bench.report.charts import charts
from bench.report.escaping import code_parts, shorten, visible
from bench.report.load import load_chart
from bench.report.load_stages import stages_chart
from bench.report.resources import resource_chart, resource_sentence
from bench.report.saturation import frontier_chart
from bench.report.sections import sections
from bench.report.transcripts import transcripts
from bench.report.verdict import headline, standings, trust_level

MOST_CHARACTERS = 6_000
"""Longest model output in the page; the JSON document has all of it."""

_LEVELS = {"broken": "Not whole", "doubtful": "Caution", "note": "Note"}


def html_report(document: Document) -> str:
    """Return the page."""
    style = _template_text("report.css")
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    answers, more = failed_answers(document)
    told, untold = transcripts(document)
    found = sections(document)
    return _template().render(
        document=document,
        title=", ".join(document.config.model_ids) or "benchmark",
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'",
        style=style,
        headline=headline(document),
        trust_level=trust_level(document),
        levels=_LEVELS,
        standings=standings(document),
        charts=charts(document),
        load_chart=load_chart(document),
        stages_chart=stages_chart(document),
        frontier_chart=frontier_chart(document),
        added_charts=added_charts(document),
        resource_chart=resource_chart(document),
        resource_sentence=resource_sentence(document),
        open_sections=[section for section in found if not section.is_folded],
        folded_sections=[section for section in found if section.is_folded],
        answers=answers,
        more_answers=more,
        transcripts=told,
        more_transcripts=untold,
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["block"] = _block
    environment.filters["code_parts"] = code_parts
    return environment.get_template("report.html.j2")


def _template_text(name: str) -> str:
    return files("bench.report").joinpath("templates", name).read_text(encoding="utf-8")


class _Shown(str):
    """Text whose hidden characters are shown already; it is still escaped as any other."""

    __slots__ = ()


def _finalize(value: object) -> object:
    """Show hidden characters of every value that is put into the page; escaping comes after."""
    is_ready = isinstance(value, _Shown) or hasattr(value, "__html__")
    return visible(value) if isinstance(value, str) and not is_ready else value


def _block(text: str) -> str:
    """Return model output with its line breaks, shortened."""
    return _Shown(visible(shorten(text, MOST_CHARACTERS), keep="\n\t"))
