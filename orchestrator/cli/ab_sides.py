"""From what was typed of a side to a gateway that may be started: its tree, its trust, its build."""

import os
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.cli.console import Console
from bench.errors import reason_in
from orchestrator.ab_job import Side
from orchestrator.app import checkouts
from orchestrator.cli.ab_options import SideWords
from orchestrator.cli.describing import (
    Described,
    describe,
    side_teardown_label,
    without_port,
)
from orchestrator.commands import run_commands
from orchestrator.description import GatewayConfig
from orchestrator.errors import state_access
from orchestrator.faults import ConfigFaults, NoSuchCommit
from orchestrator.holding import hold_for_use
from orchestrator.launching import Surroundings, environment_for, fingerprint
from orchestrator.leftovers import remove_locks
from orchestrator.lifecycle import Machine
from orchestrator.ports import Commit
from orchestrator.records import Instance
from orchestrator.sources import TomlFile, find_toml, read_toml
from orchestrator.trees import Tree, make_tree, remove_forgotten, remove_tree
from orchestrator.wanted import Wanted

_LOG = "commands.log"
_SHORT = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What both sides are described with."""

    here: Machine
    console: Console
    cwd: Path
    run_id: str
    models: tuple[str, ...]
    trees: ExitStack
    """Removes the working trees."""
    client_secrets: tuple[str, ...] = ()
    """Variables of the clients' secrets, beside the key's."""
    built: set[tuple[Path, tuple[tuple[str, ...], ...]]] = field(default_factory=set)
    """Folders and how they were built: once, for what is up must not change under its feet."""


def describe_side(words: SideWords, setting: Setting) -> Side:
    """Return one side, built where its working tree had to be made.

    Raises:
        NoSuchCommit: Git knows no such commit.
        NotCheckedOut: Git made no working tree of it.
        Untrusted: A file decides what is executed, and nobody has agreed.
        CommandFailed: Its build failed.
        DescriptionFault: It asks for something that can't be.
    """
    commit, tree = None, None
    if words.ref is not None:
        commit = _commit(words)
        tree = _tree(words, commit, setting)
    file, note = _file(words, tree)
    environ = {name: text for name, text in os.environ.items() if name != "GATEWAY_PORT"}
    flags = _flags(words, _folder(words, tree, file))
    described = describe(
        flags,
        setting.here,
        setting.console,
        cwd=setting.cwd,
        file=file,
        environ=environ,
        once_trusted=lambda config: _built(config, words, environ, setting),
    )
    if note:
        described = replace(
            described,
            config=replace(described.config, notes=(*described.config.notes, note)),
        )
    labels = side_teardown_label(described, flags, setting.models, file=file, env=words.env)
    return Side(
        letter=words.letter,
        wanted=_wanted(words, described, setting, labels=labels),
        label=f"{words.letter} ({_known_by(words, commit, described)})",
        commit=commit,
        holds=() if tree is None else (tree.hold,),
    )


def side_fingerprint(side: Side) -> Mapping[str, str]:
    """Return the hash of each part of a side's description; of a made tree without its place."""
    wanted = side.wanted
    parts = fingerprint(wanted.config, wanted.located, wanted.models)
    placed = ("command", "folder", "env files") if side.commit is not None else ()
    return {name: text for name, text in parts.items() if name not in placed}


def _commit(words: SideWords) -> Commit:
    assert words.ref is not None  # noqa: S101  only then is it asked for
    found = checkouts().find(words.home, words.ref) if words.home.is_dir() else "no such folder"
    if isinstance(found, str):
        raise NoSuchCommit(words.letter, words.ref, str(words.home), found)
    return found


def _tree(words: SideWords, commit: Commit, setting: Setting) -> Tree:
    """Make the working tree; trees that a killed command left are removed first."""
    git, say = checkouts(), setting.console.say
    for place in remove_forgotten(setting.here, git, commit.top):
        say(f"note: `{place}` was left by a command that was killed: removed")
    say(f"side {words.letter}: a working tree of {commit.sha[:_SHORT]} of `{commit.top}`")
    tree = make_tree(setting.here, git, commit, f"{setting.run_id}-{words.letter}")
    setting.trees.callback(remove_tree, setting.here, git, tree)
    return tree


def _folder(words: SideWords, tree: Tree | None, file: TomlFile | None) -> Path | None:
    """Return the gateway's folder; ``None`` = as the nearest description says."""
    home = words.home if tree is None else tree.within(words.home)
    if words.is_home_typed or file is None:
        return home if words.is_home_typed or tree is not None else None
    table = _gateway(file)
    if isinstance(table.get("dir"), str):
        return (file.folder / str(table["dir"])).resolve()
    return file.folder if table and words.config is None else home


