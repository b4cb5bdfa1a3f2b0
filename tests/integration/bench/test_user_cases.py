"""A user's own cases from files and functions: listed, asked, judged, reported, resumed."""

import json
import sys

import pytest

from bench.answer_book import write_answer_book
from bench.cases import CASES, PROFILES
from bench.config import Place, load_config
from bench.errors import Refused, UnknownName, UsageFault
from bench.evaluators import evaluate
from bench.journal import read_journal
from bench.model.run_config import ExternalSource
from bench.prepare.sources import asked_of, find_sources, recorded_cases, user_cases_of
from bench.usercases import load_cases
from tests.bench_process import Bench
from tests.here import Here
from tests.simulator_process import running_simulator

pytestmark = pytest.mark.integration

TOML = """\
id = "capital"
prompt = "Name the capital of {{land}}."
rows = [{ land = "Norway", city = "Oslo" }, { land = "Italy", city = "Rome" }]

[[checks]]
type = "exact"
value = "{{city}}"
"""
YAML = """\
cases:
  - prompt: Say something.
  - id: lamp
    prompt: Turn the lamp on.
    tools: [{name: lamp, parameters: {type: object}}]
    checks: [{type: tool-call, tool: lamp, arguments: {on: true}}]
"""
CODE = """\
import dataclasses
from functools import partial

from bench.cases import CASES, PROFILES
from bench.config import Place, load_config
from bench.model.case import Case

print("loading")


@dataclasses.dataclass
class Named:
    name: str


def cases():
    own = CASES["tool_selection_exact"]
    info = type(own.info)(**{f: getattr(own.info, f) for f in own.info.__struct_fields__} | {"id": "ours"})
    yield Case(info=info, build=own.build)
    yield {"prompt": Named("x").name, "checks": [{"type": "exact", "value": "x"}]}


def raising():
    raise RuntimeError("no disk")


def wrong():
    return [{"promt": "x"}, 7]


def impure():
    from itertools import count

    own, numbers = CASES["tool_selection_exact"], count()

    def build(seed):
        return CASES["seeded_shortest_path"].build(next(numbers))

    def broken(seed):
        raise KeyError("gone")

    return [Case(info=own.info, build=build), Case(info=own.info, build=broken)]


def nothing():
    return "cases"
"""


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "evals"
    (made / "sub").mkdir(parents=True)
    (made / "capital.toml").write_text(TOML)
    (made / "sub" / "more.yaml").write_text(YAML)
    (made / "_draft.toml").write_text("nonsense")
    (made / ".hidden").mkdir()
    (made / ".hidden" / "x.yml").write_text("nonsense: [")
    (made / "prompt.txt").write_text("Sum.")
    return made


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator")) as running:
        yield running


@pytest.fixture
def bench(simulator, tmp_path):
    made = Bench(folder=tmp_path, url=simulator.url)
    yield made
    made.end_all()


def faults(*sources, at):
    with pytest.raises(UsageFault) as refused:
        load_cases(sources, at, taken=CASES)
    return refused.value.message


def test_a_folder_is_read_in_order_of_names_and_passes_over_drafts(folder):
    cases = load_cases(["evals"], folder.parent)
    assert [case.info.id for case in cases] == ["capital", "more_1", "lamp"]


def test_a_single_file_is_a_source_too(folder):
    assert [case.info.id for case in load_cases([str(folder / "capital.toml")], folder)] == [
        "capital"
    ]


def test_faults_of_all_files_come_in_one_message_with_their_lines(folder):
    (folder / "a.toml").write_text('prompt = "x"\nruns = 0\n')
    (folder / "b.yaml").write_text("prompt: x\nchecks:\n  - type: exact\n    valeu: y\n")
    (folder / "c.toml").write_text("= 1")
    (folder / "d.yaml").write_bytes(b"\xff")
    (folder / "e.yaml").write_text("- 1")
    (folder / "f.toml").write_text('id = "capital"\nprompt = "y"')
    (folder / "g.toml").write_text('id = "knapsack"\nprompt = "y"')
    (folder / "h.toml").write_text("cases = []\nmore = 1")
    (folder / "i.toml").write_text('prompt-file = "../outside.txt"')
    (folder / "j.toml").write_text('prompt-file = "gone.txt"')
    (folder / "k.toml").write_text('prompt-file = "prompt.txt"')
    (folder.parent / "outside.txt").write_text("secret")
    said = faults("evals", at=folder.parent)
    for part in (
        "a.toml:2: `runs` is `0`",
        "b.yaml:3: this check has no `value`",
        "b.yaml:4: a check has no field `valeu`; did you mean `value`?",
        "c.toml:1: ",
        "d.yaml: no UTF-8",
        "e.yaml:1: a case file holds",
        "f.toml:1: `capital` is a case already",
        "g.toml:1: a case that ships is called `knapsack`",
        "h.toml:1: `cases` is a list",
        "h.toml:2: a file of several cases has no field `more`",
        "i.toml:1: `prompt-file` is `../outside.txt`: a file inside",
        "j.toml:1: `prompt-file` is `gone.txt`: it can't be read: no such file",
    ):
        assert part in said
    assert "k.toml" not in said


