"""External suites: their data from files, packages and addresses; what a run makes of them."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from bench.errors import UsageFault
from bench.evaluators import evaluate
from bench.external import Asked, Unsupported, choose, known_suites
from bench.external.ifeval import words
from bench.external.ifeval.kinds import KINDS
from bench.journal import read_journal
from bench.model.case import Case
from tests.bench_process import Bench
from tests.simulator_process import running_simulator

pytestmark = pytest.mark.integration

LINE = {
    "key": 1000,
    "prompt": "Say a.",
    "instruction_id_list": ["punctuation:no_comma", "keywords:existence"],
    # The published file's form in some copies: every argument of every kind, most of them null.
    "kwargs": [{"num_words": None}, {"keywords": ["a"], "num_words": None}],
}
QUESTION = {
    "id": "simple_python_0",
    "question": [[{"role": "user", "content": "Area of 3 by 4?"}]],
    "function": [
        {
            "name": "geo.area",
            "description": "Area.",
            "parameters": {
                "type": "dict",
                "properties": {
                    "a": {"type": "integer"},
                    "b": {"type": "float"},
                    "type": {"type": "any"},
                    "c": {"type": "array", "items": {"type": "tuple"}},
                },
                "required": ["a", "b"],
            },
        }
    ],
}
TRUTH = {
    "id": "simple_python_0",
    "ground_truth": [{"geo.area": {"a": [3], "b": [4, 4.0], "type": ["x", ""], "c": [[], ""]}}],
}


def jsonl(*lines):
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "input_data.jsonl"
    odd = {**LINE, "key": 1001, "instruction_id_list": ["new:kind", "startend:quotation"]}
    lacking = {**LINE, "key": 1002, "kwargs": [{}, {}]}
    wrong = {**LINE, "key": 1003, "kwargs": [None, {"keywords": "a"}]}
    last = {**LINE, "key": 1004, "prompt": "b\u2028c"}
    path.write_text(jsonl(LINE, odd, lacking, wrong, last), encoding="utf-8")
    return path


@pytest.fixture
def bfcl(tmp_path):
    folder = tmp_path / "bfcl"
    (folder / "possible_answer").mkdir(parents=True)
    unknown = {**QUESTION, "id": "simple_python_1"}
    (folder / "BFCL_v4_simple_python.json").write_text(jsonl(QUESTION, unknown))
    (folder / "possible_answer" / "BFCL_v4_simple_python.json").write_text(jsonl(TRUTH))
    return folder


def load(name, path=None, mode="strict"):
    return known_suites()[name].load(path, mode=mode)


def test_the_prompts_that_ship_cover_every_kind_and_their_answers_are_right():
    loaded = load("ifeval")
    assert "not the published 541" in loaded.source
    seen = set()
    for case in loaded.items:
        assert isinstance(case, Case)
        instance = case.build(1)
        assert instance.book is not None
        assert instance.book_wrong is not None
        right, wrong = (evaluate(instance, one) for one in (instance.book, instance.book_wrong))
        assert right is not None
        assert wrong is not None
        assert right.passed, (case.info.id, right.detail)
        assert not wrong.passed, case.info.id
        seen.update(wrong.metrics["missed"])
    path = Path(sys.modules["bench.external.ifeval"].__path__[0]) / "own_prompts.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {kind for line in lines for kind in line["instruction_id_list"]} == set(KINDS)


def test_the_published_format_is_read_and_what_nobody_can_judge_is_named(prompts):
    items = load("ifeval", prompts).items
    first, odd, lacking, wrong, last = items
    assert isinstance(first, Case)
    assert isinstance(last, Case)
    assert (first.info.id, first.info.dimension) == ("ifeval_1000", "2 instructions")
    assert first.build(1).request.messages[0].content == "Say a."
    reasons = [one.reason for one in (odd, lacking, wrong) if isinstance(one, Unsupported)]
    assert reasons == [
        "no kind of instruction `new:kind`",
        "`keywords:existence` without `keywords`",
        "`keywords` of `keywords:existence`: a list of texts is needed",
    ]


def test_the_mode_is_part_of_what_a_case_is(prompts):
    hashes = {
        mode: [c.info.text_hash for c in load("ifeval", prompts, mode).items if isinstance(c, Case)]
        for mode in ("strict", "loose")
    }
    assert set(hashes["strict"]).isdisjoint(hashes["loose"])


def test_lines_that_are_no_prompts_are_told_with_their_numbers(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(
        jsonl(
            {**LINE, "key": True},
            {**LINE, "prompt": " "},
            {**LINE, "instruction_id_list": []},
            {**LINE, "kwargs": [{}]},
            {**LINE, "kwargs": [{}, 1]},
            [1],
            LINE,
            LINE,
        )
        + "\n{"
    )
    with pytest.raises(UsageFault) as refused:
        load("ifeval", path)
    said = refused.value.message
    for number, part in enumerate(("`key`", "`prompt`", "`instruction_id", "`kwargs`"), start=1):
        assert f"line {number}: {part}" in said
    assert "line 6: a JSON list" in said
    assert "line 10: no JSON" in said
    assert "a key stands twice: ifeval_1000" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "can't be read"), (b"\xff", "no UTF-8"), (b"\n", "no prompt in it")],
)
def test_a_file_that_is_no_data_is_told(tmp_path, content, said):
    path = tmp_path / "x.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageFault, match=said):
        load("ifeval", path)


def test_a_check_whose_library_is_missing_says_how_to_get_it(monkeypatch, tmp_path):
    path = tmp_path / "x.jsonl"
    told = {"relation": "at least", "num_sentences": 2}
    kinds = ["length_constraints:number_sentences"]
    path.write_text(jsonl({**LINE, "instruction_id_list": kinds, "kwargs": [told]}))
    words._sentences.cache_clear()
    monkeypatch.setitem(sys.modules, "punkt", None)
    with pytest.raises(UsageFault, match="needs the package `punkt`") as refused:
        load("ifeval", path)
    assert "gateway-bench[ifeval]" in (refused.value.hint or "")


def test_limit_and_offset_count_over_the_data_as_it_is(prompts):
    chosen = choose(Asked(suite="ifeval", data=str(prompts), limit=1))
    assert [case.info.id for case in chosen.cases] == ["ifeval_1000"]
    chosen = choose(Asked(suite="ifeval", data=str(prompts), offset=3, unsupported="skip"))
    assert ([case.info.id for case in chosen.cases], chosen.skipped) == (["ifeval_1004"], 1)
    assert "1 of 2 items can't be judged" in chosen.notes[1]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"suite": "ifval"}, "did you mean `ifeval`"),
        ({"suite": "ifeval", "mode": "mild"}, "judged `strict` or `loose`, not `mild`"),
        ({"suite": "ifeval", "offset": 26}, "behind the last of 26"),
        ({"suite": "ifeval", "data": "DATA"}, "3 of 5 items can't be judged"),
        (
            {"suite": "ifeval", "data": "DATA", "offset": 1, "limit": 2, "unsupported": "skip"},
            "none of the 2 items",
        ),
    ],
)
def test_what_can_not_be_asked_is_told(prompts, asked, said):
    if asked.get("data"):
        asked = {**asked, "data": str(prompts)}
    with pytest.raises(UsageFault, match=said):
        choose(Asked(**asked))


@pytest.fixture
def server(prompts):
    class Serving(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path.startswith("/data"):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(prompts.read_bytes())
            else:
                self.send_error(404)

        def log_message(self, *_args):  # type: ignore[explicit-override]
            pass

    with HTTPServer(("127.0.0.1", 0), Serving) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{made.server_port}"
        made.shutdown()
        thread.join()


def test_data_is_fetched_from_an_address(server):
    chosen = choose(Asked(suite="ifeval", data=f"{server}/data.jsonl?token=s3cret", limit=1))
    assert [case.info.id for case in chosen.cases] == ["ifeval_1000"]


def test_an_address_without_data_is_told_without_its_secrets(server):
    with pytest.raises(UsageFault, match="HTTP 404") as refused:
        choose(Asked(suite="ifeval", data=f"{server}/gone?token=s3cret"))
    assert "s3cret" not in refused.value.message
    with pytest.raises(UsageFault, match="can't be fetched"):
        choose(Asked(suite="ifeval", data="http://127.0.0.1:1/data"))


def test_questions_become_tools_with_a_json_schema(bfcl):
    first, unknown = load("bfcl", bfcl).items
    assert isinstance(first, Case)
    assert unknown == Unsupported(
        id="bfcl_simple_python_1", reason="no answer of one call is known"
    )
    instance = first.build(1)
    (tool,) = instance.request.tools or ()
    assert tool["function"]["name"] == "geo_area"
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "number"},
            "type": {},
            "c": {"type": "array", "items": {"type": "array"}},
        },
        "required": ["a", "b"],
    }
    assert instance.book is not None
    right = evaluate(instance, instance.book)
    assert right is not None
    assert right.passed


def test_one_file_of_questions_has_its_answers_beside_it(bfcl):
    assert len(load("bfcl", bfcl / "BFCL_v4_simple_python.json").items) == 2
    (bfcl / "possible_answer" / "BFCL_v4_simple_python.json").unlink()
    with pytest.raises(UsageFault, match="are missing"):
        load("bfcl", bfcl)


def test_a_folder_without_questions_and_a_line_that_is_none_are_told(tmp_path, bfcl):
    with pytest.raises(UsageFault, match="no `BFCL"):
        load("bfcl", tmp_path)
    (bfcl / "BFCL_v4_simple_python.json").write_text('{"id": 1}\n')
    with pytest.raises(UsageFault, match="line 1: no question"):
        load("bfcl", bfcl)


@pytest.fixture
def on_path(tmp_path):
    sys.path.insert(0, str(tmp_path))
    known_suites.cache_clear()
    yield tmp_path
    sys.path.remove(str(tmp_path))
    for name in ("gwb_toy", "gwb_bad"):
        sys.modules.pop(name, None)
    known_suites.cache_clear()


def test_the_data_of_an_installed_package_is_found_without_running_it(on_path, bfcl):
    package = on_path / "bfcl_eval"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('was imported')")
    bfcl.rename(package / "data")
    assert len(load("bfcl").items) == 2


def test_without_the_package_the_way_to_it_is_told():
    with pytest.raises(UsageFault, match="not installed") as refused:
        load("bfcl")
    assert "pip install" in (refused.value.hint or "")


def distribution(folder, name, value, source):
    (folder / f"{name}.py").write_text(source)
    info = folder / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[gateway_bench.external]\n{value}\n")


ADAPTER = """\
from bench.external import Loaded, fixed_case
from bench.model.case import CaseInfo, ChatRequest, Message
from bench.model.trial import Evaluation


