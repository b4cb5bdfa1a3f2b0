"""What a gateway adds, by the command itself, on a proxy that logs how long it really took."""

import json
import signal

import pytest

from bench.journal import read_journal
from bench.model.load import StageDone
from tests.bench_process import KEY, Bench
from tests.simulator_process import TOKEN, running_simulator
from tests.truth_proxy_process import running_proxy

pytestmark = pytest.mark.integration

PACED = "sim-ttft20-itl4-n20"
UPSTREAM_KEY = "LOCAL_UPSTREAM_KEY"


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator")) as made:
        yield made


@pytest.fixture
def bench(simulator, tmp_path):
    made = Bench(folder=tmp_path, url=simulator.url, environ={UPSTREAM_KEY: TOKEN})
    yield made
    made.end_all()


@pytest.fixture
def proxied(simulator, tmp_path):
    """Return a maker of proxies in front of the simulator."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(running_proxy(tmp_path, simulator.url, *options))


def words(url, base, *more):
    return (
        "overhead",
        PACED,
        *("--url", url, "--api-key-env", KEY, "--dialect", "plain"),
        *("--baseline-url", base, "--baseline-api-key-env", UPSTREAM_KEY, *more),
    )


def _made(folder):
    folder.mkdir()
    return folder


def small(pairs=8, noise=6, cold=0):
    return ("--pairs", str(pairs), "--noise-pairs", str(noise), "--cold-pairs", str(cold))


def summary_of(bench):
    document = json.loads(bench.journal.with_suffix(".json").read_text())
    return document["summary"]


def ttft(bench, level=0, kind="warm"):
    return next(
        one for one in summary_of(bench)["paired"]["levels"][level][kind] if one["metric"] == "ttft"
    )


def test_what_a_proxy_adds_is_found_and_told_in_one_sentence(bench, simulator, proxied):
    proxy = proxied("--first-ms", "20")
    code, told, said = bench.do(*words(proxy.url, simulator.url, *small(cold=6)))
    assert code == 0, said
    assert told["headline"].startswith("Adds ")
    assert "does not buffer" in told["headline"]
    warm, cold = ttft(bench), ttft(bench, kind="cold")
    assert warm["verdict"] == cold["verdict"] == "higher"
    # The order of the two is what a busy machine can't turn round; how close they are is measured
    # by benchmarks/overhead_truth.py.
    assert warm["difference"] > 10
    assert proxy.inside("firstMs") > 20
    connections = {
        (trial.stage, trial.response.connection)
        for trial in read_journal(bench.journal).trials
        if not trial.warmup
    }
    cold_stages = {
        entry.stage.number
        for entry in read_journal(bench.journal).stages.entries
        if entry.stage.fresh_connections
    }
    assert {n for n, kind in connections if kind == "cold"} == cold_stages


def test_more_is_told_of_the_slower_one_also_with_many_at_once(bench, simulator, proxied):
    quick, slow = proxied("--first-ms", "5"), proxied("--first-ms", "40")
    found = []
    for proxy in (quick, slow):
        run = ("-c", "8", "-n", "16", *small(pairs=6))
        code, _, said = bench.do(*words(proxy.url, simulator.url, *run))
        assert code == 0, said
        found.append(ttft(bench)["difference"])
        bench.journal.rename(bench.journal.with_suffix(".done"))
    assert 0 < found[0] < found[1]


def test_a_proxy_in_front_of_the_baseline_turns_the_sign_round(bench, simulator, proxied):
    proxy = proxied("--first-ms", "20")
    code, told, said = bench.do(*words(simulator.url, proxy.url, *small()))
    assert code == 0, said
    assert ttft(bench)["verdict"] == "lower"
    assert told["headline"].startswith("Takes ")


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        pytest.param(("--chunk-ms", "1"), "none", id="slow and steady"),
        pytest.param(("--hold", "2500"), "coalesces", id="a small buffer"),
        pytest.param(("--hold", "all"), "holds_back", id="all at the end"),
    ],
)
def test_buffering_is_seen_in_the_shape_of_the_stream(bench, simulator, proxied, options, verdict):
    code, told, said = bench.do(*words(proxied(*options).url, simulator.url, *small(noise=0)))
    assert code == 0, said
    found = summary_of(bench)["overhead"]["buffering"]
    assert found["verdict"] == verdict, found
    assert found["text"] in str(told["headline"])


def test_each_arm_gets_its_own_key_and_headers_and_never_the_others(tmp_path, proxied):
    with (
        running_simulator(_made(tmp_path / "a"), "--token", "of-the-gateway") as gateway,
        running_simulator(_made(tmp_path / "b"), "--token", "of-the-upstream") as upstream,
    ):
        bench = Bench(
            folder=tmp_path,
            url=gateway.url,
            environ={KEY: "of-the-gateway", UPSTREAM_KEY: "of-the-upstream"},
        )
        own = ("-H", "x-for: gateway", "--baseline-header", "x-for: upstream")
        code, _, said = bench.do(*words(gateway.url, upstream.url, *own, *small(2, 0)))
        assert code == 0, said
        # A key that went to the other one would have been refused with 401.
        asked = {one.url: one.records() for one in (gateway, upstream)}
        assert all({record["status"] for record in each} == {200} for each in asked.values())
        assert all(len(each) >= 2 for each in asked.values())
        journal = bench.journal.read_text()
        assert "of-the-gateway" not in journal
        assert "of-the-upstream" not in journal


def test_without_its_own_key_the_upstream_gets_none(bench, simulator):
    run = ("overhead", PACED, "--url", simulator.url, "--api-key-env", KEY)
    code, told, said = bench.do(*run, "--baseline-url", simulator.url, *small(2, 0))
    assert code == 2, said
    assert "a request without a key" in str(told)
    assert "--baseline-api-key-env" in str(told)


def test_a_cut_run_goes_on_with_both_endpoints(bench, simulator, proxied):
    proxy = proxied("--first-ms", "10")
    bench.is_covered = False
    process = bench.start(*words(proxy.url, simulator.url, *small(10)), "--json")
    bench.wait_for('"type":"stage"', 16)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = read_journal(bench.journal)
    assert before.missing
    bench.is_covered = True
    code, told, said = bench.do("resume", str(bench.journal))
    assert code == 0, said
    after = read_journal(bench.journal)
    assert after.missing == ()
    ends = [entry.done for entry in after.stages.entries]
    assert all(isinstance(done, StageDone) for done in ends)
    assert len(ends) == 2 * (10 + 6)
    assert str(told["headline"]).startswith("Adds ")


def test_a_run_is_rendered_again_from_its_journal(bench, simulator, proxied):
    proxy = proxied("--first-ms", "10")
    code, _, said = bench.do(*words(proxy.url, simulator.url, *small(noise=0)))
    assert code == 0, said
    first = bench.journal.with_suffix(".md").read_text()
    bench.journal.with_suffix(".md").unlink()
    code, _, said = bench.do("render", str(bench.journal))
    assert code == 0, said
    assert bench.journal.with_suffix(".md").read_text() == first


def test_prompts_of_several_sizes_make_a_curve(bench, simulator, proxied):
    run = ("--prompt-bytes", "1k,8k", *small(6, 0))
    code, _, said = bench.do(*words(proxied("--first-ms", "5").url, simulator.url, *run))
    assert code == 0, said
    levels = summary_of(bench)["paired"]["levels"]
    assert [level["promptBytes"] for level in levels] == [1024, 8192]
    assert "What is added" in bench.journal.with_suffix(".html").read_text()
    asked = [record for record in simulator.records() if record.get("body_bytes")]
    assert asked == [] or max(one["body_bytes"] for one in asked) > 8192


def test_the_same_address_twice_is_an_a_a_run(bench, simulator):
    code, _, said = bench.do(*words(simulator.url, simulator.url, *small(2, 0)))
    assert code == 0
    assert "A/A" in said


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        pytest.param(("--rate", "5/s"), "shapes a run of one endpoint", id="rate"),
        pytest.param(("-c", "1..8"), "ramps can't be compared", id="ramp"),
        pytest.param(("-c", "8", "-n", "4"), "less than the 8 requests in flight", id="few"),
        pytest.param(("--model", "sim-other"), "with one model", id="models"),
        pytest.param(("--case", "concurrency_1,concurrency_2"), "with one case", id="cases"),
        pytest.param(("--prompt-bytes", "1z"), "sizes from 64 bytes", id="size"),
        pytest.param(("--pairs", "0"), "a whole number from 1", id="pairs"),
    ],
)
def test_what_cant_be_compared_is_refused_in_one_message(bench, simulator, typed, said):
    code, told, _ = bench.do(*words(simulator.url, simulator.url, *typed))
    assert code == 2
    assert said in told["headline"] or said in json.dumps(told)


def test_without_a_baseline_the_message_names_the_option(bench, simulator):
    code, told, _ = bench.do("overhead", PACED, "--url", simulator.url, "--api-key-env", KEY)
    assert code == 2
    assert "--baseline-url" in json.dumps(told)
