"""Journal or document → files. The JSON comes first and is never lost to a report that fails."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import bench
from bench.app.folder import make_folder
from bench.app.replacing import replace_file
from bench.app.request import Outcome
from bench.document import build_document, encode_document, read_document
from bench.document.money_caveats import is_day_limited
from bench.errors import BenchError, ForeignReports, JournalUnreadable, reason_in
from bench.journal import is_being_written, read_journal
from bench.ledger import Ledger
from bench.model.document import Document
from bench.report import REPORTS, headline, terminal_summary
from bench.report.ab import ab_detail
from bench.report.figures import counted
from bench.report.gates import gate_detail, gate_ending, undecided_note
from bench.report.overhead import overhead_detail
from bench.report.pairs import pair_detail
from bench.report.saturation import load_detail

Report = Callable[[Document], str]

GATE_EXITS = {"gate_failed": 6, "gate_undecided": 8}
"""Exit codes of a run that ended well."""
_LISTED = (".json", *REPORTS, ".jsonl")
FORMATS = {
    "json": ".json",
    "md": ".md",
    "html": ".html",
    "timings": "-timings.md",
    "csv": "-timings.csv",
}
"""What may be asked for alone, and the ending of its file."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What came of writing a run's files."""

    files: tuple[Path, ...]
    faults: tuple[str, ...]
    """One sentence for each file that could not be made."""
    headline: str
    summary_text: str
    has_document: bool = True
    """The result document was to be written too."""


def render(
    path: Path,
    output_folder: Path | None = None,
    *,
    summary_width: int = 100,
    is_judged: bool = False,
    formats: Collection[str] = tuple(FORMATS),
) -> Outcome:
    """Write every report again from a journal or a result document, without one request.

    Args:
        path: A ``.jsonl`` journal, finished or cut, or a ``.json`` document (version 2 too), which
            is itself never written.
        output_folder: Where to; ``None`` = beside ``path``.
        summary_width: Columns of the summary table.
        is_judged: The gates of the run decide the exit code, as at its end.
        formats: Which files, as ``FORMATS`` names them.

    Raises:
        JournalUnreadable: ``path`` is neither.
        ForeignReports: The folder holds this run's reports as another version of the tool made them.
    """
    folder = path.parent if output_folder is None else output_folder
    is_journal = path.suffix == ".jsonl"
    document = read_run(path)
    _refuse_foreign_reports(folder, path)
    make_folder(folder)
    endings = {FORMATS[one] for one in formats}
    published = publish(
        document,
        folder,
        source=path,
        summary_width=summary_width,
        reports={ending: report for ending, report in REPORTS.items() if ending in endings},
        has_document=".json" in endings,
    )
    outcome = outcome_of(published, document, journal=path if is_journal else None)
    return gated(outcome, document) if is_judged else outcome


def read_run(path: Path) -> Document:
    """Return what a journal or a result document says; nothing is written.

    Raises:
        JournalUnreadable: ``path`` is neither.
    """
    if path.suffix == ".jsonl":
        ledger, is_going_on = read_run_journal(path)
        return build_document(ledger, is_going_on=is_going_on)
    return read_document(_read(path))


def read_run_journal(path: Path) -> tuple[Ledger, bool]:
    """Return what a journal says, and whether a process is proven to go on with its run.

    Raises:
        JournalUnreadable: ``path`` is none.
    """
    # Asked first: a run that ends in between has its footer, and is over.
    is_held = is_being_written(path)
    ledger = read_journal(path)
    return ledger, is_held and ledger.footer is None


def publish(
    document: Document,
    folder: Path,
    *,
    source: Path,
    summary_width: int,
    reports: Mapping[str, Report] = REPORTS,
    has_document: bool = True,
) -> Published:
    """Write the JSON, then the reports one by one; one that fails does not stop the others.

    Args:
        document: What is reported.
        folder: An existing folder.
        source: What the document was read from: names the files, is never overwritten, and is
            listed when it is a journal.
        summary_width: Columns of the summary table.
        reports: What is made, by the ending of its file name.
        has_document: The JSON is written too.
    """
    stem = source.stem
    files: list[Path] = [source.absolute()] if source.suffix == ".jsonl" else []
    faults: list[str] = []
    result = folder / f"{stem}.json"
    if has_document and result.absolute() != source.absolute():
        _save(result, encode_document(document), files, faults)
    for ending, report in reports.items():
        text = _made(partial(report, document), f"{stem}{ending}", faults)
        if text is not None:
            _save(folder / f"{stem}{ending}", text.encode(), files, faults)
    said = _made(partial(headline, document), "the headline", faults)
    table = _made(partial(terminal_summary, document, width=summary_width), "the summary", faults)
    return Published(
        files=_listed(files),
        faults=tuple(faults),
        headline=said or "",
        summary_text=table or "",
        has_document=has_document,
    )


