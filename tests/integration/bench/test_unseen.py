"""Commands of ours on a real command line: same process, same words, nothing to see."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.unseen import unseen
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.integration

# A program of two lines that is started as our commands are.
PROGRAM = """
import json, os, sys
from bench.cli.unseen import own_words
before = os.environ.get("GWB_WORDS_FD")
words = own_words("showing")
print(json.dumps({
    "pid": os.getpid(), "words": words, "argv": sys.argv[1:], "path": os.environ.get("PATH"),
    "shown": open("/proc/self/cmdline").read().split("\\0")[:-1], "prefix": sys.prefix,
    "left": os.environ.get("GWB_WORDS_FD"), "open": len(os.listdir("/proc/self/fd")),
    "own": [one for one in sys.path if one.endswith("dist")],
}))
"""
ODD = ("run", "", "two words", "dist/serve.js", "--x=ü\n", "\udce4")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "dist"
    place.mkdir()
    (place / "showing.py").write_text(PROGRAM)
    return place


def ask(argv, **options):
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, **options)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    return process.pid, json.loads(out)


@pytest.mark.parametrize("path", [os.environ["PATH"], None], ids=["with PATH", "without PATH"])
def test_a_module_begins_again_with_its_words_out_of_sight(folder, path):
    environment = {name: value for name, value in os.environ.items() if name != "PATH"}
    if path is not None:
        environment["PATH"] = path
    argv = [sys.executable, "-m", "showing", *ODD]
    pid, told = ask(argv, cwd=folder, env=environment)
    assert told["shown"] == [Path(sys.executable).name, "-m", "showing"]
    assert told["pid"] == pid
    assert told["words"] == told["argv"] == list(ODD)
    assert (told["path"], told["left"]) == (path, None)
    assert told["prefix"] == sys.prefix
    assert told["open"] == 4  # the three streams, and the listing itself


def test_a_script_begins_again_without_the_working_directory_in_its_import_path(folder):
    script = folder / "gateway-bench"
    script.write_text(f"#!{sys.executable}\nimport runpy\nrunpy.run_module('showing')\n")
    script.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    _, told = ask([str(script), "stop", "shop-gateway"], cwd=folder, env=environment)
    assert told["shown"] == [Path(sys.executable).name, "-P", "-m", "showing"]
    assert told["words"] == ["stop", "shop-gateway"]
    assert told["own"] == [str(folder)]  # from PYTHONPATH, not a second time from where we are


def test_a_child_is_handed_its_words_and_shows_none_from_the_start(folder):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    with unseen("showing", ODD, environment) as command:
        pid, told = ask(
            command.argv,
            executable=command.executable,
            env=command.environment,
            pass_fds=(command.descriptor,),
        )
    assert told["shown"] == [Path(sys.executable).name, "-P", "-m", "showing"]
    assert (told["pid"], told["words"], told["left"]) == (pid, list(ODD), None)
    assert told["path"] == os.environ["PATH"]
