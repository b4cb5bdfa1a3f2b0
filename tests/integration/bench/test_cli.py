"""The command as people, programs and CI call it: real processes, real sockets, loopback only."""

import json
import os
import pty
import shlex
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from bench.cli.outcome import CommandObject
from tests.paid_endpoint import PaidEndpoint, paid_endpoint
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[3]
TLS = ROOT / "tests" / "cases" / "tls"
SECRET = "sk-local-secret-1"  # noqa: S105  made up
QUICK = ("--case", "tool_selection_exact", "--runs", "1", "--quiet")
SUFFIXES = (".json", ".md", ".html", "-timings.md", "-timings.csv", ".jsonl")


@dataclass
class Cli:
    """A home and a working folder of its own."""

    home: Path
    environ: dict[str, str] = field(default_factory=dict)
    is_covered: bool = True

    @property
    def output(self) -> Path:
        return self.home / "out"

    def __call__(
        self, *words: str, program: tuple[str, ...] = (sys.executable, "-m", "bench")
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*program, *words],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            cwd=self.home,
            env=self.variables,
            timeout=PATIENCE_S,
            check=False,
        )

    @property
    def variables(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
            "BENCHMARK_OUTPUT_DIR": str(self.output),
            "PYTHONPATH": str(ROOT),
            "LOCAL_TEST_KEY": SECRET,
            **{
                name: value
                for name, value in os.environ.items()
                if "COVERAGE" in name and self.is_covered
            },
            **self.environ,
        }


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(home=tmp_path)


@pytest.fixture
def paid() -> Iterator[PaidEndpoint]:
    with paid_endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def simulator() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.simulator", "--port", "0", "--token", SECRET],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield line.split()[2]
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


def at(url: str) -> tuple[str, ...]:
    return ("--url", url, "--api-key-env", "LOCAL_TEST_KEY")


def test_a_run_says_how_it_ended_and_puts_only_its_files_on_stdout(cli, simulator):
    ended = cli("bench", "demo-small", "fast,slow:eu", "1", "--quiet", *at(simulator))
    assert ended.returncode == 0, ended.stderr
    files = [Path(line) for line in ended.stdout.splitlines()]
    assert all(path.is_absolute() and path.parent == cli.output for path in files)
    assert tuple(path.name.partition("Z")[2] for path in files) == SUFFIXES
    said = " ".join(ended.stderr.split())
    assert "Complete, SIMULATED" in said
    assert "14 of 14 trials measured" in said
    assert f"address: {simulator}/v1/chat/completions (flag)" in ended.stderr
    told = ended.stdout + ended.stderr + "".join(path.read_text() for path in files)
    assert SECRET not in told
    header = json.loads(files[-1].read_text().splitlines()[0])
    assert header["options"]["url"] == {"value": simulator, "origin": "flag"}
    assert header["config"]["isPaid"] is False


def test_the_object_has_everything_and_the_archive_knows_the_run(cli, simulator):
    first = cli("bench", "sim-ttft1-tokens4", *QUICK, *at(simulator), "--json")
    made = msgspec.json.decode(first.stdout, type=CommandObject)
    assert (made.status, made.planned, made.done) == ("done", 1, 1)
    shown = cli("render", "latest", "--json", "--output", str(cli.home / "again"))
    again = msgspec.json.decode(shown.stdout, type=CommandObject)
    assert again.run_id == made.run_id
    assert all(path.startswith(str(cli.home / "again")) for path in again.files[:-1])
    by_id = cli("render", made.run_id or "", "--json")
    assert by_id.returncode == 0


def test_a_complete_run_is_not_resumed_and_says_so(cli, simulator):
    first = cli("bench", "sim-ttft1-tokens4", *QUICK, *at(simulator), "--json")
    made = msgspec.json.decode(first.stdout, type=CommandObject)
    journal = Path(made.files[-1])
    before = journal.read_bytes()
    again = cli("resume", "latest", "--json")
    assert again.returncode == 0, again.stderr
    told = msgspec.json.decode(again.stdout, type=CommandObject)
    assert (told.reason, told.planned, told.done) == ("nothing_missing", 1, 1)
    assert "nothing is missing" in again.stderr
    assert told.files == made.files
    assert journal.read_bytes() == before
    document = journal.with_suffix(".json")
    text = document.read_text()
    document.write_text(text.replace('"version":"', '"version":"0.0.0-', 1))
    kept = cli("resume", "latest", "--json")
    assert kept.returncode == 0
    assert "were made by version 0.0.0-" in kept.stderr


