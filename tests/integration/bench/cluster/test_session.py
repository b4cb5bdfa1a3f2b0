"""What a killed process leaves of its session is ended, and nothing else."""

import subprocess
import sys

import psutil
import pytest

from bench.cluster.session import end_session

pytestmark = pytest.mark.integration
PARENT = """
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"],
    process_group=0, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
signal.pause()
"""


def begun(**options):
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, **options
    )
    assert process.stdout is not None
    return process, psutil.Process(int(process.stdout.readline()))


def is_gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_what_is_left_of_a_session_is_ended_and_others_are_not():
    leader, child = begun(start_new_session=True)
    other, others_child = begun(start_new_session=True)
    leader.kill()
    leader.communicate()
    assert end_session(leader.pid) == 1
    assert is_gone(child)
    assert end_session(leader.pid) == 0
    assert not is_gone(others_child)
    other.kill()
    other.communicate()
    assert end_session(other.pid) == 1
