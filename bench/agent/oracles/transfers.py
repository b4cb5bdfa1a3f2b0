"""Checks of `agentic_interleaving`: the log of a run is replayed here, operation by operation.

So what counts is not what the run says of itself but whether each operation could happen there, in
the turn that the schedule gave it, and whether the rules hold at each of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, cycle, islice

from bench.agent.comparing import quote, same
from bench.agent.oracles.making import calls
from bench.agent.task import Check, Expectation, Json, Judged
from bench.seeds import SeededStream

_PATIENCE = 40
_Order = list[Json]


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(19, label="coding task")
    opposed: list[_Order] = [["ann", "bob", 40], ["bob", "ann", 30]]
    asked = [_run(opposed, schedule) for schedule in ([0, 1] * 8, [0, 1, 1, 0] * 5, [1, 0] * 9)]
    asked += [
        _run([["ann", "bob", 70], ["ann", "bob", 70]], [0, 1] * 8),
        _run([["ann", "bob", 500], ["ann", "cem", 10]], [0, 0, 0, 1, 1, 0, 1]),
        _run([["ann", "ann", 10], ["ann", "ann", 900]], [0, 1]),
        _run([["ann", "bob", 0], ["bob", "cem", -5]], []),
        _run([["ann", "bob", 10], ["bob", "cem", 110], ["cem", "ann", 20]], [0, 1, 2] * 9),
        _run([["bob", "cem", 100], ["ann", "bob", 100]], [0, 1, 0, 1]),
    ]
    asked += [_run(_orders(draw), _schedule(draw)) for _ in range(12)]
    return calls("run", asked, _expected)


def _run(orders: list[_Order], schedule: list[int]) -> Json:
    return {
        "accounts": {"ann": 100, "bob": 100, "cem": 50, "dee": 0},
        "transfers": orders,
        "schedule": [index for index in schedule if index < len(orders)],
        "patience": _PATIENCE,
    }


def _orders(draw: SeededStream) -> list[_Order]:
    return [
        [*draw.sample(("ann", "bob", "cem", "dee"), 2), draw.pick((1, 30, 60, 100))]
        for _ in range(draw.between(2, 4))
    ]


def _schedule(draw: SeededStream) -> list[int]:
    return [draw.below(4) for _ in range(30)]


def _expected(given: Json) -> Expectation:
    return Judged(rule="every rule of the README, at each operation", judge=_judge(given))


def _judge(given: Json) -> Callable[[Json], str | None]:
    def judge(log: Json) -> str | None:
        if not isinstance(log, list):
            return f"returned {quote(log)}, no log"
        replay = _Replay(given=given, balances=dict(given["accounts"]))
        return next(replay.faults(log), None)

    return judge


@dataclass(slots=True, kw_only=True)
class _Replay:
    given: Json
    balances: dict[str, int]
    holders: dict[str, int] = field(default_factory=dict)
    released: set[int] = field(default_factory=set)
    results: dict[int, bool] = field(default_factory=dict)
    read: dict[tuple[int, str], int] = field(default_factory=dict)

    def faults(self, log: list[Json]) -> Iterator[str]:
        """Yield what is wrong, in order of appearance; only the first is sure."""
        left = iter(log)
        entry = next(left, None)
        for index in self._turns():
            if index in self.results:
                continue
            if not (isinstance(entry, list) and len(entry) > 1 and same(entry[0], index)):
                break
            fault = self._take(index, entry)
            if fault is not None:
                yield f"transfer {index}: {fault}"
                return
            entry = next(left, None)
        if entry is not None:
            yield f"{quote(entry)} was nobody's turn"
        yield from self._end()

    def _turns(self) -> Iterator[int]:
        count = len(self.given["transfers"])
        return chain(self.given["schedule"], islice(cycle(range(count)), _PATIENCE * count))

    def _take(self, index: int, entry: list[Json]) -> str | None:
        if self.given["transfers"][index][2] < 1 and entry[1] != "end":
            return "took up an amount below 1"
        match entry[1:]:
            case ["end", bool(result)]:
                return self._ended(index, result)
            case ["lock", str(name), bool(waits)]:
                return self._lock(index, name, waits)
            case [_, str(name), *_] if self.holders.get(name) == index:
                return self._with_lock(index, name, entry[1:])
        return f"may not do {quote(entry[1:])} now"

    def _with_lock(self, index: int, name: str, did: list[Json]) -> str | None:
        match did:
            case ["unlock", _, None]:
                del self.holders[name]
                self.released.add(index)
            case ["read", _, cents] if same(cents, self.balances[name]):
                self.read.setdefault((index, name), self.balances[name])
            case ["write", _, int(cents), None] if type(cents) is int and cents >= 0:
                self.balances[name] = cents
            case _:
                return f"may not do {quote(did)}"
        return None

    def _lock(self, index: int, name: str, waits: bool) -> str | None:  # noqa: FBT001 - from the log
        if waits is not (name in self.holders):
            return f"the lock of {quote(name)} is told to be what it is not"
        if waits:
            return None
        if index in self.released:
            return "takes a lock after giving one back"
        if name not in self.given["transfers"][index][:2]:
            return f"locks {quote(name)}, which is not its own"
        self.holders[name] = index
        return None

    def _ended(self, index: int, result: bool) -> str | None:  # noqa: FBT001 - what it returned
        self.results[index] = result
        held = [name for name, holder in self.holders.items() if holder == index]
        if held:
            return f"ended with the lock of {held[0]}"
        source, _, cents = self.given["transfers"][index]
        if cents < 1:
            return "took up an amount below 1" if result else None
        balance = self.read.get((index, source))
        if balance is None:
            return "ended without a look at its source"
        refused_rightly = balance < cents
        return f"returned {result} with {balance} there" if result is refused_rightly else None

    def _end(self) -> Iterator[str]:
        orders = self.given["transfers"]
        stuck = sorted(set(range(len(orders))) - self.results.keys())
        if stuck:
            yield f"transfers {stuck} did not end"
        expected = dict(self.given["accounts"])
        for index, (source, target, cents) in enumerate(orders):
            if self.results.get(index):
                expected[source] -= cents
                expected[target] += cents
        if expected != self.balances:
            yield f"balances are {quote(self.balances)}, not {quote(expected)}"
