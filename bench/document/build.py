"""Puts a result document together from a run's ledger."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from bench import __version__
from bench.charges import Spend
from bench.document.completeness import completeness, not_run, unended
from bench.document.gates import with_gates
from bench.document.shape import document_config, document_target, document_trial
from bench.document.sides import through_gateway, with_resources
from bench.document.trust import Circumstances, caveats
from bench.ledger import Ledger
from bench.model.blocks import PlannedTrial
from bench.model.document import (
    GENERATOR,
    Document,
    DocumentGateway,
    DocumentTarget,
    DocumentTrial,
    Generator,
    PriceSnapshot,
    RunSpend,
)
from bench.model.summary import Summary
from bench.summary import Evidence, summarize


def build_document(ledger: Ledger, *, is_going_on: bool = False) -> Document:
    """Return everything the journal knows and what it amounts to.

    Works at any moment of a run's life.

    Args:
        ledger: What the journal says.
        is_going_on: A process is measuring; else a run without a footer counts as killed.
    """
    header = ledger.header
    planned = [trial for block in header.plan for trial in block.trials]
    reference = header.config.reference or (header.targets[0].id if header.targets else None)
    summary = _with_arms(_summary(ledger, planned, reference), ledger)
    open_ones = unended(ledger, is_going_on=is_going_on)
    done = completeness(ledger, planned, open_ones)
    simulated = _is_simulated(ledger)
    spend = _spend(ledger)
    targets = tuple(map(document_target, header.targets))
    trust = caveats(
        Circumstances(
            completeness=done,
            config=ledger.config(),
            spend=spend,
            summary=summary,
            trials=ledger.trials,
            targets=targets,
            incidents=ledger.incidents,
            possibly_billed=open_ones.lost,
            simulated=simulated,
            is_watched=ledger.gateway is not None,
            sampled_of=ledger.stages.sampled_of,
        )
    )
    return Document(
        generator=Generator(name=GENERATOR, version=__version__),
        run_id=header.run_id,
        stem=header.stem,
        started_at=header.started_at,
        finished_at=_finished_at(ledger),
        duration_ms=_duration_ms(ledger),
        simulated=simulated,
        completeness=done,
        trust=trust,
        spend=spend,
        config=document_config(ledger.config(), reference=reference),
        options=header.options,
        environment=header.environment,
        sandbox=header.sandbox,
        gateway=_gateway(ledger),
        vantage=ledger.vantage,
        incidents=ledger.incidents,
        not_run=not_run(ledger, planned, open_ones),
        possibly_billed=open_ones.lost,
        price_snapshot=_price_snapshot(targets),
        case_text_hashes={case.id: case.text_hash for case in header.cases if case.text_hash},
        plan_hash=header.plan_hash,
        metric_version=header.metric_version,
        budget_used_ms=dict(ledger.budget_used_ms),
        targets=targets,
        cases=header.cases,
        summary=with_gates(summary, ledger, done, trust),
        trials=_trials(ledger),
    )


def _summary(ledger: Ledger, planned: Sequence[PlannedTrial], reference: str | None) -> Summary:
    return summarize(
        Evidence(
            targets=ledger.header.targets,
            cases=ledger.header.cases,
            trials=ledger.trials,
            reference=reference,
            planned=tuple(planned),
            spend=ledger.spend,
            stages=ledger.stages,
            expected=ledger.stages.expected(ledger.header.plan),
        )
    )


def _with_arms(summary: Summary, ledger: Ledger) -> Summary:
    """Return the summary with what two arms in turn amount to."""
    pairing = ledger.header.config.paired
    if pairing is None:
        return summary
    # Loaded here: most runs have one arm, and need nothing of what two do.
    if pairing.kind == "ab":
        from bench.ab.findings import ab_of

        paired, ab = ab_of(ledger, pairing)
        return msgspec.structs.replace(summary, paired=paired, ab=with_resources(ab, ledger))
    from bench.overhead.findings import overhead_of

    paired, findings = overhead_of(ledger, pairing)
    return msgspec.structs.replace(summary, paired=paired, overhead=findings)


def _trials(ledger: Ledger) -> tuple[DocumentTrial, ...]:
    cases = {case.id: case for case in ledger.header.cases}
    with_answer = ledger.header.config.save_responses
    return tuple(
        document_trial(
            trial,
            cases.get(trial.case_id),
            with_answer=with_answer,
            turns=ledger.turns.get(trial.id, ()),
        )
        for trial in ledger.trials
    )


def _is_simulated(ledger: Ledger) -> bool:
    gateway = ledger.gateway
    return (
        ledger.header.simulated
        or (gateway is not None and gateway.simulated_upstream is True)
        or any(trial.response.simulated for trial in ledger.trials)
    )


def _spend(ledger: Ledger) -> RunSpend:
    return RunSpend(
        total_usd=ledger.spent_usd,
        known_usd=ledger.known_spend_usd,
        unknown_requests=ledger.unknown_costs,
        reserved_usd=sum(part.reserved_usd for part in ledger.spend.values()),
        by_source=dict(Spend.of(ledger.charges).by_source),
    )


def _duration_ms(ledger: Ledger) -> float:
    return ledger.offset_ms if ledger.footer is None else ledger.footer.offset_ms


def _finished_at(ledger: Ledger) -> str:
    """Return the recorded end, else the start plus the last recorded offset."""
    if ledger.footer is not None:
        return ledger.footer.finished_at
    started = datetime.fromisoformat(ledger.header.started_at).astimezone(UTC)
    ended = started + timedelta(milliseconds=ledger.offset_ms)
    return ended.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _gateway(ledger: Ledger) -> DocumentGateway | None:
    if ledger.gateway is None:
        return None
    return DocumentGateway(
        **msgspec.structs.asdict(ledger.gateway),
        resources=None if ledger.gateways else through_gateway(ledger),
    )


def _price_snapshot(targets: tuple[DocumentTarget, ...]) -> PriceSnapshot | None:
    prices = {t.id: t.metadata.prices for t in targets if t.metadata.prices is not None}
    if not prices:
        return None
    dates = [price.as_of for price in prices.values() if price.as_of is not None]
    return PriceSnapshot(as_of=max(dates, default=None), targets=prices)
