"""Asking a person before money is spent, and holding the user's limit per day while it is."""

from collections.abc import Iterator
from contextlib import contextmanager

from bench.cli.console import Console
from bench.cli.place import archive_folder, claims_folder, config_home
from bench.cli.talk import confirmed, is_interactive
from bench.clock import SystemClock
from bench.day_account import DayAccount, OpenClaim
from bench.errors import Refused
from bench.model.run_config import RunConfig
from bench.prepare.consent import consent
from bench.prepare.estimate import Estimate
from bench.user_config import load_user_config


def day_account() -> DayAccount | None:
    """Return today's account; ``None`` = the user has no limit per day.

    Raises:
        UsageFault: The user's configuration can't be read.
    """
    limit = load_user_config(config_home()).max_cost_per_day
    if limit is None:
        return None
    return DayAccount(
        folder=claims_folder(),
        archive=archive_folder(),
        now=SystemClock().utcnow(),
        limit_usd=limit,
    )


def agree(
    bounds: Estimate,
    *,
    run: RunConfig,
    account: DayAccount | None,
    allow_unknown_cost: bool,
    said_yes: bool,
) -> None:
    """Go on only with a person's yes to a paid run.

    Raises:
        Refused: It was not given.
    """
    limit = None if run.max_cost_usd is None else f"--max-cost {run.max_cost_usd:g}"
    if limit is None and account is not None:
        limit = f"max-cost-per-day = {account.limit_usd:g}"
    answer = consent(
        bounds,
        limit=limit,
        allow_unknown_cost=allow_unknown_cost,
        said_yes=said_yes,
        is_terminal=is_interactive(),
    )
    if answer == "ask" and not confirmed("Go on?"):
        raise Refused("not started: the answer was no")


@contextmanager
def within_the_day(
    account: DayAccount | None, run_id: str, *, most_usd: float | None, console: Console
) -> Iterator[OpenClaim | None]:
    """Hold what a run may take of the day while it goes on.

    Args:
        account: ``None`` = there is no limit.
        run_id: Whose.
        most_usd: What it can cost at most; ``None`` = unknown.
        console: Says what is left.

    Raises:
        Refused: Nothing is left.
    """
    if account is None:
        yield None
        return
    with account.claimed(run_id, wanted_usd=most_usd) as claim:
        of_day = f"of ${account.limit_usd:g} per day (UTC)"
        console.say(f"limit per day: this run may spend ${claim.granted_usd:.4f} {of_day}")
        yield claim


def most_of(bounds: Estimate, *, limit_usd: float | None) -> float | None:
    """Return the most that a run can cost; ``None`` = unknown.

    Args:
        bounds: Of what it will ask.
        limit_usd: What its own limit leaves; ``None`` = it has none.
    """
    if bounds.unbounded or bounds.endless:
        return limit_usd
    return bounds.usd if limit_usd is None else min(bounds.usd, limit_usd)
