"""What a load process knows of the gateway: nothing of its own; it asks who leads the run."""

import asyncio
from collections.abc import Callable

from bench.model.fleet import AskWhy, Report, Why
from bench.model.surroundings import Gateway, Incident
from bench.model.trial import Response
from bench.runner.trial import lean

Tell = Callable[[Report], None]


class Informant:
    """``bench.ports.GatewayWatch`` that asks the leading process."""

    def __init__(self, tell: Tell, *, explains: bool) -> None:
        self.ended_by: Incident | None = None
        """What ended the gateway, as it was told."""
        self._tell = tell
        self._explains = explains
        self._asked: dict[str, asyncio.Future[Incident | None]] = {}

    def fatal(self) -> Incident | None:
        """Return the incident that ends the run, once it was told."""
        return self.ended_by

    async def explain(self, trial_id: str, response: Response) -> Incident | None:
        """Ask what happened to the gateway while this failed response was on its way."""
        if not self._explains:
            return None
        answer = self._asked.setdefault(trial_id, asyncio.get_running_loop().create_future())
        self._tell(AskWhy(trial_id=trial_id, response=lean(response)))
        try:
            return await answer
        finally:
            self._asked.pop(trial_id, None)

    async def measured(self, reason: str) -> tuple[Gateway, ...]:  # noqa: ARG002 - the port's
        """Say nothing: the leading process does."""
        return ()

    def release(self) -> None:
        """Let nobody wait for an answer any more."""
        for answer in self._asked.values():
            if not answer.done():
                answer.set_result(self.ended_by)

    def told(self, why: Why) -> None:
        """Take an answer."""
        answer = self._asked.get(why.trial_id)
        if answer is not None and not answer.done():
            answer.set_result(why.incident)
