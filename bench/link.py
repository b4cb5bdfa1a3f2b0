"""The line to the job that started the gateway: JSON lines over one inherited socket pair.

The job talks first (``hello``), pushes what happens to the gateway, and answers ``ask``. If the job
dies, the run goes on without a watcher and the journal says so: the gateway is detached and lives
on, and what is being measured is paid for. ``docs/journal.md`` lists the messages.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from bench.clock import iso_ms
from bench.errors import UsageFault, reason_in
from bench.job_messages import Clean, Hello, IncidentText, Incoming, records_of, without
from bench.model.paired import Side
from bench.model.record import Value
from bench.model.surroundings import Gateway, Incident, Sample
from bench.model.trial import Response
from bench.ports import Clock

LINK_VARIABLE = "GWB_LINK_FD"
HELLO_TIMEOUT_S = 10.0
LINE_LIMIT = 16 * 1024 * 1024
"""Bytes of the longest message: a gateway's events and build may be long."""

log = logging.getLogger(__name__)


class Patience(Value, frozen=True, kw_only=True):
    """How long the job is waited for, in seconds."""

    answer_s: float = 2.0
    outcome_slack_s: float = 10.0
    """Beyond the gateway's grace."""


_PATIENCE = Patience()

OnIncident = Callable[[Incident], None]
"""Takes an incident at once, fatal or not."""
OnSample = Callable[[Sample], None]


class NoJob:
    """Nobody watches: the endpoint is not a gateway that we started."""

    def fatal(self) -> Incident | None:
        """Return nothing: there is no one to notice."""
        return None

    async def explain(self, trial_id: str, response: Response) -> Incident | None:  # noqa: ARG002
        """Return nothing: nobody knows."""
        return None

    async def measured(self, reason: str) -> tuple[Gateway, ...]:  # noqa: ARG002
        """Return nothing: there is no gateway to stop."""
        return ()


