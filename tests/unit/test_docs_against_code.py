"""What the documents list is what the code has."""

import importlib
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click
import pytest

import bench
import orchestrator
from bench.cli.entry import reason_of
from bench.errors import BenchError
from bench.keys import PRODUCTION_KEYS
from bench.model.journal_record import JournalRecord
from bench.presets import PRESETS
from bench.settings import SETTINGS
from orchestrator.cli.group import cli
from orchestrator.errors import OrchestratorError
from orchestrator.sources import ENVIRONMENT_KEYS

ROOT = Path(__file__).parents[2]
_SYSTEM = {"XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "NO_COLOR", "LOCAL_GATEWAY_KEY"}
"""Read beside the tables, and the example of a local key."""


def _executables() -> set[str]:
    found = set()
    for path in (ROOT / "orchestrator" / "presets").glob("*.toml"):
        table = tomllib.loads(path.read_text())
        found |= {table[key] for key in ("executable_env", "api_key_env") if key in table}
    return found


def test_the_example_of_a_dotenv_lists_every_variable_and_no_other():
    listed = re.findall(r"^#([A-Z][A-Z0-9_]*)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    assert len(listed) == len(set(listed))
    keys = {name for preset in PRESETS.values() for name in preset.local_keys}
    tables = {setting.variable for setting in SETTINGS.values() if setting.places}
    wanted = tables | set(ENVIRONMENT_KEYS) | set(PRODUCTION_KEYS) | keys | _executables() | _SYSTEM
    assert set(listed) == wanted


def test_the_table_of_gateway_keys_lists_every_variable():
    text = (ROOT / "docs" / "gateway-description.md").read_text()
    assert [name for name in ENVIRONMENT_KEYS if f"`{name}`" not in text] == []


_NEEDS_RAY = {"bench.cluster.bridge", "bench.cluster.driver"}
"""No error is defined there."""


def _errors():
    for package in (bench, orchestrator):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__") and module.name not in _NEEDS_RAY:
                importlib.import_module(module.name)
    found, ahead = set(), [BenchError, OrchestratorError]
    while ahead:
        below = ahead.pop().__subclasses__()
        ahead += below
        found |= {one for one in below if one.__module__.startswith(("bench.", "orchestrator."))}
    return found


def test_every_reason_that_can_end_a_command_is_explained():
    text = (ROOT / "docs" / "errors.md").read_text().partition("## Codes of a failed trial")[0]
    said = {reason_of(one): one.exit_code for one in _errors()}
    rows = {
        name: row
        for row in re.findall(r"^\| `.*$", text, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert {name for name in said if name not in rows} == set()
    wrong = {
        name: (code, rows[name]) for name, code in said.items() if f"| {code} |" not in rows[name]
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("name", "reason"),
    [("PortTaken", "port_taken"), ("NotAJob", "not_a_job"), ("EOFSeen", "eof_seen")],
)
def test_a_class_names_its_reason(name, reason):
    assert reason_of(type(name, (Exception,), {})) == reason


def test_every_record_of_a_journal_is_listed():
    table = (ROOT / "docs" / "journal.md").read_text()
    tags = {str(kind.__struct_config__.tag) for kind in get_args(JournalRecord)}
    assert {tag for tag in tags if f"`{tag}`" not in table} == set()


PAGES = (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")))


def _headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them from its headings."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    names = re.findall(r"^#+ (.*)$", plain, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", name.strip().lower()).replace(" ", "-") for name in names}


def test_links_of_the_readme_and_the_documents_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            there = page.parent / path if path else page
            assert there.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in _headings(there), f"{page.name}: {target}"


def test_the_index_names_every_page():
    index = ROOT / "docs" / "README.md"
    named = set(re.findall(r"\]\((\w[\w-]*\.md)\)", index.read_text()))
    assert {page.name for page in index.parent.glob("*.md")} - named == {"README.md"}


def _code(text: str) -> Iterator[str]:
    for fenced, inline in re.findall(r"```\w*\n(.*?)```|`([^`\n]+)`", text, re.DOTALL):
        yield (fenced or inline).replace("\\\n", " ")


def _typed_commands() -> Iterator[tuple[str, list[str]]]:
    for page in PAGES:
        for code in _code(page.read_text()):
            for line in re.findall(r"gateway-bench ([a-z].*)", code):
                unquoted = re.sub(r"\"[^\"]*\"|'[^']*'", "WORD", line)
                yield page.name, re.split(r" -- | #|\||;|&&|>|`| {8}", unquoted)[0].split()


def test_what_the_documents_tell_to_type_exists():
    seen, wrong = 0, []
    for page, (name, *words) in _typed_commands():
        with click.Context(cli) as context:
            command = cli.get_command(context, name)
            if command is not None and isinstance(command, click.Group):
                command = command.get_command(context, words[0]) if words else None
        if command is None:
            wrong.append(f"{page}: {name}")
            continue
        known = {one for param in command.params for one in (*param.opts, *param.secondary_opts)}
        typed = [
            word.partition("=")[0].rstrip(",:") for word in words if re.match(r"--?[a-z]", word)
        ]
        wrong += [f"{page}: {name} {one}" for one in typed if one not in {*known, "--help"}]
        seen += 1
    assert wrong == []
    assert seen > 100


@pytest.mark.parametrize("name", cli.list_commands(click.Context(cli)))
def test_help_fits_a_terminal_of_eighty_columns(name):
    with click.Context(cli, info_name="gateway-bench", terminal_width=80) as context:
        command = cli.get_command(context, name)
        assert command is not None
        shown = command.get_help(click.Context(command, parent=context, info_name=name))
    assert [line for line in shown.splitlines() if len(line) > 80] == []