@pytest.mark.parametrize(("source", "said"), [("nowhere", "no folder"), ("empty", "no case")])
def test_a_source_without_cases_is_told(tmp_path, source, said):
    (tmp_path / "empty").mkdir()
    assert said in faults(source, at=tmp_path)


def test_a_function_of_a_file_gives_cases(tmp_path, capsys):
    (tmp_path / "own_cases.py").write_text(CODE)
    ours, plain = load_cases(["own_cases.py:cases"], tmp_path)
    assert (ours.info.id, plain.info.id) == ("ours", "case_2")
    assert ours.info.text_hash != CASES["tool_selection_exact"].info.text_hash
    instance = plain.build(1)
    assert instance.book is not None
    told = evaluate(instance, instance.book)
    assert told is not None
    assert told.passed
    assert capsys.readouterr().out == ""


def test_a_function_of_a_module_beside_the_caller_gives_cases(tmp_path):
    (tmp_path / "gwb_test_module_of_cases.py").write_text(CODE)
    before = list(sys.path)
    try:
        assert len(load_cases(["gwb_test_module_of_cases:cases"], tmp_path)) == 2
    finally:
        sys.path[:] = before
        del sys.modules["gwb_test_module_of_cases"]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("raising", "raised RuntimeError: no disk"),
        ("absent", "has no function `absent`"),
        ("nothing", "it returned str, not a list of cases"),
        ("wrong", "case 1: a case has no field `promt`"),
        ("wrong", "case 2: a `Case` or a table is needed"),
        ("impure", "case 1: `build` is not pure"),
        ("impure", "case 2: `build` raised KeyError"),
    ],
)
def test_what_is_wrong_with_a_function_is_told(tmp_path, function, said):
    (tmp_path / "own_cases.py").write_text(CODE)
    assert said in faults(f"own_cases.py:{function}", at=tmp_path)


def test_a_module_that_is_not_there_is_told(tmp_path):
    assert "ModuleNotFoundError" in faults("gwb_no_such_module:cases", at=tmp_path)
    assert "FileNotFoundError" in faults("nowhere.py:cases", at=tmp_path)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys)


def test_check_lists_good_cases_and_refuses_bad_ones(bench, folder, here):
    code, out, err = here(bench, "cases", "--check", "evals")
    assert code == 0, err
    assert out.splitlines()[0].startswith("capital  quality")
    assert "Name the capital of Norway." in out
    assert "no right answer is known for more_1" in err
    (folder / "bad.toml").write_text('prompt = ""')
    code, out, _ = here(bench, "cases", "--check", "evals", "--json")
    assert code == 2
    assert json.loads(out)["reason"] == "case_faults"


def run(bench, simulator, *words):
    """Return exit code and what was said, with the right answers in the simulator's book."""
    cases = {case.info.id: case for case in load_cases(["evals"], bench.folder)}
    trials = [
        trial
        for path in bench.output.glob("*.jsonl")
        for block in read_journal(path).header.plan
        for trial in block.trials
    ]
    write_answer_book(simulator.book_path, trials, cases)
    code, _, said = bench.finish(bench.start_run("sim-ttft5-n4", *words))
    return code, said


def test_own_cases_are_asked_judged_and_reported(bench, simulator, folder):
    code, said = run(bench, simulator, "--cases", "evals")
    assert code == 0, said
    assert "your own: 3 cases" in said
    ledger = read_journal(bench.journal)
    assert ledger.header.config.user_cases == (str(folder),)
    assert ledger.header.config.profile is None
    assert [trial.seed for trial in ledger.trials if trial.case_id == "capital"] == [0, 1]
    assert {trial.case_id for trial in ledger.trials} == {"capital", "more_1", "lamp"}
    document = json.loads(bench.journal.with_suffix(".json").read_bytes())
    assert [case["id"] for case in document["cases"]] == ["capital", "more_1", "lamp"]


def cut(bench):
    """Take the last trial's record, and what follows, out of the journal."""
    lines = bench.journal.read_bytes().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if b'"type":"trial"' in line)
    bench.journal.write_bytes(b"".join(lines[:last]))


def resuming(bench, *words):
    address = ("--url", bench.url, "--api-key-env", "LOCAL_TEST_KEY", "--yes", "--json")
    return ("resume", str(bench.journal), *address, *words)