def outcome_of(published: Published, document: Document, *, journal: Path | None) -> Outcome:
    """Return the outcome of a rendering: 0, or 1 when a file could not be made."""
    return Outcome(
        exit_code=1 if published.faults else 0,
        reason="report_failed" if published.faults else "rendered",
        headline=published.headline,
        files=published.files,
        run_id=document.run_id,
        planned=document.completeness.planned,
        done=document.completeness.done,
        failed=document.completeness.failed,
        spent_usd=document.spend.total_usd,
        summary_text=published.summary_text,
        notes=(*published.faults, *_without_document(published, document, journal)),
        journal=journal,
        detail={
            **gate_detail(document),
            **load_detail(document),
            **pair_detail(document),
            **overhead_detail(document),
            **ab_detail(document),
        },
        is_day_limited=is_day_limited(document.config),
    )


def gated(outcome: Outcome, document: Document) -> Outcome:
    """Return the outcome of a run with what its gates make of it.

    Whatever else went wrong says more than a gate does.
    """
    ending = gate_ending(document)
    if ending is not None and outcome.exit_code == 0:
        return replace(outcome, exit_code=GATE_EXITS[ending], reason=ending)
    note = undecided_note(document.summary.gates)
    return replace(outcome, notes=(*outcome.notes, note)) if note else outcome


def _without_document(
    published: Published, document: Document, journal: Path | None
) -> Iterator[str]:
    """Say what is lost where requests were made and the result document could not be written."""
    if (
        journal is None
        or not published.has_document
        or any(path.suffix == ".json" for path in published.files)
    ):
        return
    lost = len(document.possibly_billed)
    told = f"{counted(lost, 'request')} without a recorded end may have been billed"
    yield (
        f"no result document was saved; {told if lost else 'nothing is lost'}: "
        f"{counted(len(document.trials), 'trial')} and what was paid are in the journal `{journal}`"
    )


def _refuse_foreign_reports(folder: Path, source: Path) -> None:
    """Leave reports alone that another version made: they say what was known then."""
    result = folder / f"{source.stem}.json"
    reports = [folder / f"{source.stem}{suffix}" for suffix in REPORTS]
    if result.absolute() == source.absolute() and not any(map(Path.exists, reports)):
        return
    try:
        made_by = read_document(result.read_bytes()).generator
    except (BenchError, OSError):
        return  # absent, half a file, or none of ours: nothing that a rendering could spoil
    if made_by is None or made_by.version != bench.__version__:
        by = f"version {made_by.version}" if made_by else "another tool"
        raise ForeignReports(result=str(result), made_by=by, here=bench.__version__)


def _made(make: Callable[[], str], name: str, faults: list[str]) -> str | None:
    try:
        return make()
    except Exception as error:  # a fault in one text must not lose the others
        log.debug("making %s", name, exc_info=True)
        faults.append(f"`{name}` could not be made: {type(error).__name__}: {error}")
        return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"`{path}` can't be read: {reason_in(error)}"
        raise JournalUnreadable(message, hint="name a `.jsonl` or `.json` file of a run") from error


def _save(path: Path, data: bytes, files: list[Path], faults: list[str]) -> None:
    try:
        replace_file(path, data)
    except OSError as error:
        faults.append(f"`{path}` can't be written: {reason_in(error)}")
    else:
        files.append(path.absolute())


def _listed(files: list[Path]) -> tuple[Path, ...]:
    def place(path: Path) -> int:
        ends = [n for n, suffix in enumerate(_LISTED) if path.name.endswith(suffix)]
        return max(ends, default=len(_LISTED))

    return tuple(sorted(files, key=place))
