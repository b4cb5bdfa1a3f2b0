"""What stands between a reader and a comparison of two arms."""

from collections.abc import Iterator

from bench.model.document import Caveat
from bench.model.paired import LevelResult, PairedSummary


def pair_caveats(paired: PairedSummary | None) -> Iterator[Caveat]:
    """Yield why the arms may differ for another reason than the one that is asked about."""
    if paired is None:
        return
    for confound in paired.confounds:
        if confound.spoils:
            what = (
                "No figure is comparable"
                if "*" in confound.spoils
                else f"These figures are not comparable: {', '.join(confound.spoils)}"
            )
            yield Caveat(
                code="not_comparable",
                level="doubtful",
                text=f"{_sentence(confound.text)} {what}; their verdicts are undecided.",
            )
        else:
            yield Caveat(code=confound.code, level="note", text=_sentence(confound.text))
    yield from (caveat for level in paired.levels if (caveat := _client(level)) is not None)
    yield from (caveat for level in paired.levels if (caveat := _noise(level)) is not None)


def _client(level: LevelResult) -> Caveat | None:
    if not level.client_bound:
        return None
    return Caveat(
        code="client_bound",
        level="doubtful",
        text=f"At {level.label} this client may be what was measured: {level.client_bound[0]}. "
        "Verdicts on that are undecided. Ask with fewer at once, or on a machine with less to do.",
    )


def _noise(level: LevelResult) -> Caveat | None:
    flagged = [found for found in level.warm if found.noise is not None and found.noise.flagged]
    if not flagged:
        return None
    names = ", ".join(found.metric for found in flagged)
    return Caveat(
        code="noise_floor",
        level="note",
        text=f"At {level.label} the same endpoint differed from itself ({names}): smaller "
        "differences than that are left undecided.",
    )


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}."
