"""Whether the gates that were asked for can be held against the run that is to be made."""

from collections.abc import Iterator

from bench.config import Config
from bench.errors import UsageFault
from bench.keys import Origin
from bench.load.gates import Gate

_UNDER_LOAD = frozenset({"rate", "goodput", "slo"})
_OF_OBJECTIVES = frozenset({"goodput", "slo"})


def with_fitting_gates(
    config: Config, *, is_compared: bool, is_load: bool
) -> tuple[Config, tuple[str, ...]]:
    """Return the settings with the gates that mean something for this run, and what was left out.

    Gates of a file or the environment hold for every command there: those of another kind of run
    are left out, and said. A typed one that doesn't fit is a fault.

    Args:
        config: Resolved settings.
        is_compared: Two endpoints are asked in turn.
        is_load: There are load stages.

    Raises:
        UsageFault: Typed gates that can't be decided by this run, all of them.
    """
    gates = config.settings.fail_on
    has_objectives = bool(config.settings.slo)
    faults = {
        gate.text: fault
        for gate in gates
        for fault in _faults(
            gate, is_compared=is_compared, is_load=is_load, has_objectives=has_objectives
        )
    }
    if not faults:
        return config, ()
    told = [f"`--fail-on {text}`: {fault}" for text, fault in faults.items()]
    if config.trust["fail_on"] is Origin.FLAG:
        raise UsageFault("; ".join(told))
    kept = tuple(gate for gate in gates if gate.text not in faults)
    label = config.label("fail_on")
    config = config.with_value("fail_on", kept, origin=config.trust["fail_on"], label=label)
    return config, tuple(f"not a gate of this run: {one} ({label})" for one in told)


def _faults(gate: Gate, *, is_compared: bool, is_load: bool, has_objectives: bool) -> Iterator[str]:
    if is_compared and not gate.is_difference:
        yield (
            "two sides have a difference, so a sign is needed, such as `ttft=+5%`, which fails when "
            "the second is that much above the first"
        )
    elif gate.is_difference and not is_compared:
        yield (
            "a sign is of a difference, and one endpoint has none; a limit has no sign, such as "
            "`ttft.p99=500ms`. `overhead` and `ab` compare two"
        )
    elif gate.quantity in _OF_OBJECTIVES and not has_objectives:
        yield "it counts the requests that keep an objective: add one, such as `--slo ttft=500ms`"
    elif gate.quantity in _UNDER_LOAD and not is_load and not is_compared:
        yield "it is of load: it needs `-n`, `-d`, `--rate`, `--sweep` or `--trace`"
