"""One whole `run` behind a gateway that knows the key: everything that it leaves, says and starts."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.command_line import CommandLine
from tests.echo_server import KEY as ECHOED
from tests.echo_server import found_in
from tests.echoing_gateway import ENTRY, SEEN, TEAM_HEADER

pytestmark = pytest.mark.integration
KEY = f"{ECHOED}-of-a-run"
"""Not that of other tests: processes of the whole machine are looked at."""
NAME = "LOCAL_TEST_KEY"
SECRETS = {
    "key": KEY,
    "header": "team/+9f8e7d6c5b4a-of-a-run",
    "proxy": "pass/+0a1b2c3d4e5f-of-a-run",
}
ENVIRONMENT = {
    NAME: KEY,
    "TEAM": SECRETS["header"],
    "HTTPS_PROXY": f"http://me:{quote(SECRETS['proxy'], safe='')}@127.0.0.1:9",
}
DESCRIPTION = """
[gateway]
entry = "gateway_entry.py"
upstream = "simulated"
api_key_env = "LOCAL_TEST_KEY"
prepare = ["cp /proc/self/environ prepared.environ"]
teardown = ["cp /proc/self/environ torn_down.environ"]

[gateway.health]
path = "/health"

[gateway.point.env]
ECHO_UPSTREAM = "{upstream_base_url}"
ECHO_UPSTREAM_TOKEN = "{upstream_token}"
"""


class Ran:
    """The run, and where it happened."""

    def __init__(self, root: Path) -> None:
        self.tree = root / "tree"
        (self.tree / ".git").mkdir(parents=True)
        (self.tree / "gateway_entry.py").write_text(ENTRY)
        (self.tree / "gateway-bench.toml").write_text(DESCRIPTION)
        here = str(Path(__file__).parents[3])
        self.command = CommandLine(root / "home", self.tree, PYTHONPATH=here)
        assert self.command("trust").code == 0
        words = ("run", "sim-ttft5-itl1-n8", "--case", "fixed_output_stream", "--runs", "20")
        more = ("--header-env", f"{TEAM_HEADER}=TEAM", "--debug", "-vv", "--json")
        self.done = self.command(*words, *more, **ENVIRONMENT)
        (journal,) = self.command.out.glob("*.jsonl")
        self.records = [json.loads(line) for line in journal.read_bytes().splitlines()]

    def kinds(self) -> set[str]:
        return {one["type"] for one in self.records}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    made = Ran(tmp_path_factory.mktemp("key"))
    yield made
    assert made.command.leftovers() == []


def test_the_gateway_answered_failed_and_died_of_an_error_with_the_key_in_it(ran):
    assert ran.done.code == 4, ran.done.err
    assert ran.kinds() >= {"header", "started", "trial", "gateway", "sample", "incident", "footer"}
    (death,) = [one for one in ran.records if one["type"] == "incident"]
    assert death["class"] == "gateway_crash"
    assert "LookupError: no credit for " in json.dumps(death)
    echoed = sum(json.dumps(one).count("[secret]") for one in ran.records)
    assert echoed > 20, "the echo did not arrive"


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_no_file_of_it_holds_a_secret(ran, secret):
    files = [one for one in ran.tree.parent.rglob("*") if one.is_file()]
    # The gateway and what is run around it have the caller's proxy: their requests go through it.
    files = [one for one in files if secret != SECRETS["proxy"] or one.suffix != ".environ"]
    kinds = {one.suffix for one in files}
    assert kinds >= {".jsonl", ".json", ".md", ".html", ".csv", ".log"}
    found = {str(one): found_in(f"{one.name} {text_of(one)}", secret) for one in files}
    assert {name: ways for name, ways in found.items() if ways} == {}


def text_of(path):
    return path.read_bytes().decode(errors="replace")


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_nothing_that_it_said_holds_a_secret(ran, secret):
    assert found_in(ran.done.out, secret) == []
    assert found_in(ran.done.err, secret) == []
    assert len(ran.done.err.splitlines()) > 10, "`-vv` said nothing"


def test_only_the_job_and_its_benchmark_had_the_key_in_their_environment(ran):
    seen = json.loads((ran.tree / SEEN).read_text())
    assert seen["cmdline"] == {}
    assert sorted(one.split("-m ")[1].split()[0] for one in seen["environ"].values()) == [
        "bench",
        "orchestrator",
    ]


@pytest.mark.parametrize("name", ["prepared.environ", "torn_down.environ"])
def test_commands_around_the_gateway_are_not_given_the_key(ran, name):
    environ = (ran.tree / name).read_bytes()
    assert b"PATH=" in environ
    assert NAME.encode() not in environ
    assert b"TEAM=" not in environ
