"""Puts the load generators that are compared into ``.real/load-peers``, one environment each."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROPS = Path(__file__).resolve().parent / "props"
PEERS = ROOT / ".real" / "load-peers"
TOKENIZER = PEERS / "tokenizer"
LOCUST_USER = PEERS / "locust_user.py"

RELEASES = {
    "aiperf": ("aiperf==0.13.0",),
    "locust": ("locust==2.47.0",),
    # Without its own dependencies, because torch's download is several gigabytes and only its loader
    # is imported; the stub beside this file stands in, which spares GuideLLM time and memory.
    "guidellm": (
        "click~=8.4.0", "culsans~=0.10.0", "datasets>=5.0.1", "eval_type_backport", "faker",
        "ftfy>=6.0.0", "httpx[http2]<1.0.0", "jinja2", "loguru", "more-itertools>=10.8.0",
        "msgpack", "msgspec", "numpy>=2.0.0", "orjson", "protobuf", "pydantic>=2.11.7",
        "pydantic-settings>=2.0.0", "pyyaml>=6.0.0", "rich", "sanic", "tabulate", "transformers",
        "typing-extensions>=4.15.0", "uvloop>=0.18", "websockets>=13.0",
    ),
}  # fmt: skip
_ALONE = {"guidellm": "guidellm==0.8.1"}
_WORDS = 20_000
"""Of the tokenizer: one token a word, so that no tool pays for a large one."""


def program(tool: str, name: str | None = None) -> str:
    """Return the path of a tool's program."""
    return str(PEERS / tool / "bin" / (name or tool))


def install() -> None:
    """Install what is not there yet.

    Raises:
        subprocess.CalledProcessError: pip said why not.
    """
    PEERS.mkdir(parents=True, exist_ok=True)
    for tool, releases in RELEASES.items():
        _install(tool, releases)
    shutil.copy(PROPS / "locust_user.txt", LOCUST_USER)
    if not TOKENIZER.exists():
        _make_tokenizer()


def _install(tool: str, releases: tuple[str, ...]) -> None:
    folder = PEERS / tool
    wanted = hashlib.sha256(json.dumps([releases, _ALONE.get(tool)]).encode()).hexdigest()
    stamp = folder / ".installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [program(tool, "python"), "-m", "pip", "install", "--quiet"]
    pip.append("--disable-pip-version-check")
    subprocess.run([*pip, *releases], check=True, stdout=sys.stderr)
    if tool in _ALONE:
        subprocess.run([*pip, "--no-deps", _ALONE[tool]], check=True, stdout=sys.stderr)
        (site,) = folder.glob("lib/python3*/site-packages")
        shutil.copy(PROPS / "torch_stub.txt", site / "torch.py")
    stamp.write_text(wanted)


def _make_tokenizer() -> None:
    words = {"[UNK]": 0, "[PAD]": 1} | {f"w{n}": n + 2 for n in range(_WORDS)}
    made = {
        "version": "1.0",
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"},
    }
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": 100_000,
        "unk_token": "[UNK]",
        **dict.fromkeys(("pad_token", "bos_token", "eos_token"), "[PAD]"),
    }
    TOKENIZER.mkdir()
    (TOKENIZER / "tokenizer.json").write_text(json.dumps(made))
    (TOKENIZER / "tokenizer_config.json").write_text(json.dumps(settings))
