"""What a gateway adds, by the command itself, on a proxy that logs how long it really took."""

import json
import re
import signal
from contextlib import ExitStack

import pytest

from bench.journal import read_journal
from bench.model.load import StageDone
from tests.bench_process import KEY, Bench
from tests.decided import is_told
from tests.simulator_process import TOKEN, running_simulator
from tests.truth_proxy_process import running_proxy
from tests.turnstile import turnstile

pytestmark = pytest.mark.integration

PACED = "sim-ttft20-itl4-n20"
SPARSE = "sim-ttft20-itl20-n17"
"""Its tokens are so far apart that a first one which is held up meets few of the others."""
UPSTREAM_KEY = "LOCAL_UPSTREAM_KEY"


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator")) as made:
        yield made


def bench_in(folder, simulator):
    return Bench(folder=folder, url=simulator.url, environ={UPSTREAM_KEY: TOKEN})


@pytest.fixture
def bench(simulator, tmp_path):
    made = bench_in(tmp_path, simulator)
    yield made
    made.end_all()


@pytest.fixture
def proxied(simulator, tmp_path):
    """Return a maker of proxies in front of the simulator."""
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(running_proxy(tmp_path, simulator.url, *options))


def words(url, base, *more, model=PACED):
    return (
        "overhead",
        model,
        *("--url", url, "--api-key-env", KEY, "--dialect", "plain"),
        *("--baseline-url", base, "--baseline-api-key-env", UPSTREAM_KEY, *more),
    )


def _made(folder):
    folder.mkdir()
    return folder


def adds(told):
    """Say whether the headline names an amount; `Adds nothing that shows` is none."""
    return re.match(r"Adds \d", told["headline"]) is not None


def small(pairs=8, noise=6, cold=0):
    return ("--pairs", str(pairs), "--noise-pairs", str(noise), "--cold-pairs", str(cold))


def summary_of(bench):
    document = json.loads(bench.journal.with_suffix(".json").read_text())
    return document["summary"]


def ttft(bench, level=0, kind="warm"):
    return next(
        one for one in summary_of(bench)["paired"]["levels"][level][kind] if one["metric"] == "ttft"
    )


@pytest.fixture(scope="module")
def added(simulator, tmp_path_factory):
    """One run on a proxy that adds 40 ms, for all who read it: folder, proxy, what was told.

    Less would drown in the waits of a machine that is short of processors.
    """
    folder = tmp_path_factory.mktemp("added")
    bench = bench_in(folder, simulator)
    with running_proxy(folder, simulator.url, "--first-ms", "40") as proxy:
        code, told, said = bench.do(*words(proxy.url, simulator.url, *small(cold=6), model=SPARSE))
        yield bench, proxy, told
    assert code == 0, said


def test_what_a_proxy_adds_is_found_and_told_in_one_sentence(added):
    bench, proxy, told = added
    assert "does not buffer" in told["headline"]
    warm, cold = ttft(bench), ttft(bench, kind="cold")
    is_told(cold, "higher")
    assert is_told(warm, "higher") == adds(told)
    # The order of the two is what a busy machine can't turn round; how close they are is measured
    # by benchmarks/overhead_truth.py.
    assert warm["difference"] > 0
    assert proxy.inside("firstMs") > 40
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


def test_the_slower_of_two_is_found_also_with_many_at_once(bench, proxied):
    quick, slow = proxied("--first-ms", "5"), proxied("--first-ms", "200")
    run = ("-c", "8", "-n", "8", *small(6, 0))
    code, _, said = bench.do(*words(slow.url, quick.url, *run))
    assert code == 0, said
    assert ttft(bench)["difference"] > 0


def test_a_proxy_in_front_of_the_baseline_turns_the_sign_round(bench, simulator, proxied):
    proxy = proxied("--first-ms", "150")
    code, told, said = bench.do(*words(simulator.url, proxy.url, *small(noise=0)))
    assert code == 0, said
    found = ttft(bench)
    assert found["difference"] < 0
    assert is_told(found, "lower") == told["headline"].startswith("Takes ")


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        pytest.param(("--hold", "2500"), "coalesces", id="a small buffer"),
        pytest.param(("--hold", "all"), "holds_back", id="all at the end"),
    ],
)
def test_buffering_is_seen_in_the_shape_of_the_stream(bench, simulator, proxied, options, verdict):
    code, told, said = bench.do(*words(proxied(*options).url, simulator.url, *small(6, 0)))
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
        asked = [one.wait_for_records(2) for one in (gateway, upstream)]
        assert all({record["status"] for record in each} == {200} for each in asked)
        journal = bench.journal.read_text()
        assert "of-the-gateway" not in journal
        assert "of-the-upstream" not in journal


def test_without_its_own_key_the_upstream_gets_none(bench, simulator):
    run = ("overhead", PACED, "--url", simulator.url, "--api-key-env", KEY)
    code, told, said = bench.do(*run, "--baseline-url", simulator.url, *small(2, 0))
    assert code == 2, said
    assert "a request without a key" in str(told)
    assert "--baseline-api-key-env" in str(told)