def test_a_run_that_time_cut_goes_on_only_with_more_time(cli, simulator):
    words = ("sim-ttft1-tokens4", "--case", "fixed_output_stream", "--runs", "2", "--warmup", "0")
    cut = cli("bench", *words, *at(simulator), "--budget", "1ms", "--json", "--quiet")
    told = msgspec.json.decode(cut.stdout, type=CommandObject)
    assert (cut.returncode, told.reason, told.done) == (0, "budget", 1)
    journal = Path(told.files[-1])
    assert told.next == f"gateway-bench resume {journal} --no-budget"
    before = journal.read_bytes()
    refused = cli("resume", "latest")
    assert refused.returncode == 2
    assert "1 trial is missing, and the time budget of 1ms per target is used up" in refused.stderr
    assert journal.read_bytes() == before
    more = cli("resume", "latest", "--no-budget", "--json", "--quiet")
    told = msgspec.json.decode(more.stdout, type=CommandObject)
    assert (more.returncode, told.reason, told.done) == (0, "done", 2)
    resumed = next(one for one in journal.read_bytes().splitlines() if b'"resumed"' in one)
    limits = {"budget": {"limitMs": None}, "maxCostUsd": None, "dayAllowanceUsd": None}
    assert json.loads(resumed)["limits"] == limits


def test_the_command_that_a_cut_run_prints_works_as_printed_where_nothing_is_archived(
    cli, simulator
):
    words = ("sim-ttft1-tokens4", "--case", "fixed_output_stream", "--runs", "2", "--warmup", "0")
    cut = cli(
        *("bench", *words, *at(simulator), "--no-archive", "--no-tag"),
        *("--budget", "1ms", "--json", "--quiet"),
    )
    told = msgspec.json.decode(cut.stdout, type=CommandObject)
    assert (cut.returncode, told.reason) == (0, "budget")
    assert told.next is not None
    program, *typed = shlex.split(told.next)
    assert program == "gateway-bench"
    more = cli(*typed, "--json", "--quiet")
    told = msgspec.json.decode(more.stdout, type=CommandObject)
    assert (more.returncode, told.reason, told.done) == (0, "done", 2), more.stderr


def test_a_run_that_money_cut_goes_on_with_a_higher_limit(cli, paid):
    words = (
        "bench",
        "m",
        *at(paid.url),
        *QUICK,
        "--no-stream",
        "--yes",
        "--assume-price",
        "10/100",
    )
    cut = cli(*words, "--max-cost", "0.0001", "--json")
    told = msgspec.json.decode(cut.stdout, type=CommandObject)
    assert (cut.returncode, told.reason, told.done) == (5, "max_cost", 0)
    assert told.next == f"gateway-bench resume {told.files[-1]} --max-cost USD"
    assert paid.posts == []
    more = cli("resume", "latest", "--max-cost", "1", "--yes", "--json")
    told = msgspec.json.decode(more.stdout, type=CommandObject)
    assert (more.returncode, told.reason, told.done) == (0, "done", 1), more.stderr
    assert len(paid.posts) == 1


def test_an_archived_run_goes_on_where_its_journal_is_and_is_reported_here(cli, paid):
    words = ("bench", "m", *at(paid.url), "--no-stream", "--yes", "--quiet")
    assert cli(*words, "--budget", "1").returncode == 0
    (journal,) = cli.output.glob("*.jsonl")
    cli.environ["BENCHMARK_OUTPUT_DIR"] = str(cli.home / "here")
    shown = cli("render", "latest", "--json")
    resumed = cli("resume", "latest", "--yes", "--no-budget", "--json")
    for ended in (shown, resumed):
        told = msgspec.json.decode(ended.stdout, type=CommandObject)
        assert told.files[-1] == str(journal), ended.stderr
        assert {str(Path(one).parent) for one in told.files[:-1]} == {str(cli.home / "here")}
    (kept,) = (cli.home / "data/gateway-bench/runs").glob("*/*.jsonl")
    assert kept.samefile(journal)
    (document,) = (cli.home / "here").glob("*.json")
    assert kept.with_suffix(".json").read_bytes() == document.read_bytes()
    assert {one.suffix for one in kept.parent.iterdir()} == {".json", ".jsonl"}


