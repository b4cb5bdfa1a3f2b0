"""The turns of a journal, put together to the trials that they belong to. Pure.

A turn's number says which turns it follows: number N goes on after the first N - 1 of the turns
that were recorded before it, so a turn that is asked again replaces what stood at its place.
"""

from collections.abc import Iterator

from bench.model.steps import TurnDone
from bench.model.trial import Trial
from bench.model.turn import TurnTrace


class TurnBook:
    """Takes turns and ends of trials in the order in which they were written."""

    def __init__(self) -> None:
        self._chains: dict[str, list[TurnTrace]] = {}
        self._ended: dict[str, tuple[TurnTrace, ...]] = {}

    def take(self, record: TurnDone) -> None:
        """Take the next turn; one whose predecessor was lost can't be gone on from."""
        turn = record.turn
        chain = self._chains.setdefault(record.trial_id, [])
        if turn.number <= len(chain) + 1:
            del chain[turn.number - 1 :]
            chain.append(turn)

    def end(self, trial: Trial) -> None:
        """Take the end of a trial; where it is asked again, it goes on from what it says."""
        if trial.agent is None:
            return
        chain = self._chains.setdefault(trial.id, [])
        self._ended[trial.id] = tuple(chain[: trial.agent.turns])
        del chain[trial.agent.reusable_turns :]

    def doubt(self, trial_id: str) -> None:
        """Nothing of the trial is gone on from: an incident found out later touched it."""
        self._chains.pop(trial_id, None)

    def of_trials(self) -> dict[str, tuple[TurnTrace, ...]]:
        """Return the turns of each trial: of its last record, else of what was cut off."""
        return {i: tuple(chain) for i, chain in self._chains.items() if chain} | self._ended

    def to_go_on_from(self, trial_id: str) -> tuple[TurnTrace, ...]:
        """Return the turns after which a later process may go on with the trial."""
        return tuple(self._whole(trial_id))

    def _whole(self, trial_id: str) -> Iterator[TurnTrace]:
        for turn in self._chains.get(trial_id, ()):
            if not turn.is_whole:
                return
            yield turn
