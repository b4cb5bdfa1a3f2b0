"""Whether a run may begin without a person's yes. Pure decisions; asking is the caller's."""

from typing import Literal

from bench.catalogue import Listing
from bench.errors import Refused
from bench.job_messages import Hello
from bench.keys import Address
from bench.prepare.estimate import Estimate

Consent = Literal["given", "ask"]


class PaidRunRefused(Refused):
    """A run that may cost money, without a person's yes or against a limit it can't keep."""

    def __init__(self, message: str, *, hint: str, bounds: Estimate) -> None:
        super().__init__(message, hint=hint)
        self.detail = {
            "estimate": {
                "requests": bounds.requests,
                "inputTokens": bounds.input_tokens,
                "outputTokens": bounds.output_tokens,
                "usd": bounds.usd,
                "unbounded": dict(bounds.unbounded),
                "endless": dict(bounds.endless),
                "priceSources": list(bounds.sources),
            }
        }


def free_because(hello: Hello | None, listing: Listing | None, address: Address) -> str | None:
    """Return why requests cost nothing, or ``None``: then they are paid.

    A loopback address proves nothing, a local gateway forwards to real providers. The simulator's
    mark counts from this machine only: far away, it would be a stranger's word.
    """
    if hello is not None and hello.free_because:
        return hello.free_because
    if hello is not None and hello.simulated_upstream:
        return "the upstream is the simulator"
    local = address.is_loopback and not address.is_remote
    if local and listing is not None and listing.is_simulator:
        return "the simulator itself answers"
    return None


def consent(
    bounds: Estimate,
    *,
    limit: str | None,
    allow_unknown_cost: bool,
    said_yes: bool,
    is_terminal: bool,
) -> Consent:
    """Return whether a paid run may begin, or has to be asked about.

    Args:
        bounds: What it can cost.
        limit: The money limit as it is written; ``None`` = there is none.
        allow_unknown_cost: Go on though the limit can't be kept.
        said_yes: `--yes` was typed.
        is_terminal: Somebody can be asked.

    Raises:
        PaidRunRefused: The money limit can't be kept, or nobody is there to say yes.
    """
    if limit is not None and bounds.unbounded and not allow_unknown_cost:
        target, why = next(iter(bounds.unbounded.items()))
        more = f" (and {len(bounds.unbounded) - 1} more)" if len(bounds.unbounded) > 1 else ""
        message = f"`{limit}` can't be kept for {target}{more}: {why}"
        hint = (
            "`--assume-price IN/OUT` in dollars per million tokens, the extra "
            "`gateway-bench[prices]` for list prices, `--max-tokens N` where answers have no "
            "limit, or `--allow-unknown-cost`"
        )
        raise PaidRunRefused(message, hint=hint, bounds=bounds)
    if said_yes:
        return "given"
    if is_terminal:
        return "ask"
    raise PaidRunRefused(
        "this run may cost money, and nobody said yes to that",
        hint="read the estimate above, then add `--yes` (and perhaps `--max-cost USD`)",
        bounds=bounds,
    )
