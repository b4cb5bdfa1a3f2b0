"""Two gateways up at once, one process measures both in turn, both down; on every way out.

Side a is what is held against, side b what is asked about. The side that came up last goes down
first: a simulator that both share belongs to side a and is the very last to end.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from orchestrator.alongside import (
    Measuring,
    Watch,
    announce,
    answer,
    follow,
    key_words,
    require_same_build,
    stop_once,
    warn_of_ourselves,
    watch_over,
)
from orchestrator.around import Say
from orchestrator.bench_child import BenchChild, ChildEnd
from orchestrator.bringing import Up, bring_up
from orchestrator.conclusion import ARMS, Course, JobEnd, conclude
from orchestrator.facts import build_facts, gateway_state
from orchestrator.faults import NotThatBuild
from orchestrator.interrupts import Interrupts
from orchestrator.launching import client_key, request_headers
from orchestrator.leftovers import remove_traces
from orchestrator.lifecycle import Machine
from orchestrator.link import Asked, JobLink, JournalMade, Measured, Message, SideLine
from orchestrator.ports import Commit, Lock
from orchestrator.records import is_of_worktree
from orchestrator.tidings import Tidings
from orchestrator.wanted import Shared, Wanted

Letter = Literal["a", "b"]
_PLACES = frozenset({"dir", "port", "about", "notes", "install", "build"})
"""Keys that say where a gateway is or how it is made, not what it does once it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two gateways."""

    letter: Letter
    wanted: Wanted
    label: str
    """What people know it by: ``a: 1f2e3d4``."""
    commit: Commit | None = None
    """What it claims to be the build of; ``None`` = whatever its folder holds."""
    holds: tuple[Lock, ...] = ()
    """On its working tree, where that was made for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbJob:
    """One comparison of two gateways."""

    run_id: str
    sides: tuple[Side, Side]
    measuring: Measuring
    caller: Mapping[str, str]
    """Environment of the command."""
    dialect: str | None = None
    """Of both sides; ``None`` = as each is described."""
    launch: Mapping[str, Any]
    """How both are described again by ``resume``; goes into the journal's header."""
    is_verbose: bool = False
    expected_builds: Mapping[str, Mapping[str, Any]] | None = None
    """By letter, of a resumed run; ``None`` = a new one."""
    on_journal: Callable[[Path], None] = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Both gateways, up."""

    job: AbJob
    courses: tuple[Course, ...]
    watches: tuple[Watch, ...]
    link: JobLink
    is_same: bool


def run_ab(job: AbJob, machine: Machine, interrupts: Interrupts, say: Say) -> JobEnd:
    """Do the whole comparison.

    Raises:
        OrchestratorError: A gateway did not start, or is not the build that it should be; the
            other one was stopped and nothing was measured.
        Interrupted: A signal came before anything was measured.
    """
    link, courses = JobLink(), list[Course]()
    with ExitStack() as down:
        down.callback(link.close)
        shared: Shared | None = None
        for side in job.sides:
            wanted = replace(side.wanted, shared=shared)
            up = _brought_up(wanted, machine, interrupts, say, down)
            line = SideLine(link, ARMS[side.letter])
            tidings = Tidings(line, up.started.record)
            told = _of_side(say, side.letter)
            course = Course(up=up, line=line, tidings=tidings, say=told, side=side.letter)
            down.callback(stop_once, machine, course, interrupts)
            courses.append(course)
            shared = Shared(upstream=up.near.upstream, answer_book=_book(up))
            _require_build(side, course.up)
            expected = None if job.expected_builds is None else job.expected_builds[side.letter]
            require_same_build(course.up, expected)
            announce(up, told, is_verbose=job.is_verbose)
        warn_of_ourselves(machine, courses[0].up, say)
        is_same = is_same_gateway(courses[0].up, courses[1].up)
        if is_same:
            say("A/A: both sides are the same build with the same description")
        link.send(_hello(job, courses, is_same=is_same))
        pair = _Pair(
            job=job,
            courses=tuple(courses),
            watches=tuple(watch_over(machine, course, down) for course in courses),
            link=link,
            is_same=is_same,
        )
        end = _measure(pair, machine, interrupts)
        for watch, course in zip(pair.watches, courses, strict=True):
            watch.lookout.close()
            trouble = watch.watcher.explain(None) if end.said is None else None
            if trouble is not None:
                course.lost = course.lost or course.of_side(trouble)
            watch.watcher.expect_end()
        _stop_both(courses, machine, interrupts)
    done = conclude(machine, courses, end, interrupted=interrupts.exit_code)
    return _tidied(job, machine, done)


def is_same_gateway(one: Up, other: Up) -> bool:
    """Say whether two gateways run the same build under the same description."""
    builds = [build_facts(up.started.record) for up in (one, other)]
    if any(builds[0][key] != builds[1][key] for key in ("tree", "diffSha256", "entrySha256")):
        return False
    is_known = any(builds[0][key] is not None for key in ("tree", "entrySha256"))
    is_embedded = one.wanted.config.upstream == "embedded"
    return (is_known or is_embedded) and _described(one) == _described(other)


def _described(up: Up) -> dict[str, str]:
    """Return what is said of a gateway, wherever its folder is."""
    config = up.wanted.config
    folder = str(up.wanted.located.folder)
    kept = {key: value for key, value in config.values.items() if key not in _PLACES}
    kept["env_files"] = [str(one.path) for one in config.env_files]
    kept["entry"] = up.wanted.located.words
    return {key: str(value).replace(folder, ".") for key, value in sorted(kept.items())}


def _book(up: Up) -> Path:
    assert up.near.answer_book is not None  # noqa: S101  every start has a place for one
    return up.near.answer_book


def _brought_up(
    wanted: Wanted, machine: Machine, interrupts: Interrupts, say: Say, down: ExitStack
) -> Up:
    """Bring one side up; ``down`` lets go of it."""
    with interrupts.abandoning():
        up = bring_up(machine, wanted, say)
    down.callback(up.hold.release)
    down.callback(up.started.held.close)
    return up


def _of_side(say: Say, letter: Letter) -> Say:
    return lambda line: say(f"side {letter}: {line}")


def _require_build(side: Side, up: Up) -> None:
    """See that what was started is the build of the commit that its side names."""
    commit = side.commit
    if commit is None:
        return
    record = up.started.record
    if not is_of_worktree(record):
        why = f"`{record.entry}` does not lie in its working tree"
    elif record.build.commit != commit.sha:
        why = f"its working tree is at {(record.build.commit or 'no commit')[:12]}"
    else:
        return
    raise NotThatBuild(side.letter, commit.sha, why)


def _hello(job: AbJob, courses: Sequence[Course], *, is_same: bool) -> dict[str, Any]:
    ups = [course.up for course in courses]
    free = [_free_because(up) for up in ups]
    is_simulated = all(up.near.upstream.is_simulated for up in ups)
    builds = {str(one.side): build_facts(one.up.started.record) for one in courses}
    return {
        "type": "hello",
        "runId": job.run_id,
        "launch": {**job.launch, "builds": builds},
        "gateway": gateway_state(ups[0]),
        "gateways": _states(courses),
        "labels": {ARMS[side.letter]: side.label for side in job.sides},
        "isSame": is_same,
        "simulatedUpstream": is_simulated,
        "freeBecause": free[0] if None not in free else None,
        "answerBook": str(_book(ups[0])) if is_simulated else None,
        "graceMs": sum(up.wanted.config.grace_ms for up in ups),
    }


def _free_because(up: Up) -> str | None:
    if up.near.upstream.is_simulated:
        return "its upstream is the embedded simulator"
    return up.wanted.config.upstream_free


def _states(courses: Sequence[Course]) -> dict[str, Any]:
    return {ARMS[str(one.side)]: gateway_state(one.up, one.stopped) for one in courses}


def _measure(pair: _Pair, machine: Machine, interrupts: Interrupts) -> ChildEnd:
    """Run the measuring process from its start to its end."""
    job, courses = pair.job, pair.courses
    words, environment = _child(job, [course.up for course in courses])
    holds = [lock for side in job.sides for lock in side.holds]
    child = BenchChild(
        words,
        environment=environment,
        folder=courses[0].up.wanted.config.cwd,
        link=pair.link,
        holds=[*(course.up.hold for course in courses), *holds],
    )

    def on_message(message: Message) -> None:
        match message:
            case JournalMade():
                _journal_made(pair, Path(message.path), machine.clock.now_ns())
            case Asked():
                _answer(pair, message)
            case Measured():
                for watch in pair.watches:
                    watch.lookout.finish()
                    watch.watcher.expect_end()
                _stop_both(courses, machine, interrupts)
                states = _states(courses)
                pair.link.send(
                    {"type": "outcome", "gateway": states[ARMS["a"]], "gateways": states}
                )

    return follow(child, interrupts, on_message, may_ask=job.measuring.may_ask)


def _journal_made(pair: _Pair, path: Path, now_ns: int) -> None:
    for course in pair.courses:
        course.journal, course.journal_ns = path, now_ns
        course.tidings.journal_made()
    pair.watches[0].lookout.add_folder(path.parent, "the results")
    pair.job.on_journal(path)


def _answer(pair: _Pair, asked: Asked) -> None:
    """Ask the watcher of the side that the request went to."""
    for watch, course in zip(pair.watches, pair.courses, strict=True):
        if asked.side == ARMS[str(course.side)]:
            answer(course, watch, asked)
            return
    pair.link.send({"type": "answer", "id": asked.id, "incident": None})


def _child(job: AbJob, ups: Sequence[Up]) -> tuple[list[str], dict[str, str]]:
    """Return the words and the environment of the measuring process; its baseline is side a.

    Both sides may name the same variable and have another token in it: that of side a is then
    handed over under a name of its own.
    """
    a, b = ups
    kept = {name: text for name, text in job.caller.items() if not name.startswith("GWB_")}
    environment = kept | client_key(b.wanted.config, b.near)
    words = [job.measuring.command, *job.measuring.words, "--url", b.base_url, *key_words(b)]
    words += ["--baseline-url", a.base_url, *_dialects(job, a, b)]
    words += [word for text in _headers(b) for word in ("-H", text)]
    words += [word for text in _headers(a) for word in ("--baseline-header", text)]
    name = a.wanted.config.api_key_env
    if name is not None:
        value = (kept | client_key(a.wanted.config, a.near)).get(name)
        if environment.get(name, value) != value:
            name = f"{name}_A"
        if value is not None:
            environment[name] = value
        words += ["--baseline-api-key-env", name]
    return [*words, "--json"], environment


def _dialects(job: AbJob, a: Up, b: Up) -> list[str]:
    """Return which fields each side understands: a resumed run has that on record."""
    if job.measuring.command != "ab":
        return []
    one, other = (job.dialect or up.wanted.config.dialect for up in (a, b))
    return ["--baseline-dialect", one, "--dialect", other]


def _headers(up: Up) -> list[str]:
    """Return the headers that point a request at the upstream, as they are typed."""
    headers = request_headers(up.wanted.config, up.near, up.started.record.port)
    return [f"{name}: {text}" for name, text in headers.items()]


def _stop_both(courses: Sequence[Course], machine: Machine, interrupts: Interrupts) -> None:
    for course in reversed(courses):
        stop_once(machine, course, interrupts)


def _tidied(job: AbJob, machine: Machine, end: JobEnd) -> JobEnd:
    """Leave nothing in the state folder of a run that ended well; of others the logs are wanted."""
    if end.exit_code != 0:
        return end
    gateway = dict(end.gateway)
    for side in job.sides:
        own = (side.wanted.instance.id, side.wanted.upstream_instance.id)
        if remove_traces(machine, own):
            gateway[side.letter] = {**gateway[side.letter], "log": None}
    return replace(end, gateway=gateway)