class Suite:
    name, description, modes = "toy", "a toy", ("plain",)

    def load(self, data, *, mode):
        info = CaseInfo(id="toy_1", name="Toy", kind="quality", category=None, dimension=None,
                        difficulty=None, runs=1, text_hash=None)
        request = ChatRequest(messages=(Message(role="user", content="hi"),))
        case = fixed_case(info, request=request, rules=[mode],
                          evaluate=lambda answer: Evaluation(passed=bool(answer.content)))
        return Loaded(items=[case], source="1 toy")
"""


def test_an_installed_package_adds_a_suite(on_path):
    distribution(on_path, "gwb_toy", "toy = gwb_toy:Suite", ADAPTER)
    assert [case.info.id for case in choose(Asked(suite="toy")).cases] == ["toy_1"]
    assert choose(Asked(suite="ifeval", limit=1)).mode == "strict"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise OSError('gone')", "can't be loaded: OSError: gone"),
        ("class Suite: name = 'x'", "has no description, modes, load"),
        ("class Suite:\n name = description = ''\n modes = ()\n load = None", "has no modes"),
    ],
)
def test_a_package_that_brings_no_suite_is_told(on_path, source, said):
    distribution(on_path, "gwb_bad", "bad = gwb_bad:Suite", source)
    with pytest.raises(UsageFault, match=said):
        known_suites()


def test_a_run_of_a_suite_is_judged_reported_and_goes_on(tmp_path, prompts):
    (tmp_path / "simulator").mkdir()
    with running_simulator(tmp_path / "simulator") as simulator:
        bench = Bench(folder=tmp_path, url=simulator.url)
        words = ("--external", "ifeval", "--external-data", prompts.name)
        code, _, said = bench.finish(
            bench.start_run("sim-ttft5-n4", *words, "--external-unsupported", "skip")
        )
        assert code == 0, said
        ledger = read_journal(bench.journal)
        source = ledger.header.config.external_suite
        assert source is not None
        assert (source.suite, source.data, source.skipped) == ("ifeval", str(prompts), 3)
        document = json.loads(bench.journal.with_suffix(".json").read_bytes())
        (target,) = document["summary"]["targets"]
        # Filler text has no comma, and no lone word `a` is asked for: one of two is followed.
        assert target["quality"]["instructionScore"] is not None
        lines = bench.journal.read_bytes().splitlines(keepends=True)
        last = max(n for n, line in enumerate(lines) if b'"type":"trial"' in line)
        bench.journal.write_bytes(b"".join(lines[:last]))
        address = ("--url", simulator.url, "--api-key-env", "LOCAL_TEST_KEY", "--yes", "--json")
        code, told, said = bench.finish(bench.start("resume", str(bench.journal), *address))
        assert code == 0, said
        assert told["done"] == 2
        bench.end_all()