def test_a_missing_key_of_the_upstream_is_told_with_the_upstream_s_option(bench, simulator):
    run = ("overhead", PACED, "--url", simulator.url, "--api-key-env", KEY)
    own = ("--baseline-url", simulator.url, "--baseline-api-key-env", "NOT_SET_ANYWHERE")
    code, told, _ = bench.do(*run, *own, *small(2, 0))
    assert code == 2
    assert "`NOT_SET_ANYWHERE` is not set" in str(told)
    assert "`--baseline-api-key-env`" in str(told)


def test_a_cut_run_goes_on_with_both_endpoints(bench, simulator, proxied):
    proxy = proxied("--first-ms", "10", "--chunk-ms", "1")
    bench.is_covered = False
    with turnstile(proxy.url, passes=8) as gateway:
        run = words(gateway.url, simulator.url, *small(10, 2), model=SPARSE)
        process = bench.start(*run, "--json")
        gateway.wait()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        gateway.open()
        before = read_journal(bench.journal)
        assert before.missing
        bench.is_covered = True
        code, told, said = bench.do("resume", str(bench.journal))
        assert code == 0, said
    after = read_journal(bench.journal)
    assert after.missing == ()
    ends = [entry.done for entry in after.stages.entries]
    assert all(isinstance(done, StageDone) for done in ends)
    assert len(ends) == 2 * (10 + 2)
    found = ttft(bench)
    assert found["difference"] > 0
    assert is_told(found, "higher") == adds(told)
    assert summary_of(bench)["overhead"]["buffering"]["verdict"] == "none", "slow but steady"


def test_a_run_is_rendered_again_from_its_journal(added):
    bench, _, _ = added
    first = bench.journal.with_suffix(".md").read_text()
    bench.journal.with_suffix(".md").unlink()
    code, _, said = bench.do("render", str(bench.journal))
    assert code == 0, said
    assert bench.journal.with_suffix(".md").read_text() == first


def test_prompts_of_several_sizes_make_a_curve(tmp_path):
    with (
        running_simulator(_made(tmp_path / "sized")) as upstream,
        # So much that no busy machine makes a median negative, which draws no curve.
        running_proxy(tmp_path, upstream.url, "--first-ms", "100") as proxy,
    ):
        bench = bench_in(tmp_path, upstream)
        run = ("--prompt-bytes", "1k,8k", *small(3, 0))
        code, _, said = bench.do(*words(proxy.url, upstream.url, *run))
        assert code == 0, said
        asked = [one["prompt_tokens"] for one in upstream.records() if one["prompt_tokens"]]
    levels = summary_of(bench)["paired"]["levels"]
    assert [level["promptBytes"] for level in levels] == [1024, 8192]
    assert "What is added" in bench.journal.with_suffix(".html").read_text()
    # The simulator counts a quarter of the characters.
    assert {1, 8} <= {round(tokens * 4 / 1024) for tokens in asked}


def test_the_same_address_twice_is_an_a_a_run(bench, simulator):
    code, _, said = bench.do(*words(simulator.url, simulator.url, *small(2, 0)))
    assert code == 0
    assert "A/A" in said


REFUSED = {
    "rate": (("--rate", "5/s"), "is of a run of one endpoint"),
    "ramp": (("-c", "1..8"), "ramps can't be compared"),
    "few": (("-c", "8", "-n", "4"), "less than the 8 requests in flight"),
    "models": (("--model", "sim-other"), "with one model"),
    "cases": (("--case", "concurrency_1,concurrency_2"), "with one case"),
    "size": (("--prompt-bytes", "1z"), "sizes from 64 bytes"),
    "pairs": (("--pairs", "0"), "a whole number from 1"),
    "objective": (("--slo", "ttft=1s"), "`--slo` is of a run of one endpoint"),
    "rule": (("--stop-on", "errors=1%"), "`--stop-on` is of a run of one endpoint"),
    "workers": (("--workers", "2"), "more than the 1 in flight"),
}


@pytest.fixture(scope="module")
def refused(simulator, tmp_path_factory):
    """How each ended: all at once, because most of a refusal is the start of an interpreter."""
    bench = bench_in(tmp_path_factory.mktemp("refused"), simulator)
    begun = {
        name: bench.start(*words(simulator.url, simulator.url, *typed), "--json")
        for name, (typed, _) in REFUSED.items()
    }
    yield {name: bench.finish(process) for name, process in begun.items()}
    bench.end_all()


@pytest.mark.parametrize("name", REFUSED)
def test_what_cant_be_compared_is_refused_in_one_message(refused, name):
    code, told, _ = refused[name]
    assert code == 2
    assert REFUSED[name][1] in json.dumps(told)


def test_without_a_baseline_the_message_names_the_option(bench, simulator):
    code, told, _ = bench.do("overhead", PACED, "--url", simulator.url, "--api-key-env", KEY)
    assert code == 2
    assert "--baseline-url" in json.dumps(told)
