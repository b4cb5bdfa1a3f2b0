"""Go on with a comparison: both sides described, built and started again as they were."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.cli.console import Console
from bench.cli.outcome import Outcome
from orchestrator.ab_job import Side
from orchestrator.alongside import Measuring
from orchestrator.cli.ab import Plan, compared
from orchestrator.cli.ab_options import LETTERS, SideWords
from orchestrator.cli.ab_sides import side_fingerprint
from orchestrator.faults import BuildDiffers
from orchestrator.records import differing


def resume_ab(
    launch: Mapping[str, Any],
    console: Console,
    *,
    measuring: Measuring,
    client_secrets: tuple[str, ...],
    is_verbose: bool,
) -> Outcome:
    """Start both sides again and ask what is missing.

    Args:
        launch: From the journal's header; trusted.
        console: Talks.
        measuring: What the child does.
        client_secrets: Variables of the clients' secrets, beside the key's.
        is_verbose: Tell what was done to each gateway's environment.

    Raises:
        BuildDiffers: A side is not what the run began with.
    """
    recorded = launch.get("flags") or {}
    folder = Path(str(launch.get("cwd")))
    plan = Plan(
        words=tuple(_words(letter, recorded.get(letter) or {}) for letter in LETTERS),
        measuring=measuring,
        models=tuple(launch.get("models") or ()),
        cwd=folder if folder.is_dir() else Path.cwd(),
        client_secrets=client_secrets,
        is_verbose=is_verbose,
        expected_builds=launch.get("builds") or {},
    )
    fingerprints = launch.get("fingerprints") or {}
    return compared(plan, console, check=lambda side: _require_same(side, fingerprints))


def _words(letter: Any, recorded: Mapping[str, Any]) -> SideWords:  # noqa: ANN401  a letter of LETTERS
    config = recorded.get("config")
    return SideWords(
        letter=letter,
        home=Path(str(recorded.get("home") or ".")),
        is_home_typed=bool(recorded.get("isHomeTyped")),
        ref=recorded.get("ref"),
        config=None if config is None else Path(str(config)),
        env=dict(recorded.get("env") or {}),
        flags=dict(recorded.get("flags") or {}),
    )


def _require_same(side: Side, fingerprints: Mapping[str, Mapping[str, str]]) -> None:
    different = differing(fingerprints.get(side.letter) or {}, side_fingerprint(side))
    if different:
        told = f"the description of side {side.letter} differs in: {', '.join(different)}"
        raise BuildDiffers([told])