REFUSALS = [
    pytest.param(["--api-key-env", "NOPE"], {}, 2, "`NOPE` is not set", id="missing-key"),
    pytest.param(
        [],
        {"LLM_GATEWAY_API_KEY": "sk-production-1"},
        7,
        "`LLM_GATEWAY_API_KEY` holds a production key and 127.0.0.1 is this machine",
        id="production-key-here",
    ),
    pytest.param(
        ["--api-key-env", "LOCAL_TEST_KEY"],
        {},
        7,
        "this run may cost money, and nobody said yes to that",
        id="paid-without-a-yes",
    ),
    pytest.param(
        ["--api-key-env", "LOCAL_TEST_KEY", "--yes", "--max-cost", "1"],
        {},
        7,
        "`--max-cost 1` can't be kept for m: no price is known",
        id="limit-without-a-price",
    ),
    pytest.param(
        ["--api-key-env", "LOCAL_TEST_KEY", "--case", "tool_selection_exac"],
        {},
        2,
        "no case `tool_selection_exac`; did you mean `tool_selection_exact`?",
        id="unknown-case",
    ),
    pytest.param(["--output", "x"], {}, 2, "`--output` is not for this command", id="output"),
    pytest.param(["--format=json"], {}, 2, "`--format` is not for this command", id="format"),
    pytest.param(["--runs", "0"], {}, 2, "`--runs` is `0`: a whole number from 1", id="value"),
    pytest.param(["--slow", "x"], {}, 2, "no such option", id="unknown-option"),
    pytest.param(["--slo", "x"], {}, 2, "an objective such as `ttft=500ms`", id="objective"),
    pytest.param(
        ["--api-key-env", "LOCAL_TEST_KEY", "--mapping", "a:*"],
        {},
        2,
        "the gateway lists no mappings, so `a:*` can't be resolved",
        id="pattern-without-a-list",
    ),
    pytest.param(
        ["--api-key-env", "LOCAL_TEST_KEY", "--cacert", "none.pem"],
        {},
        2,
        "none.pem",
        id="no-certificates",
    ),
]


@pytest.mark.parametrize(("words", "environ", "code", "said"), REFUSALS)
def test_a_refused_run_sends_nothing_and_says_why(cli, paid, words, environ, code, said):
    cli.environ = environ
    ended = cli("bench", "m", "--url", paid.url, *words, "--json")
    made = msgspec.json.decode(ended.stdout, type=CommandObject)
    assert (ended.returncode, made.exit_code) == (code, code)
    assert said in made.headline
    assert f"error: {made.headline}" in ended.stderr
    assert made.status == ("refused" if code == 7 else "failed")
    assert paid.posts == []
    assert not cli.output.exists()


def test_an_unknown_model_is_known_before_anything_is_asked(cli, simulator):
    ended = cli("bench", "demo-smal", *at(simulator))
    assert ended.returncode == 2
    assert "no model `demo-smal`; did you mean `demo-small`" in ended.stderr


def test_an_address_without_a_scheme_gets_a_suggestion(cli):
    ended = cli("bench", "m", "--url", "localhost:4001")
    assert ended.returncode == 2
    assert "has no scheme\nhint: write `http://localhost:4001`" in ended.stderr


def test_a_wrong_key_ends_the_run_after_the_first_answer(cli, paid):
    paid.status = 401
    ended = cli("bench", "m", *at(paid.url), "--no-stream", "--yes")
    assert ended.returncode == 2
    assert len(paid.posts) == 1
    assert "refused the key in `LOCAL_TEST_KEY` with HTTP 401" in ended.stderr
    written = "".join(path.read_text() for path in cli.output.iterdir())
    assert SECRET not in ended.stdout + ended.stderr + written


