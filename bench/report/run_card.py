"""One run for a person at a terminal: what it is, whether it can be trusted, how it was made."""

from collections.abc import Iterable, Iterator

from bench.model.document import Document
from bench.report.as_text import terminal_summary
from bench.report.escaping import visible, wrap
from bench.report.figures import ABSENT, counted, source_words, usd
from bench.report.making import making_sections
from bench.report.tables import Section
from bench.report.verdict import trust_level

_MARKS = {"broken": "!!", "doubtful": "!", "note": "-"}
_LEVELS = {
    "broken": "No: figures are missing or broken.",
    "doubtful": "With care: some figures may mislead.",
    "sound": "Yes: nothing was found that speaks against it.",
}
_FACTS = ("run", "gateway")


def run_card(document: Document, *, width: int) -> str:
    """Return the whole card, each line at most ``width`` columns."""
    summary = terminal_summary(document, width=width, has_caveats=False)
    lines = [*summary.rstrip("\n").split("\n"), "", "Can it be trusted?"]
    lines += _trust(document, width)
    lines += ["", "What it cost", *_indented(_money(document), width)]
    sections = {section.id: section for section in making_sections(document)}
    lines += ["", "What was measured (prices per million tokens)"]
    lines += _indented(_targets(sections["targets"]), width)
    for name in _FACTS:
        section = sections[name]
        if section.table.rows:
            lines += ["", section.title, *_indented(_facts(section), width)]
    typed = list(_typed(document))
    if typed:
        lines += ["", "Settings that are no defaults", *_indented(typed, width)]
    return "\n".join(lines) + "\n"


def _trust(document: Document, width: int) -> Iterator[str]:
    yield f"  {_LEVELS[trust_level(document)]}"
    for caveat in document.trust:
        text = visible(f"{_MARKS[caveat.level]} {caveat.text}")
        yield from (f"  {line}" for line in wrap(text, width - 2, indent="   "))


def _money(document: Document) -> Iterator[str]:
    spend = document.spend
    if spend.unknown_requests:
        unknown = counted(spend.unknown_requests, "request")
        yield f"at least {usd(spend.known_usd)}; {unknown} of unknown cost"
    else:
        yield f"{usd(spend.total_usd)} in all, warm-ups and lost answers included"
    for source, amount in spend.by_source.items():
        yield f"{usd(amount)} {source_words(source)}"
    if document.simulated:
        yield "the upstream was simulated: nobody bills this"


def _targets(section: Section) -> Iterator[str]:
    names = [column[:1].lower() + column[1:] for column in section.table.columns]
    for name, *cells in section.table.rows:
        told = [
            f"{column} {cell.text}"
            for column, cell in zip(names[1:], cells, strict=True)
            if cell.text not in {ABSENT, name.text}
        ]
        yield f"{name.text}: {', '.join(told) or 'no prices'}"


def _facts(section: Section) -> Iterator[str]:
    for name, *values in section.table.rows:
        yield f"{name.text}: {', '.join(cell.text for cell in values)}"


def _typed(document: Document) -> Iterator[str]:
    for name, option in document.options.items():
        if option.origin not in {"default", ""}:
            yield f"{name} = {option.value}  ({option.origin})"


def _indented(texts: Iterable[str], width: int) -> Iterator[str]:
    for text in texts:
        yield from (f"  {line}" for line in wrap(visible(text), width - 2, indent="    "))
