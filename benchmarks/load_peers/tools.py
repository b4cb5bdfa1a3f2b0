"""The tools, each told the same: so many streams at a time, so many requests, 32 tokens in, 100 out."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.load_peers.install import LOCUST_USER, TOKENIZER, program

_KEY = "MOCK_KEY"


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
    ttft_ms: Callable[[Path], list[float]]
    """What it reported, request by request, from the folder in which it ran."""
    environment: Callable[[Order], Mapping[str, str]] = field(default=lambda _: {})


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
)
