"""The load processes of a run as the leading process sees them: who lives, what they say, whose clock.

Every loss is a value here, not an exception: the stage that met it decides.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from bench.errors import JournalUnwritable, LoadProcessLost
from bench.executor import Executor, LoadProcess
from bench.model.fleet import AskWhy, Dismiss, Echo, Failed, Noted, Order, Probe, Ready, Report, Why
from bench.model.load import ClockAnchor
from bench.model.steps import ShardClosed, ShardOpened
from bench.model.surroundings import Incident, Vantage
from bench.money import Purse
from bench.ports import Clock, GatewayWatch, JournalSink

_PROBES = 8
_PATIENCE_S = 60.0
"""How long starting (importing, connecting to a cluster) may take; a live process says something."""


@dataclass(slots=True)
class Hand:
    """One load process."""

    process: LoadProcess
    anchor: ClockAnchor = field(default_factory=ClockAnchor)
    round_trip_ns: int = 0
    """The fastest that was seen."""
    lost: str | None = None
    """How; ``None`` = it lives."""

    def lives(self) -> bool:
        """Return whether it can be spoken to."""
        return self.lost is None

    @property
    def number(self) -> int:
        """Its number in the run."""
        return self.process.whereabouts.number


OnCounted = Callable[[int, int, Purse], None]
"""Called with how many trials were recorded since the last call, and how many of them failed."""
Heard = tuple[Hand, Report | LoadProcessLost]


class Crew:
    """Speaks with load processes.

    Args:
        processes: As the executor started them.
        executor: Ends them.
        clock: The leading process's.
        watch: Explains failures.
        sink: The leading journal.
        on_counted: For the progress display.
    """

    def __init__(
        self,
        processes: Sequence[LoadProcess],
        executor: Executor,
        *,
        clock: Clock,
        watch: GatewayWatch,
        sink: JournalSink,
        on_counted: OnCounted,
    ) -> None:
        self.on_counted = on_counted
        self.vantage: Vantage | None = None
        """Of the load process that connected most often."""
        self.inbox: asyncio.Queue[Heard | None] = asyncio.Queue()
        """What is not answered here; ``None`` = look at the control again."""
        self._hands = [Hand(process) for process in processes]
        self._executor = executor
        self._clock = clock
        self._watch = watch
        self._sink = sink
        self._echoes: dict[tuple[int, int], asyncio.Future[int]] = {}
        self._ready: dict[int, asyncio.Future[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_leaving = False

    @property
    def size(self) -> int:
        """How many there were at the beginning, lost ones included."""
        return len(self._hands)

    @property
    def live(self) -> list[Hand]:
        """Those that are not lost, in order."""
        return [hand for hand in self._hands if hand.lives()]

    async def meet(self, stem: str) -> None:
        """Wait until all are ready and write down where their records are.

        Args:
            stem: Of the leading journal.

        Raises:
            LoadProcessLost: One never became ready: nothing was sent by any.
        """
        loop = asyncio.get_running_loop()
        for hand in self._hands:
            self._ready[hand.number] = loop.create_future()
            self._spawn(self._listen(hand))
        for hand in self._hands:
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    await self._ready[hand.number]
            except TimeoutError as fault:
                raise LoadProcessLost(hand.number, "it was not ready in time") from fault
        for hand in self._hands:
            where = hand.process.whereabouts
            self._sink.write(
                ShardOpened(
                    number=where.number,
                    file=f"{stem}.{where.number}.jsonl",
                    pid=where.pid,
                    host=where.host,
                    node=where.node,
                )
            )

    async def read_clocks(self) -> None:
        """Read everybody's clock, several times, and keep what the fastest round trip says."""
        for hand in self.live:
            if hand.process.whereabouts.shares_clock:
                continue
            tries = [one for n in range(_PROBES) if (one := await self._probed(hand, n))]
            if tries:
                hand.round_trip_ns, offset_ns = min(tries)
                hand.anchor = ClockAnchor(
                    offset_ns=offset_ns, uncertainty_ns=max(1, hand.round_trip_ns // 2)
                )

    async def tell(self, hand: Hand, order: Order) -> None:
        """Tell one; a loss is noted."""
        if hand.lives():
            try:
                await hand.process.tell(order)
            except LoadProcessLost as loss:
                self._lose(hand, loss)

    async def tell_all(self, order: Order) -> None:
        """Tell everyone who lives the same."""
        for hand in self.live:
            await self.tell(hand, order)

    def note(self, incident: Incident) -> None:
        """Have everyone record an incident with the trials of theirs that it touched."""
        for hand in self.live:
            self._spawn(self.tell(hand, Noted(incident=self.in_clock_of(hand, incident))))

    def in_clock_of(self, hand: Hand, incident: Incident) -> Incident:
        """Return an incident with readings of a load process's clock."""
        offset_ns = hand.anchor.offset_ns
        return msgspec.structs.replace(
            incident,
            at_ns=None if incident.at_ns is None else incident.at_ns + offset_ns,
            since_ns=None if incident.since_ns is None else incident.since_ns + offset_ns,
        )

    def saw(self, vantage: Vantage) -> None:
        """Take from where a load process saw the endpoint."""
        if self.vantage is None or vantage.connections > self.vantage.connections:
            self.vantage = vantage

    async def dismiss(self) -> None:
        """Let all go, and write down that they ended in order; returns when they are gone."""
        leaving, self._is_leaving = self.live, True
        await self.tell_all(Dismiss())
        await self._executor.close()
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        for hand in leaving:
            self._write(ShardClosed(number=hand.number, is_complete=True))

    # ---- listening --------------------------------------------------------------------

    async def _listen(self, hand: Hand) -> None:
        while True:
            try:
                report = await hand.process.hear()
            except LoadProcessLost as loss:
                self._lose(hand, loss)
                return
            match report:
                case Ready():
                    self._ready[hand.number].set_result(None)
                case Echo():
                    waiting = self._echoes.pop((hand.number, report.number), None)
                    if waiting is not None and not waiting.done():
                        waiting.set_result(report.now_ns)
                case AskWhy():
                    self._spawn(self._explain(hand, report))
                case Failed() if not self._ready[hand.number].done():
                    fault = LoadProcessLost(hand.number, report.message)
                    self._ready[hand.number].set_exception(fault)
                case _:
                    self.inbox.put_nowait((hand, report))

    async def _explain(self, hand: Hand, question: AskWhy) -> None:
        incident = await self._watch.explain(question.trial_id, question.response)
        told = None if incident is None else self.in_clock_of(hand, incident)
        await self.tell(hand, Why(trial_id=question.trial_id, incident=told))

    async def _probed(self, hand: Hand, number: int) -> tuple[int, int] | None:
        """Return round trip and offset of one probe; ``None`` = it was lost."""
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._echoes[hand.number, number] = answer
        before_ns = self._clock.now_ns()
        await self.tell(hand, Probe(number=number))
        if not hand.lives():
            return None
        theirs_ns = int(await answer)
        after_ns = self._clock.now_ns()
        if not hand.lives():
            return None
        return after_ns - before_ns, theirs_ns - (before_ns + after_ns) // 2

    def _lose(self, hand: Hand, loss: LoadProcessLost) -> None:
        if not hand.lives() or self._is_leaving:
            return
        hand.lost = loss.how
        for key in [key for key in self._echoes if key[0] == hand.number]:
            self._echoes.pop(key).set_result(0)
        waiting = self._ready.get(hand.number)
        if waiting is not None and not waiting.done():
            waiting.set_exception(loss)
            return
        self._write(ShardClosed(number=hand.number, is_complete=False, detail=loss.how))
        self.inbox.put_nowait((hand, loss))

    def _write(self, record: ShardClosed) -> None:
        # Whoever writes next meets the same full disk, and says so.
        with suppress(JournalUnwritable):
            self._sink.write(record)

    def _spawn(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
