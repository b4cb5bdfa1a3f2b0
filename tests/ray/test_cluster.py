"""Load from several nodes of a Ray cluster: one schedule, one run; whoever is lost is missed, not doubled."""

import json
import os
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.ray.stage import (
    KEY,
    MODEL,
    Command,
    SeveralNodes,
    ended,
    running_cluster,
    until,
    until_asked,
)
from tests.simulator_process import Simulator

pytestmark = pytest.mark.ray


def words(simulator: Simulator, cluster: SeveralNodes, *more: str) -> tuple[str, ...]:
    return (
        *("bench", MODEL, "--url", simulator.base_url, "--api-key-env", "SIMULATED_KEY", "--yes"),
        *("--include-deactivated", "--no-archive", "--warmup", "0", "--engine", "ray"),
        *("--ray-address", cluster.address, *more),
    )


@pytest.fixture
def command(tmp_path, cluster) -> Command:
    return Command(folder=tmp_path / "run", environment=cluster.environment)


def asked(simulator: Simulator, since_ns: int = 0) -> list[dict[str, object]]:
    return [each for each in simulator.records(since_ns=since_ns) if each["model"] == MODEL]


def trial_ids(command: Command) -> list[str]:
    return [trial.id for trial in command.ledger().trials]


def shard_records(command: Command) -> list[dict[str, object]]:
    journal = command.journal()
    assert journal is not None
    shards = journal.parent.glob(f"{journal.stem}.*.jsonl")
    return [json.loads(line) for shard in shards for line in shard.read_bytes().splitlines()]


def test_three_nodes_send_one_schedule_and_nobody_reads_the_key(command, cluster, simulator):
    process = command.begin(*words(simulator, cluster, "-c", "6", "-n", "300", "--workers", "3"))
    until_asked(process, lambda: len(asked(simulator)) > 20)
    seen = hiding_places(cluster)
    code, told, _ = ended(process)
    assert (code, told["status"], told["done"], told["failed"]) == (0, "done", 300, 0)
    # A record follows its answer's end.
    until(lambda: len(asked(simulator)) >= 300, "the last record")
    assert len(asked(simulator)) == 300
    assert max(Counter(trial_ids(command)).values()) == 1
    assert len(trial_ids(command)) == 300
    nodes = {shard.node for shard in command.ledger().shards}
    assert nodes == set(cluster.nodes)
    assert [name for name, data in (seen | files(cluster)).items() if KEY.encode() in data] == []
    assert cluster.left_behind() == []


def test_a_node_that_dies_ends_the_stage_and_resume_measures_it_again(tmp_path, simulator):
    with running_cluster(nodes=3, processors=1) as cluster:
        command = Command(folder=tmp_path / "run", environment=cluster.environment)
        more = ("-c", "3", "-n", "600", "--workers", "3", "--seed", "7")
        process = command.begin(*words(simulator, cluster, *more))
        until_asked(process, lambda: len(asked(simulator)) > 20)
        cluster.kill(cluster.nodes[2])
        code, told, stderr = ended(process)
        assert code == 5
        assert "is gone" in stderr
        ledger = command.ledger()
        lost = [shard.number for shard in ledger.shards if shard.node == cluster.nodes[2]]
        assert list(ledger.broken_shards) == lost
        begun_ns = time.perf_counter_ns()
        journal = str(command.journal())
        trusting = ("resume", journal, "--yes", "--trust-url", "127.0.0.1", "--workers", "2")
        code, _, stderr = ended(command.begin(*trusting))
        assert (code, f"the Ray cluster at `{cluster.address}`" in stderr) == (2, True), stderr
        place = ("--ray-address", cluster.address)
        code, told, stderr = ended(command.begin(*trusting, *place))
        assert (code, told["status"], told["done"]) == (0, "done", 600), stderr
        assert "as the run was begun: `--engine ray`" in stderr
        until(lambda: len(asked(simulator, begun_ns)) >= 600, "the last record")
        assert len(asked(simulator, begun_ns)) == 600
        assert len(trial_ids(command)) == len(set(trial_ids(command))) == 600


def test_an_actor_that_is_killed_leaves_its_last_records_on_its_node(command, cluster, simulator):
    more = ("-c", "4", "-n", "2000", "--workers", "2")
    process = command.begin(*words(simulator, cluster, *more))
    until_asked(process, lambda: len(asked(simulator)) > 20)
    victim = command.ledger().shards[0]
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    code, _, _ = ended(process)
    assert code == 5
    (detail,) = command.ledger().broken_shards.values()
    assert detail.endswith("its records were fetched from its node")
    assert list(command.ledger().broken_shards) == [victim.number]
    begun = [record for record in shard_records(command) if record["type"] == "started"]
    assert len(begun) >= len(asked(simulator))
    assert cluster.left_behind() == []


def test_actors_end_with_the_process_that_leads_them(command, cluster, simulator):
    process = command.begin(*words(simulator, cluster, "-c", "2", "-d", "600s", "--workers", "2"))
    until_asked(process, lambda: len(asked(simulator)) > 5)
    pids = [shard.pid for shard in command.ledger().shards]
    process.kill()
    process.communicate()
    until(lambda: not any(psutil.pid_exists(pid) for pid in pids), "the end of the actors")
    until(lambda: cluster.left_behind() == [], "the end of their folders")


def test_more_than_the_cluster_holds_is_refused_at_once(command, cluster, simulator):
    process = command.begin(*words(simulator, cluster, "-c", "9", "-n", "9", "--workers", "9"))
    code, told, stderr = ended(process)
    assert (code, told["status"]) == (2, "failed")
    assert "9 load processes of 1 CPU each find no room: the cluster has 3 CPU" in stderr
    assert asked(simulator) == []


def hiding_places(cluster: SeveralNodes) -> dict[str, bytes]:
    """Return what the system shows of the cluster's processes while they work."""
    seen = {}
    for process in cluster.processes():
        with suppress(psutil.NoSuchProcess):  # it ended meanwhile
            seen[f"{process.pid} command line"] = " ".join(process.cmdline()).encode()
            seen[f"{process.pid} environment"] = repr(process.environ()).encode()
    assert seen
    return seen


def files(cluster: SeveralNodes) -> dict[str, bytes]:
    """Return what Ray has written: logs, sessions."""
    found = {}
    for folder, _, names in os.walk(cluster.folder):  # passes over what is removed meanwhile
        for path in (Path(folder, name) for name in names):
            with suppress(FileNotFoundError):
                if path.is_file():
                    found[str(path)] = path.read_bytes()
    assert found
    return found
