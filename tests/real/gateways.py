"""The two real gateways that tests start: what each needs, and how a request finds its upstream."""

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bench.model.trial import Trial
from tests.command_line import CommandLine, Done
from tests.simulator_process import TOKEN, Simulator

ROOT = Path(__file__).parents[2]
REAL = Path(os.environ.get("GATEWAY_BENCH_REAL") or ROOT / ".real")
"""Where `scripts/test-real` installs them."""
LITELLM = REAL / "litellm/bin/litellm"
PORTKEY = REAL / "portkey"
UPSTREAM_KEY = "UPSTREAM_KEY"


@dataclass(frozen=True, kw_only=True)
class RealGateway:
    """One gateway, described as a person would."""

    name: str
    words: tuple[str, ...]
    """Of `run` and `start`."""
    environ: dict[str, str] = field(default_factory=dict)
    token: str
    """What its clients send: LiteLLM has a key of its own, Portkey passes it on."""

    @property
    def key_variable(self) -> str:
        return f"LOCAL_{self.name.upper()}_API_KEY"

    @property
    def missing(self) -> str | None:
        """What has to be installed before it can be started."""
        if self.name == "litellm":
            return None if LITELLM.exists() else f"`{LITELLM}` is not there: scripts/test-real"
        if shutil.which("node") is None:
            return "node is not installed"
        entry = PORTKEY / "node_modules/@portkey-ai/gateway/build/start-server.js"
        return None if entry.exists() else f"`{entry}` is not there: scripts/test-real"

    def pointing(self, upstream: Simulator) -> tuple[str, ...]:
        """Words of `bench` that a request needs to get through to ``upstream``."""
        if self.name == "litellm":
            return ()
        host = f"x-portkey-custom-host: {upstream.base_url}"
        return ("-H", "x-portkey-provider: openai", "-H", host)


GATEWAYS = {
    gateway.name: gateway
    for gateway in (
        RealGateway(
            name="litellm",
            words=("--preset", "litellm"),
            environ={"GATEWAY_LITELLM": str(LITELLM)},
            token="sk-test-token",  # noqa: S106 - the preset's seeded token, no secret
        ),
        RealGateway(
            name="portkey",
            words=("--preset", "portkey", "--gateway", str(PORTKEY)),
            token=TOKEN,
        ),
    )
}


@dataclass(kw_only=True)
class Standing:
    """A gateway that was started once for many tests, in front of a simulator with a log."""

    gateway: RealGateway
    command: CommandLine
    simulator: Simulator
    facts: dict[str, Any]
    """Of `start --json`."""

    @property
    def url(self) -> str:
        return str(self.facts["url"])

    def bench(self, *models: str, words: tuple[str, ...], key: str | None = None) -> Done:
        """Run `bench` on ``models`` through the gateway."""
        more = [word for model in models[1:] for word in ("--model", model)]
        return self.command(
            *("bench", models[0], *more, "--case", "fixed_output_stream", "--warmup", "0"),
            *("--url", self.url, "--api-key-env", self.gateway.key_variable),
            *("--dialect", self.gateway.name, *self.gateway.pointing(self.simulator)),
            *("--yes", "--json", *words),
            **{self.gateway.key_variable: key or self.gateway.token},
        )

    def sent(self, trial: Trial) -> dict[str, Any]:
        """Return the simulator's own record of the request that a trial made.

        Same model, same prompt, and received while the trial was under way.
        """
        total_ms = trial.response.timing.total_ms
        assert trial.sent_at_ns is not None
        assert total_ms is not None
        under_way = range(trial.sent_at_ns, trial.sent_at_ns + int(total_ms * 1e6))
        (found,) = (
            record
            for record in self.simulator.records()
            if record["model"] == trial.target_id
            and record["prompt_hash"] == trial.prompt_hash
            and record["received_ns"] in under_way
        )
        return found


def journal_of(done: Done) -> Path:
    """Return the journal of a command that measured."""
    return Path(next(name for name in done.told["files"] if name.endswith(".jsonl")))


def document_of(done: Done) -> dict[str, Any]:
    """Return the result document of a command that measured."""
    made: dict[str, Any] = json.loads(journal_of(done).with_suffix(".json").read_bytes())
    return made


def marked(run_id: str) -> list[int]:
    """Return processes that carry the marker of a run or of its simulator."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("GWB_RUN", "").startswith(run_id):
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
    return found
