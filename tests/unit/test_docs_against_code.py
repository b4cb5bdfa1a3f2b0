"""What the documents list is what the code has."""

import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

import bench
import orchestrator
from bench.cli.entry import reason_of
from bench.errors import BenchError
from bench.keys import PRODUCTION_KEYS
from bench.presets import PRESETS
from bench.settings import SETTINGS
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


def test_links_of_the_readme_and_the_documents_lead_somewhere():
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:\s]+)[^):]*\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
