"""How long a tool takes around a server that behaves: until the job runs, and after it ended."""

import subprocess
import time

from benchmarks.supervisors.stage import Stage


def bare(stage: Stage) -> dict[str, float]:
    """Start the server itself: what every tool has to wait for."""
    begin_ns = time.monotonic_ns()
    server = subprocess.Popen(
        [stage.environ["NODE"], "dist/serve.js"],
        cwd=stage.checkout,
        env=stage.environ,
        stdout=subprocess.DEVNULL,
    )
    stage.wait(lambda: stage.noted("listening"))
    ready_ns = int(stage.noted("listening")[0]["atNs"])
    told_ns = time.monotonic_ns()
    server.terminate()
    server.wait()
    return {
        "start_ms": (ready_ns - begin_ns) / 1e6,
        "stop_ms": (time.monotonic_ns() - told_ns) / 1e6,
    }


def kept(stage: Stage) -> dict[str, float]:
    """Start the tool; from its start to the job's, and from the job's end to the tool's.

    The second of two runs is measured: what is done once is done by then (pm2's daemon is up, our
    trial of this Node version is on record).
    """
    _run(stage)
    stage.finish.unlink(missing_ok=True)
    stage.notes.write_text("")
    return _run(stage)


def _run(stage: Stage) -> dict[str, float]:
    begin_ns = time.monotonic_ns()
    tool = stage.begin()
    if not stage.wait_for_job(tool):
        return {}
    up_ns = int(stage.noted("job_up")[0]["atNs"])
    if stage.end_job(tool) is None:
        return {}
    done_ns = time.monotonic_ns()
    stage.wait(lambda: not stage.is_port_taken())
    ended_ns = int(stage.noted("job_done")[0]["atNs"])
    return {"start_ms": (up_ns - begin_ns) / 1e6, "stop_ms": (done_ns - ended_ns) / 1e6}
