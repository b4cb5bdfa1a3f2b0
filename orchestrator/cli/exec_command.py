"""`exec`, also called `with`: any command with a verified gateway up."""

from typing import Any

import click

from bench.cli.console import Console
from bench.cli.manners import Manners
from bench.cli.outcome import Outcome, Status
from bench.cli.sections import SectionedCommand, SectionedOption
from orchestrator.app import machine
from orchestrator.around import Say
from orchestrator.attaching import attach
from orchestrator.bringing import bring_up
from orchestrator.cli.attached import attach_option, describe_attached, refuse_start_options
from orchestrator.cli.describing import describe, private
from orchestrator.cli.start_options import (
    keep_option,
    model_option,
    preset_option,
    start_options,
    typed_flags,
)
from orchestrator.commands import how_ended
from orchestrator.executing import Errand, ErrandEnd, run_errand
from orchestrator.facts import exit_facts, record_facts
from orchestrator.interrupts import Interrupted, Interrupts
from orchestrator.lifecycle import Machine

OWN_FAILURE = 125
_GATEWAY_LOST = 4
_THE_COMMAND = "The command"


class ExecCommand(SectionedCommand):
    """Takes the words of another command after `--`, and none before it."""

    manners = Manners(own_failure=OWN_FAILURE, json_goes_to_file=True)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:  # type: ignore[explicit-override]  # typing.override came with 3.12
        """Refuse what would be taken for an option of ours, or of theirs, by mistake."""
        typed = list(args)
        rest = super().parse_args(ctx, args)
        words = ctx.params.get("words") or ()
        if not words and not ctx.resilient_parsing:
            message = "no command: type it after `--`, as in `exec --preset demo -- wrk {url}`"
            raise click.UsageError(message, ctx)
        if "--" not in typed and words:
            message = f"type `--` before the command: `-- {' '.join(words)}`"
            raise click.UsageError(message, ctx)
        return rest


@click.command("exec", cls=ExecCommand, context_settings={"allow_interspersed_args": False})
@click.argument("words", metavar="-- CMD [WORDS]...", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--on-death",
    type=click.Choice(["stop", "continue"]),
    default="stop",
    cls=SectionedOption,
    section=_THE_COMMAND,
    help="What becomes of CMD when the gateway dies. Default: stop.",
)
@preset_option
@start_options
@attach_option
@keep_option
@model_option
@click.option("--json", "json_path", metavar="FILE", help="One JSON object into FILE.")
@click.option("--debug", is_flag=True, help="Tracebacks on stderr.")
@click.pass_context
def exec_command(ctx: click.Context, /, **params: Any) -> Outcome:  # noqa: ANN401  option values arrive as click reads them
    """Run CMD with a gateway up that was started for it and proven; stop the gateway afterwards.

    `{url}`, `{base_url}` (with /v1) and `{port}` are filled in CMD's words. Its environment has
    GATEWAY_URL, GATEWAY_BASE_URL, GATEWAY_PORT, GATEWAY_API_KEY_ENV (a variable's name) and that
    variable. Its input, output and exit status are its own; 128+N says that signal N ended it.

    125 = something of ours went wrong, or the gateway was lost; `class:` on stderr says what.
    """
    console: Console = ctx.obj
    here = machine(console.without_secrets)
    errand = _errand(params, here, console)
    interrupts = Interrupts()
    with interrupts.installed():
        try:
            end = run_errand(errand, here, interrupts, console.say)
        except Interrupted as signal:
            left = "stopped" if params["attach"] is None else "not touched"
            headline = f"interrupted before the command ran; the gateway is {left}"
            console.say(f"error: {headline}")
            return Outcome(exit_code=signal.exit_code, reason="interrupted", headline=headline)
    if params["keep"] and end.trouble is None:
        pid = end.up.started.record.identity.pid
        console.say(f"the gateway is left up: `gateway-bench stop {pid}` stops it")
    return outcome_of(end, params["words"], console.say)


def _errand(params: dict[str, Any], here: Machine, console: Console) -> Errand:
    pid, flags = params["attach"], typed_flags(params)
    if pid is None:
        described = describe(flags, here, console)
    else:
        refuse_start_options(params)
        described = describe_attached(flags, here, pid)
    wanted = private(described, here, params["models"] or ("*",), flags=flags)
    return Errand(
        words=params["words"],
        on_death=params["on_death"],
        bring_up=lambda: (
            bring_up(here, wanted, console.say) if pid is None else attach(here, wanted, pid)
        ),
        is_kept=pid is not None or params["keep"],
    )


def outcome_of(end: ErrandEnd, words: tuple[str, ...], say: Say) -> Outcome:
    """Turn the end of an errand into that of our command, and say what was ours about it."""
    name = words[0]
    exit_code, reason, of_class = _verdict(end)
    how = how_ended(end.status)
    headline = f"`{name}` {how}"
    if end.trouble is not None:
        headline += f"; {end.trouble.summary[0].lower()}{end.trouble.summary[1:].rstrip('.')}"
    fault = None if end.down is None else end.down.fault
    if fault is not None:
        say(f"error: {fault.message}")
        say(f"hint: {fault.hint}")
    if of_class is not None:
        say(f"class: {reason} ({of_class})")
    return Outcome(
        exit_code=exit_code,
        reason=reason,
        run_id=end.up.wanted.run_id,
        headline=headline,
        status=_status(exit_code, of_class),
        detail={
            "command": {
                "name": name,
                "exitCode": end.status if end.status >= 0 else None,
                "signal": -end.status if end.status < 0 else None,
                "wasEndedByUs": end.was_ended_by_us,
            },
            "class": of_class,
            "incident": None
            if end.trouble is None
            else {"class": end.trouble.incident_class, "summary": end.trouble.summary},
            "notices": [{"class": one.incident_class, "summary": one.summary} for one in end.notes],
            "resources": end.resources,
            "gateway": {
                **record_facts(end.up.started.record),
                **({} if end.has_log else {"log": None}),
                **_ending(end),
            },
        },
    )


def _verdict(end: ErrandEnd) -> tuple[int, str, int | None]:
    """Return exit code, reason, and the class of a failure of ours."""
    status = end.status if end.status >= 0 else 128 - end.status
    fault = None if end.down is None else end.down.fault
    if end.trouble is not None and not end.may_go_on:
        return OWN_FAILURE, end.trouble.incident_class, _GATEWAY_LOST
    if fault is not None and status == 0:
        return OWN_FAILURE, "not_stopped", fault.exit_code
    return status, "done" if status == 0 else "command_failed", None


def _status(exit_code: int, of_class: int | None) -> Status:
    if of_class == _GATEWAY_LOST:
        return "incomplete"
    return "done" if exit_code == 0 else "failed"


def _ending(end: ErrandEnd) -> dict[str, Any]:
    stopped = None if end.down is None else end.down.stopped
    ending = None if stopped is None else stopped.ending
    return {
        "stopped": stopped is not None,
        "exit": None if ending is None else exit_facts(ending.exit),
    }