def test_a_run_goes_on_with_the_same_cases_and_refuses_changed_ones(bench, folder, here):
    (bench.folder / "own_cases.py").write_text(CODE)
    both = ("--cases", "evals", "--cases", "own_cases.py:cases")
    code, _, said = bench.finish(bench.start_run("sim-ttft5-n4", *both, "--no-archive"))
    assert code == 0, said
    cut(bench)
    # Not in the user's archive, so the journal could be anybody's.
    code, told, _ = here(bench, *resuming(bench))
    assert code == Refused.exit_code
    assert "the journal would have the function `own_cases.py:cases` run" in told
    (folder / "capital.toml").write_text(TOML.replace("Oslo", "Bergen"))
    code, told, said = here(bench, *resuming(bench, *both))
    assert code == 2, said
    assert "the text of case `capital` has changed" in told
    (folder / "capital.toml").write_text(TOML)
    moved = folder.rename(folder.parent / "moved")
    words = resuming(bench, "--cases", str(moved), *both[2:])
    code, told, said = bench.finish(bench.start(*words))
    assert code == 0, said
    assert told["planned"] == told["done"]


def chosen(folder, toml="", **flags):
    """Return the sources that settings choose."""
    (folder / "gateway-bench.toml").write_text(f"[bench]\n{toml}")
    return find_sources(load_config(flags, Place(folder=folder, environ={})))


def ids(sources):
    return [case.info.id for case in sources.cases]


def test_own_cases_stand_beside_a_profile_and_can_be_picked(folder):
    place = folder.parent
    own = ["capital", "more_1", "lamp"]
    assert ids(chosen(place, cases=("evals",))) == own
    beside = chosen(place, cases=("evals",), profile="smoke")
    assert ids(beside) == [*PROFILES["smoke"].case_ids, *own]
    assert beside.profile == "smoke"
    assert ids(chosen(place, cases=("evals",), suite="performance"))[-3:] == own
    picked = chosen(place, cases=("evals",), case=("lamp,knapsack",))
    assert (ids(picked), picked.profile) == (["lamp", "knapsack"], None)
    with pytest.raises(UnknownName, match="did you mean `lamp`"):
        chosen(place, cases=("evals",), case=("lmap",))


def test_a_typed_selection_puts_a_file_s_aside(folder):
    place, toml = folder.parent, 'cases = ["evals"]\n'
    assert ids(chosen(place, toml)) == ["capital", "more_1", "lamp"]
    assert chosen(place, toml, profile="smoke").user_cases == ()
    assert chosen(place, 'profile = "load"\n', cases=("evals",)).profile is None
    assert chosen(place).profile == "smoke"
    external = chosen(place, toml, external="ifeval", external_limit="2")
    assert (ids(external), external.user_cases) == (["ifeval_1", "ifeval_2"], ())


@pytest.mark.parametrize("option", ["external_data", "external_limit", "external_mode"])
def test_an_option_of_an_external_suite_needs_one(folder, option):
    with pytest.raises(UsageFault, match="needs `--external NAME`"):
        chosen(folder, **{option: "1"})


@pytest.mark.parametrize("other", ["profile", "suite"])
def test_an_external_suite_excludes_a_profile_and_a_suite(folder, other):
    with pytest.raises(UsageFault, match=f"`--{other}` and `--external` exclude each other"):
        chosen(folder, external="ifeval", **{other: "smoke"})


def test_paths_of_a_file_count_from_where_it_lies(folder):
    inner = folder / "sub"
    (folder.parent / "gateway-bench.toml").write_text(
        '[bench]\ncases = ["evals/capital.toml"]\nexternal = "ifeval"\nexternal-data = "x.jsonl"\n'
    )
    config = load_config({}, Place(folder=inner, environ={}))
    assert user_cases_of(config) == (str(folder / "capital.toml"),)
    assert asked_of(config).data == str(folder.parent / "x.jsonl")


def test_a_file_can_name_a_folder_of_cases_but_no_function(folder):
    with pytest.raises(Refused, match="would have the function `json:loads` run"):
        chosen(folder.parent, 'cases = ["evals/capital.toml", "json:loads"]\n')


def test_a_stranger_s_journal_has_nothing_fetched(folder, tmp_path):
    config = load_config({}, Place(folder=folder, environ={}))
    source = ExternalSource(suite="ifeval", data="http://127.0.0.1:1/x", mode="strict")
    with pytest.raises(Refused, match=r"would have `http://127\.0\.0\.1:1/x` fetched"):
        recorded_cases(config, (), source, is_own=False)
    with pytest.raises(UsageFault, match="can't be fetched"):
        recorded_cases(config, (), source, is_own=True)
    gone = load_config({"external_data": "gone"}, Place(folder=tmp_path, environ={}))
    with pytest.raises(UsageFault, match="can't be read"):
        recorded_cases(gone, (), source, is_own=False)