def test_a_paid_run_with_a_yes_is_carried_out_and_tagged(cli, paid):
    cli.environ = {"TEAM_SECRET": "team-secret-1"}
    extra = ("-H", "X-Team: blue", "--header-env", "X-Secret=TEAM_SECRET")
    ended = cli("bench", "m", *at(paid.url), *QUICK, *extra, "--no-stream", "--yes", "--json")
    assert ended.returncode in {0, 5}, ended.stderr
    assert "paid run: 1 request, at most" in ended.stderr
    headers, body = paid.posts[0]
    assert headers["x-team"] == "blue"
    assert headers["x-secret"] == "team-secret-1"
    assert headers["x-gateway-bench-trial"].endswith("|tool_selection_exact|r1")
    assert json.loads(body)["stream"] is False
    written = "".join(path.read_text() for path in cli.output.iterdir())
    assert "team-secret-1" not in ended.stdout + ended.stderr + written


def test_the_tag_can_be_left_out(cli, paid):
    cli("bench", "m", *at(paid.url), *QUICK, "--no-stream", "--yes", "--no-tag")
    assert not [name for name in paid.posts[0][0] if "gateway-bench" in name]


def test_a_body_is_sent_byte_for_byte(cli, paid):
    body = b'{ "model":"m",  "messages":[{"role":"user","content":"hi"}] }\n'
    (cli.home / "body.json").write_bytes(body)
    words = ("--body", "body.json", "--no-stream", "--yes", "--runs", "2", "--warmup", "0")
    ended = cli("bench", *at(paid.url), *words, "--quiet", "--json")
    assert ended.returncode == 0, ended.stderr
    assert [sent for _, sent in paid.posts] == [body, body]
    other = cli("bench", "other", *at(paid.url), *words)
    assert other.returncode == 2
    assert "asks for `m`, the command line for `other`" in other.stderr


def test_paying_twice_for_the_same_plan_must_be_meant(cli, paid):
    words = ("bench", "m", *at(paid.url), "--no-stream", "--yes", "--budget", "1", "--quiet")
    cut = cli(*words, "--json")
    assert cut.returncode == 0, cut.stderr
    journal = next(cli.output.glob("*.jsonl"))
    sent = len(paid.posts)
    second = cli(*words)
    assert second.returncode == 7
    assert f"`{journal}` is an unfinished paid run of the same plan" in second.stderr
    assert len(paid.posts) == sent
    assert cli(*words, "--again").returncode == 0
    assert len(paid.posts) > sent


def test_a_cut_run_goes_on_and_needs_its_headers_again(cli, paid):
    words = ("bench", "m", *at(paid.url), "--no-stream", "--yes", "--quiet", "-H", "X-A: b")
    cut = cli(*words, "--budget", "1", "--require-complete", "--json")
    assert cut.returncode == 5, cut.stderr
    made = msgspec.json.decode(cut.stdout, type=CommandObject)
    assert made.next
    assert made.next.startswith("gateway-bench resume /")
    lost = cli("resume", "latest", "--yes", "--no-budget")
    assert lost.returncode == 2
    assert "the run sent extra headers whose values are not kept: X-A" in lost.stderr
    unpaid = cli("resume", "latest", "-H", "X-A: b", "--no-budget")
    assert unpaid.returncode == 7
    assert "paid run, what is missing:" in unpaid.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_an_endpoint_with_a_private_authority_is_asked_by_name_and_by_address(cli, host):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
    with paid_endpoint(context) as served:
        url = served.url.replace("127.0.0.1", host)
        words = ("bench", "m", *at(url), *QUICK, "--no-stream", "--yes")
        ended = cli(*words, "--cacert", str(TLS / "cert.pem"))
        assert ended.returncode == 0, ended.stderr
        assert len(served.posts) == 1
        port = url.rpartition(":")[2]
        asked = [*served.gets, *(headers for headers, _ in served.posts)]
        assert {headers["host"] for headers in asked} == {f"{host}:{port}"}
        strange = cli(*words, "--again", "--json")
        told = msgspec.json.decode(strange.stdout, type=CommandObject)
        assert (strange.returncode, told.reason) == (5, "no_success")
        assert len(served.posts) == 1