class JobLink:
    """``bench.ports.GatewayWatch`` over the socket to the job.

    Args:
        connection: Connected stream socket; owned from here on.
        hello: The job's first message.
        clock: Gives the moment at which an incident is noticed.
        patience: How long answers are waited for.
        clean: For what the job tells of the gateway.
    """

    def __init__(
        self,
        connection: socket.socket,
        hello: Hello,
        *,
        clock: Clock,
        patience: Patience,
        clean: Clean,
    ) -> None:
        self.hello = hello
        self._clean = clean
        self._connection = connection
        self._clock = clock
        self._patience = patience
        self._fatal: Incident | None = None
        self._told: list[Incident] = []
        self._asked = 0
        self._answers: dict[int, asyncio.Future[Incident | None]] = {}
        self._outcome: asyncio.Future[tuple[Gateway, ...]] | None = None
        self._sides: Mapping[str, Side] = {}
        self._reading: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._on_incident: OnIncident = lambda _: None
        self._on_sample: OnSample = lambda _: None

    @classmethod
    def accept(
        cls,
        descriptor: int,
        clock: Clock,
        *,
        patience: Patience = _PATIENCE,
        clean: Clean = lambda text: text,
    ) -> "JobLink":
        """Take over the inherited descriptor and wait for the job's ``hello``.

        Raises:
            UsageFault: The descriptor is no socket, or no ``hello`` came within 10 s.
        """
        hint = f"`{LINK_VARIABLE}` is set by `gateway-bench run`; unset it to run without a job"
        try:
            connection = socket.socket(fileno=descriptor)
        except OSError as error:
            message = f"`{LINK_VARIABLE}={descriptor}` names no socket: {reason_in(error)}"
            raise UsageFault(message, hint=hint) from error
        try:
            connection.set_inheritable(False)
            hello = msgspec.json.decode(_first_line(connection), type=Hello)
        except (OSError, msgspec.DecodeError) as error:
            connection.close()
            message = f"no `hello` from the job on descriptor {descriptor}: {error}"
            raise UsageFault(message, hint=hint) from error
        return cls(connection, hello, clock=clock, patience=patience, clean=clean)

    async def open(
        self,
        *,
        on_incident: OnIncident,
        on_sample: OnSample,
        sides: Mapping[str, Side] | None = None,
    ) -> None:
        """Begin to listen; the callbacks run in the event loop, at once and in order.

        Args:
            on_incident: Takes each incident.
            on_sample: Takes each sample.
            sides: Target id → which of two gateways its requests go to.
        """
        self._on_incident, self._on_sample = on_incident, on_sample
        self._sides = sides or {}
        loop = asyncio.get_running_loop()
        self._outcome = loop.create_future()
        reader, self._writer = await asyncio.open_unix_connection(
            sock=self._connection, limit=LINE_LIMIT
        )
        self._reading = loop.create_task(self._listen(reader))

    def fatal(self) -> Incident | None:
        """Return the incident that ended the gateway, once it was noticed."""
        return self._fatal

    def is_told(self, incident: Incident) -> bool:
        """Say whether the job has shown this incident to people already."""
        key = (incident.incident_class, incident.at_ns)
        return any((one.incident_class, one.at_ns) == key for one in self._told)

    def journal_created(self, path: Path) -> None:
        """Tell the job where the journal is, so that it can close it should this process die."""
        self._tell({"type": "journal", "path": str(path)})

    async def explain(self, trial_id: str, response: Response) -> Incident | None:
        """Ask what happened to the gateway; ``None`` without an answer within 2 s."""
        if self._is_lost:
            return self._fatal
        self._asked += 1
        number = self._asked
        answer: asyncio.Future[Incident | None] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        code = None if response.error is None else response.error.code
        question = {"type": "ask", "id": number, "trial": trial_id, "code": code}
        side = next((s for t, s in self._sides.items() if trial_id.startswith(f"{t}|")), None)
        self._tell({**question, "localPort": response.local_port, "side": side})
        try:
            async with asyncio.timeout(self._patience.answer_s):
                return await answer or self._fatal
        except TimeoutError:
            return self._fatal
        finally:
            del self._answers[number]

    async def measured(self, reason: str) -> tuple[Gateway, ...]:
        """Let the job stop the gateway and wait for what it knows of it: grace + 10 s at most."""
        if self._is_lost or self._outcome is None:
            return ()
        self._tell({"type": "measured", "reason": reason})
        try:
            async with asyncio.timeout(self.hello.grace_ms / 1000 + self._patience.outcome_slack_s):
                return await self._outcome
        except TimeoutError:
            return ()

    async def close(self) -> None:
        """Stop listening and close the socket."""
        if self._reading is None or self._writer is None:
            self._connection.close()
            return
        self._reading.cancel()
        await asyncio.wait({self._reading})
        self._writer.close()

    @property
    def _is_lost(self) -> bool:
        return self._reading is None or self._reading.done()

    def _tell(self, message: dict[str, Any]) -> None:
        if self._writer is not None and not self._is_lost:
            self._writer.write(msgspec.json.encode(message) + b"\n")

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                self._receive(line)
        except (ConnectionError, ValueError) as error:  # reset, or a line beyond the limit
            log.warning("the link to the job broke: %s", error)
        self._lose()

    def _receive(self, line: bytes) -> None:
        try:
            message = msgspec.json.decode(line, type=Incoming)
            text = None
            if message.type == "incident":
                text = msgspec.json.decode(line, type=IncidentText)
        except msgspec.DecodeError as error:
            log.warning("the job sent a line that can't be read: %s", error)
            return
        match message.type:
            case "incident" if text is not None:
                incident = self._incident(text)
                if text.told:
                    self._told.append(incident)
                self._notice(incident, ends_run=text.fatal)
            case "answer":
                self._answered(message)
            case "outcome":
                self._ended(tuple(map(self._cleaned, records_of(message, self.hello))))
            case "sample" if message.at_ns is not None:
                sample = Sample(at_ns=message.at_ns, values=message.values, side=message.side)
                self._on_sample(sample)
            case other:
                log.warning("the job sent a message of unknown type %r", other)

    def _answered(self, message: Incoming) -> None:
        incident = None if message.incident is None else self._incident(message.incident)
        if incident is not None and incident.ends_run:
            self._notice(incident, ends_run=True)
        answer = self._answers.get(message.id or 0)
        if answer is not None and not answer.done():
            answer.set_result(incident)

    def _ended(self, gateways: tuple[Gateway, ...]) -> None:
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(gateways)

    def _notice(self, incident: Incident, *, ends_run: bool) -> None:
        if ends_run:
            if self._fatal is not None:
                return
            self._fatal = incident
        self._on_incident(incident)

    def _incident(self, text: IncidentText) -> Incident:
        now_ns = self._clock.now_ns()
        ago = timedelta(microseconds=(now_ns - (text.at_ns or now_ns)) / 1000)
        return Incident(
            incident_class=text.incident_class,
            at=iso_ms(self._clock.utcnow() - ago),
            at_ns=text.at_ns,
            noticed_ns=now_ns,
            summary=self._clean(text.summary),
            detail=without(text.detail, self._clean),
            since_ns=text.since_ns,
        )

    def _cleaned(self, gateway: Gateway) -> Gateway:
        events, end = without(gateway.events, self._clean), without(gateway.exit, self._clean)
        return msgspec.structs.replace(gateway, events=events, exit=end)

    def _lose(self) -> None:
        """The job is gone: nothing it was asked will be answered."""
        for answer in self._answers.values():
            if not answer.done():
                answer.set_result(None)
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(())
            summary = (
                "The job that watched the gateway ended before the run did. Measuring went on; "
                "from here on nobody can say whether a failure was the gateway's death."
            )
            text = IncidentText(incident_class="watcher_lost", summary=summary)
            self._notice(self._incident(text), ends_run=False)


def _first_line(connection: socket.socket) -> bytes:
    """Take exactly one line from the socket; what follows is left for the event loop."""
    connection.settimeout(HELLO_TIMEOUT_S)
    line = b""
    while not line.endswith(b"\n"):
        waiting = connection.recv(65_536, socket.MSG_PEEK)
        if not waiting:
            message = "the job closed the link"
            raise ConnectionResetError(message)
        line += connection.recv(waiting.find(b"\n") + 1 or len(waiting))
    connection.settimeout(0)
    return line
