"""Puts tool calls together from deltas in which name and arguments arrive in pieces.

The index says which call a piece belongs to. Servers that leave it out, or send 0 for every call,
are told apart by the id: a new id with a name begins a new call.
"""

from dataclasses import dataclass, field

from bench.model.trial import ToolCall


@dataclass(slots=True, kw_only=True)
class _Draft:
    index: int | None
    id: str | None = None
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def add(self, id_: str | None, name: str, arguments: str) -> None:
        repeated = bool(id_) and id_ == self.id and name == self.name
        if name and not self.arguments and not repeated:
            self.name += name
        if id_ and not self.id:
            self.id = id_
        if arguments:
            self.arguments.append(arguments)


class ToolCallAssembly:
    """The calls of one answer, in the order of their index, else of their first piece.

    A piece is found its call without a walk over all of them: a stranger says how many there are.
    """

    __slots__ = ("_drafts", "_last", "_named")

    def __init__(self) -> None:
        self._drafts: list[_Draft] = []
        self._last: dict[int | None, _Draft] = {}
        """The latest call by index; ``None`` = of all."""
        self._named: dict[tuple[int | None, str], _Draft] = {}
        """The first call of an id by index; ``None`` = of all."""

    def add(self, *, index: int | None, id_: str | None, name: str, arguments: str) -> None:
        """Add one piece; empty strings are pieces that are not there."""
        draft = self._find(index, id_, name)
        if draft is None:
            draft = _Draft(index=index)
            self._drafts.append(draft)
            self._last[index] = self._last[None] = draft
        draft.add(id_, name, arguments)
        if draft.id:
            self._named.setdefault((None, draft.id), draft)
            self._named.setdefault((draft.index, draft.id), draft)

    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls as far as they came."""
        drafts = self._drafts
        if all(draft.index is not None for draft in drafts):
            drafts = sorted(drafts, key=lambda draft: draft.index or 0)
        return tuple(
            ToolCall(id=draft.id, name=draft.name, arguments="".join(draft.arguments))
            for draft in drafts
        )

    def _find(self, index: int | None, id_: str | None, name: str) -> _Draft | None:
        """Return the call this piece continues, ``None`` for a new one."""
        if index is None and id_:
            same = self._named.get((None, id_))
            if same is not None or name:
                return same
        last = self._last.get(index)
        if last is None:
            return None
        if id_ and name and last.id and id_ != last.id:
            return self._named.get((index, id_))
        # Without index and id a name after arguments can only begin the next call.
        if index is None and not id_ and name and last.arguments:
            return None
        return last