def answered(cli: Cli, answers: str, *words: str) -> tuple[int, str]:
    """Return exit code and talk of a command whose terminal is answered with ``answers``."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "bench", *words],
        stdin=terminal,
        stderr=terminal,
        stdout=subprocess.DEVNULL,
        cwd=cli.home,
        env=cli.variables,
    )
    os.close(terminal)
    os.write(main, answers.encode())
    said = b""
    with suppress(OSError):  # Linux ends a terminal's reading with EIO
        while part := os.read(main, 65_536):
            said += part
    os.close(main)
    return process.wait(timeout=PATIENCE_S), said.decode()


def test_a_person_is_asked_before_money_is_spent(cli, paid):
    words = ("bench", "m", *at(paid.url), *QUICK, "--no-stream")
    code, said = answered(cli, "n\n", *words)
    assert code == 7
    assert "not started: the answer was no" in said
    assert paid.posts == []
    code, said = answered(cli, "y\n", *words)
    assert code in {0, 5}, said
    assert len(paid.posts) == 1


def test_a_person_is_asked_whether_to_pay_again(cli, paid):
    words = ("bench", "m", *at(paid.url), "--no-stream", "--quiet")
    assert cli(*words, "--budget", "1", "--yes").returncode == 0
    sent = len(paid.posts)
    code, said = answered(cli, "stop\n", *words, "--yes")
    assert code == 7
    assert "resume it, pay again, or stop?" in said
    assert len(paid.posts) == sent
    code, said = answered(cli, "resume\ny\n", *words)
    assert "paid run, what is missing:" in said
    assert len(list(cli.output.glob("*.jsonl"))) == 1
    assert code in {0, 5}, said


def test_a_stranger_s_journal_gets_no_key(cli, paid):
    words = ("bench", "m", *at(paid.url), "--no-stream", "--yes", "--quiet", "--no-archive")
    assert cli(*words, "--budget", "1").returncode == 0
    journal = next(cli.output.glob("*.jsonl"))
    sent = len(paid.posts)
    ended = cli("resume", str(journal), "--yes", "--no-budget")
    assert ended.returncode == 7
    assert "--trust-url 127.0.0.1" in ended.stderr
    assert len(paid.posts) == sent
    words = ("resume", str(journal), "--yes", "--no-budget", "--trust-url", "127.0.0.1")
    assert cli(*words).returncode != 7


@pytest.mark.parametrize(
    ("run", "said"),
    [
        pytest.param("latest", "holds 0 run(s)", id="latest-of-none"),
        pytest.param("nope", "no run `nope`", id="id"),
        pytest.param("./none.json", "there is no file", id="file"),
    ],
)
def test_a_run_that_is_not_there_is_a_usage_fault(cli, run, said):
    ended = cli("render", run)
    assert ended.returncode == 2
    assert said in ended.stderr


def test_an_output_folder_that_can_t_be_written_is_named(cli, simulator):
    (cli.home / "file").write_text("")
    cli.environ = {"BENCHMARK_OUTPUT_DIR": str(cli.home / "file" / "out")}
    ended = cli("bench", "sim-ttft1", *QUICK, *at(simulator))
    assert ended.returncode == 2
    assert f"the output folder `{cli.home / 'file' / 'out'}` can't be written" in ended.stderr


def test_a_full_disk_ends_with_5_and_keeps_what_fits(cli, simulator):
    # A limit on the size of files is what a full disk looks like to one process.
    cli.is_covered = False  # the measuring of coverage writes files too
    # -B: a byte-code file cut at the limit would break every later import of that module.
    python = (sys.executable, "-B", "-m", "bench")
    limited = ("/bin/sh", "-c", 'ulimit -f 24; exec "$@"', "sh", *python)
    ended = cli(
        "bench", "demo-large", "steady", *at(simulator), "--quiet", "--no-archive", program=limited
    )
    assert ended.returncode == 5, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "can't be written" in ended.stderr


def test_cases_and_settings_are_listed(cli):
    listed = cli("cases")
    assert listed.returncode == 0
    assert "fixed_output_stream" in listed.stdout
    made = msgspec.json.decode(cli("cases", "--json").stdout, type=CommandObject)
    assert len(made.detail["cases"]) >= 7
    shown = cli("config", "show", "--runs", "2", "--no-stream")
    assert "runs = 2" in shown.stdout
    made = msgspec.json.decode(cli("config", "show", "--json").stdout, type=CommandObject)
    assert made.detail["bench"]["seed"] == {"value": 1, "origin": "default"}
    assert not made.truncated


@pytest.mark.parametrize(
    ("stream", "code", "said"),
    [
        pytest.param(">&-", 0, "", id="closed"),
        pytest.param(">/dev/full", 1, "error: stdout can't be written: no space left", id="full"),
        pytest.param("2>&-", 0, "", id="no stderr"),
    ],
)
def test_a_stream_that_takes_nothing_is_no_fault_of_the_program(cli, stream, code, said):
    ended = cli(program=("/bin/sh", "-c", f"{sys.executable} -m bench cases {stream}"))
    assert ended.returncode == code, ended.stderr
    assert ended.stderr.startswith(said)
    assert "Traceback" not in ended.stderr


def test_words_that_nobody_can_hear_end_no_command(cli):
    words = f"{sys.executable} -m bench cases --profile nope --json 2>/dev/full"
    ended = cli(program=("/bin/sh", "-c", words))
    assert ended.returncode == 2
    assert msgspec.json.decode(ended.stdout, type=CommandObject).reason == "usage_fault"


def test_a_reader_that_goes_away_ends_the_command_quietly(cli):
    ended = cli(program=("/bin/sh", "-c", f"{sys.executable} -m bench cases | true; exit 0"))
    assert ended.returncode == 0
    assert ended.stderr == ""


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--help"], id="group"),
        pytest.param(["bench", "--help"], id="bench"),
        pytest.param(["resume", "--help"], id="resume"),
        pytest.param(["render", "--help"], id="render"),
        pytest.param(["config", "--help"], id="config"),
    ],
)
def test_help_loads_nothing_heavy(cli, words):
    code = (
        "import sys; from bench.cli.entry import run; from bench.cli.group import cli; "
        f"run(cli, {words!r}); heavy = {{'httpx', 'jinja2', 'httptools', 'psutil', 'dotenv'}}; "
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    ended = cli(program=(sys.executable, "-c", code))
    assert ended.returncode == 0, ended.stderr
    assert "Usage:" in ended.stdout


def test_reports_of_one_arm_load_nothing_of_two(cli):
    code = (
        "import sys; import bench.app.rendering; "
        "two = {'bench.paired.summary', 'bench.overhead.findings', 'bench.ab.gates'}; "
        "sys.exit(str(two & set(sys.modules)) if two & set(sys.modules) else 0)"
    )
    ended = cli(program=(sys.executable, "-c", code))
    assert ended.returncode == 0, ended.stderr


SCRIPT = (sys.executable, str(ROOT / "scripts" / "run_benchmark.py"))
RENDER = (sys.executable, str(ROOT / "scripts" / "render_results.py"))


def test_the_operator_s_two_commands_keep_their_habits(cli, simulator):
    words = ("demo-large", "--mapping", "steady", *QUICK, "--parallel", "2", "--json")
    ended = cli(*words, *at(simulator), program=SCRIPT)
    made = msgspec.json.decode(ended.stdout, type=CommandObject)
    assert ended.returncode == 0, ended.stderr
    header = json.loads(Path(made.files[-1]).read_text().splitlines()[0])
    assert header["config"]["parallelGroups"] == 2
    assert header["config"]["budgetMs"] == 120_000
    assert header["options"]["dialect"]["origin"] == "preset llmgateway"
    again = cli(made.files[0], program=RENDER)
    assert again.returncode == 0, again.stderr
    refused = cli("m", "--format", "json", program=SCRIPT)
    assert refused.returncode == 2
    assert "`--format` is not for this command" in refused.stderr


def test_the_operator_s_command_goes_to_production_by_default(cli):
    ended = cli("m", program=SCRIPT)
    assert ended.returncode == 2
    assert "no API key" in ended.stderr


def test_the_scripts_say_what_is_missing_under_a_bare_python(cli, tmp_path):
    copy = tmp_path / "scripts"
    copy.mkdir()
    for name in ("run_benchmark.py", "render_results.py"):
        (copy / name).write_text((ROOT / "scripts" / name).read_text())
        cli.environ = {"PYTHONPATH": ""}
        ended = cli("m", program=(sys.executable, "-S", "-s", str(copy / name)))
        assert ended.returncode == 2
        assert "is not installed for" in ended.stderr