def _flags(words: SideWords, folder: Path | None) -> dict[str, Any]:
    """Return what was typed, an entry in this side's own folder: it may be the name of two files."""
    flags = {**words.flags, "dir": None if folder is None else str(folder)}
    entry = flags.get("entry")
    if entry is not None and folder is not None:
        flags["entry"] = str(folder / Path(entry).expanduser())
    return flags


def _gateway(file: TomlFile | None) -> Mapping[str, Any]:
    table = {} if file is None else file.tables.get("gateway")
    return table if isinstance(table, Mapping) else {}


def _file(words: SideWords, tree: Tree | None) -> tuple[TomlFile | None, str]:
    """Return the file that describes a side where it is not simply the nearest, and what to say."""
    if words.config is not None:
        try:
            typed = read_toml(words.config)
        except OSError as fault:
            said = f"`--{words.letter}-config` can't be read: {reason_in(fault)}: `{words.config}`"
            raise ConfigFaults([said]) from fault
        return _moved(typed, tree), ""
    if tree is None:
        return None, ""
    own = find_toml(tree.within(words.home))
    if own is not None and own.path.is_relative_to(tree.path):
        # Trusted as what it is: this content of that file of the repository.
        place = tree.commit.top / own.path.relative_to(tree.path)
        return replace(own, path=place, base=own.path.parent, copy=own.path), ""
    there = find_toml(words.home)
    if there is None:
        return None, ""
    note = f"side {words.letter}: its commit has no description: that of `{there.path}` counts"
    return _moved(there, tree), note


def _moved(file: TomlFile, tree: Tree | None) -> TomlFile:
    """Let the relative paths of a file of the repository mean those of the tree."""
    if tree is None or not file.path.is_relative_to(tree.commit.top):
        return file
    return replace(file, base=tree.within(file.path.parent))


def _built(
    config: GatewayConfig, words: SideWords, environ: Mapping[str, str], setting: Setting
) -> GatewayConfig:
    """Return the description of what is built by now, and without a port of its own.

    What it starts is looked for next, and may not have been there before.
    """
    built = replace(without_port(config), build=())
    if not config.build or (config.dir, config.build) in setting.built:
        return built
    setting.built.add((config.dir, config.build))
    instance = Instance(worktree=config.dir, name=f"{setting.run_id}-{words.letter}-build")
    hold = hold_for_use(setting.here, instance, setting.run_id)
    setting.trees.callback(remove_locks, setting.here, instance.id)
    setting.trees.callback(hold.release)
    folder = setting.here.state.root / f"{instance.id}.d"
    with state_access(folder):
        folder.mkdir(mode=0o700, parents=True)
    setting.trees.callback(shutil.rmtree, folder, ignore_errors=True)
    near = Surroundings(caller={**environ, **words.env}, generated=folder)
    for command in config.build:
        setting.console.say(f"side {words.letter}: build: {' '.join(command)}")
    run_commands(
        "build",
        config.build,
        folder=config.dir,
        environment=environment_for(config, near, 1).values,
        log=folder / _LOG,
    )
    return built


def _wanted(
    words: SideWords, described: Described, setting: Setting, *, labels: Mapping[str, Any]
) -> Wanted:
    config = described.config
    return Wanted(
        config=config,
        located=described.located,
        name=f"{setting.run_id}-{words.letter}",
        run_id=f"{setting.run_id}-{words.letter}",
        caller={**described.environ, **words.env},
        models=setting.models,
        key_names=described.key_names(setting.client_secrets),
        labels=labels,
    )


def _known_by(words: SideWords, commit: Commit | None, described: Described) -> str:
    """Return what tells a side from the other one: commit, description, folder."""
    config, known = described.config, []
    if commit is not None:
        is_sha = words.ref is not None and commit.sha.startswith(words.ref)
        known.append(commit.sha[:_SHORT] if is_sha else f"{words.ref} at {commit.sha[:_SHORT]}")
    elif config.upstream != "embedded" and (words.is_home_typed or config.preset is None):
        known.append(described.located.folder.name)
    if config.preset is not None:
        known.append(config.preset)
    if words.config is not None:
        known.append(words.config.name)
    known += [f"{name}={text}" for name, text in words.env.items()]
    return ", ".join(known)
