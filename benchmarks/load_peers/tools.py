"""The tools, each told the same: so many streams at a time, so many requests, 32 tokens in, 100 out."""

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.load_peers.install import LOCUST_USER, TOKENIZER, program

_KEY = "MOCK_KEY"
_PATH = "/v1/chat/completions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a tool is told in one run."""

    url: str
    """``http://127.0.0.1:PORT``"""
    streams: int
    requests: int
    folder: Path
    """Its working directory, where it may write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One load generator."""

    name: str
    words: Callable[[Order], list[str]]
    ttft_ms: Callable[[Path], list[float]] | None
    """What it reported, request by request, from the folder in which it ran; ``None`` = it knows
    nothing of streams, and only its rate and cost can be held against the others."""
    environment: Callable[[Order], Mapping[str, str]] = field(default=lambda _: {})
    system: str | None = None
    """The program of the system that it is; ``None`` = it is installed below ``.real/``."""

    @property
    def is_there(self) -> bool:
        """Say whether it can be run, once all that can be installed is."""
        return self.system is None or shutil.which(self.system) is not None


def _ours(order: Order) -> list[str]:
    words = [sys.executable, "-m", "bench", "bench", "mock", "--url", order.url, "--yes"]
    load = ["-c", str(order.streams), "-n", str(order.requests)]
    # No price of `mock` is looked up: the others look none up either.
    own = ["--api-key-env", _KEY, "--no-archive", "--no-price-library"]
    return [*words, "--case", "fixed_output_stream", *load, *own]


def _ours_ttft(folder: Path) -> list[float]:
    (journal,) = folder.glob("out/*.jsonl")
    found = (json.loads(line) for line in journal.read_text().splitlines())
    trials = [record["trial"] for record in found if record["type"] == "trial"]
    return [one["response"]["timing"]["firstContentMs"] for one in trials if not one["warmup"]]


def _guidellm(order: Order) -> list[str]:
    backend = f"kind=openai_http,target={order.url},model=mock,validate_backend=false"
    options = {
        "--backend": backend,
        "--profile": f"kind=concurrent,streams={order.streams}",
        "--constraint": f"kind=max_requests,count={order.requests}",
        "--data": "kind=synthetic_text,prompt_tokens=32,output_tokens=100",
        "--tokenizer": f"kind=huggingface_auto,model={TOKENIZER}",
        "--data-loader": f"kind=pytorch,samples={order.requests}",
        "--output": f"kind=json,path={order.folder / 'out.json'}",
    }
    return [program("guidellm"), "run", *(word for pair in options.items() for word in pair)]


def _guidellm_ttft(folder: Path) -> list[float]:
    (benchmark,) = json.loads((folder / "out.json").read_text())["benchmarks"]
    return [one["time_to_first_token_ms"] for one in benchmark["requests"]["successful"]]


def _aiperf(order: Order) -> list[str]:
    options = {
        "-m": "mock",
        "--url": order.url,
        "--endpoint-type": "chat",
        "--concurrency": str(order.streams),
        "--request-count": str(order.requests),
        "--synthetic-input-tokens-mean": "32",
        "--output-tokens-mean": "100",
        "--tokenizer": str(TOKENIZER),
        "--num-dataset-entries": "200",
        "--artifact-dir": str(order.folder),
        "--ui": "none",
    }
    flags = ["--streaming", "--no-gpu-telemetry", "--no-server-metrics"]
    words = (word for pair in options.items() for word in pair)
    return [program("aiperf"), "profile", *words, *flags]


def _aiperf_ttft(folder: Path) -> list[float]:
    lines = (folder / "profile_export.jsonl").read_text().splitlines()
    return [json.loads(line)["metrics"]["time_to_first_token"]["value"] for line in lines]


def _locust(order: Order) -> list[str]:
    users = ["-u", str(order.streams), "-r", str(order.streams)]
    words = [program("locust"), "-f", str(LOCUST_USER), "--headless", "--only-summary"]
    return [*words, *users, "--host", order.url, "-t", "240s"]


def _locust_ttft(folder: Path) -> list[float]:
    found: list[float] = json.loads((folder / "ttft.json").read_text())
    return found


def _body(order: Order) -> Path:
    path = order.folder / "body.json"
    message = {"role": "user", "content": " ".join(f"w{n}" for n in range(32))}
    body = {"model": "mock", "stream": True, "max_tokens": 100, "messages": [message]}
    path.write_text(json.dumps(body))
    return path


def _wrk(order: Order) -> list[str]:
    """Run for a time: it knows no number of requests. What the server saw is counted."""
    script = order.folder / "post.lua"
    script.write_text(
        'wrk.method = "POST"\n'
        'wrk.headers["Content-Type"] = "application/json"\n'
        f'wrk.body = io.open("{_body(order)}"):read("*a")\n'
    )
    words = ["wrk", "-t", "1", "-c", str(order.streams), "-d", "5s", "--timeout", "60s"]
    return [*words, "-s", str(script), f"{order.url}{_PATH}"]


def _hey(order: Order) -> list[str]:
    load = ["-n", str(order.requests), "-c", str(order.streams), "-t", "60"]
    sent = ["-m", "POST", "-T", "application/json", "-D", str(_body(order))]
    return ["hey", *load, *sent, f"{order.url}{_PATH}"]


OURS = Tool(
    name="gateway-bench",
    words=_ours,
    ttft_ms=_ours_ttft,
    environment=lambda order: {
        _KEY: "key-of-the-c-server",
        "BENCHMARK_OUTPUT_DIR": str(order.folder / "out"),
    },
)
TOOLS = (
    OURS,
    Tool(
        name="GuideLLM 0.8.1",
        words=_guidellm,
        ttft_ms=_guidellm_ttft,
        environment=lambda _: {"USE_TORCH": "0"},
    ),
    Tool(name="AIPerf 0.13.0", words=_aiperf, ttft_ms=_aiperf_ttft),
    Tool(
        name="Locust 2.47.0, fast client",
        words=_locust,
        ttft_ms=_locust_ttft,
        environment=lambda order: {"REQUESTS": str(order.requests)},
    ),
    Tool(name="wrk 4.1.0, rate only", words=_wrk, ttft_ms=None, system="wrk"),
    Tool(name="hey 0.1.4, rate only", words=_hey, ttft_ms=None, system="hey"),
)
