"""The command that goes on with a run: it holds what the journal doesn't, and no secret."""

import shlex

from bench.cli.going_on import NOTHING_MORE, Again, typed_again
from bench.config import Config, Place, load_config
from bench.keys import Origin
from bench.model.run_config import ExternalSource, RunConfig
from bench.prepare.access import find_access

URL = "http://127.0.0.1:9/v1"
WHOLE = f"{URL}/chat/completions"
KEYS = {"LOCAL_KEY": "a-secret-value", "SECOND": "another-secret"}


def load(folder, environ=None, **typed) -> Config:
    return load_config({"url": URL, **typed}, Place(folder=folder, environ=environ or KEYS))


def words(config, *, has_job=False, is_resumed=False, **run) -> Again:
    access = find_access(config, trusted_hosts=("127.0.0.1",), resolve=lambda *_: ("127.0.0.1",))
    made = RunConfig(model_ids=("m",), url=WHOLE, **run)
    return typed_again(config, access, made, has_job=has_job, is_resumed=is_resumed)


def test_of_an_archived_run_the_journal_is_enough(tmp_path):
    again = words(load(tmp_path, api_key_env="LOCAL_KEY"))
    assert again == NOTHING_MORE
    assert again.command("/a b/c.jsonl") == "gateway-bench resume '/a b/c.jsonl'"


def test_without_the_archive_nobody_vouches_for_address_and_sources(tmp_path):
    config = load(tmp_path, api_key_env="LOCAL_KEY", archive=False)
    source = ExternalSource(suite="ifeval", mode="strict", data="/d")
    again = words(config, user_cases=("/my/cases",), external_suite=source)
    assert again.command("j", "--no-budget").split() == [
        *("gateway-bench", "resume", "j", "--no-archive"),
        *("--url", WHOLE, "--api-key-env", "LOCAL_KEY"),
        *("--cases", "/my/cases", "--external-data", "/d", "--no-budget"),
    ]


def test_a_run_without_a_key_needs_no_address(tmp_path):
    again = words(load(tmp_path, {}, key=False, archive=False))
    assert again.words == ("--no-key", "--no-archive")


def test_a_job_gives_address_and_key_by_itself(tmp_path):
    config = load(tmp_path, api_key_env="LOCAL_KEY", archive=False)
    assert words(config, has_job=True).words == ("--no-archive",)


def test_what_a_resumed_run_was_typed_with_is_typed_again_unless_its_journal_is_trusted(tmp_path):
    typed = load(tmp_path, api_key_env="LOCAL_KEY")
    assert words(typed, is_resumed=True).words == ("--url", WHOLE, "--api-key-env", "LOCAL_KEY")
    own = typed.with_value("url", URL, origin=Origin.FLAG, label="the journal")
    assert words(own, is_resumed=True).words == ()
    trusted = typed.with_value("url", URL, origin=Origin.FILE, label="the journal")
    assert "--url" in words(trusted, is_resumed=True).words


def test_what_shapes_requests_is_typed_again_and_secrets_are_named_only(tmp_path):
    config = load(
        tmp_path,
        {**KEYS, "BENCHMARK_REQUIRE_COMPLETE": "1"},
        header=("X-Mine: a-secret-value",),
        header_env=("X-Odd=SECOND",),
        baseline_header=("X-Base: a-secret-value",),
        baseline_header_env=("X-Base-Odd=SECOND",),
        baseline_url="http://127.0.0.1:8/v1",
        body="my body.json",
        tag=False,
        key=False,
        allow_unknown_cost=True,
        proxy="http://127.0.0.1:3128",
        ray_address="10.0.0.1:6379",
        archive=False,
    )
    again = words(config)
    command = again.command("j")
    assert f"--body {shlex.quote(str(tmp_path / 'my body.json'))}" in command
    for part in ("--header-env X-Odd=SECOND", "--baseline-header-env X-Base-Odd=SECOND"):
        assert part in command
    for part in ("--no-tag", "--no-key", "--allow-unknown-cost", "--require-complete"):
        assert part in command
    assert "--baseline-url http://127.0.0.1:8/v1 --ray-address 10.0.0.1:6379" in command
    assert "--proxy http://127.0.0.1:3128" in command
    assert again.by_hand == ("--header", "--baseline-header")
    assert again.note() == ", with `--header` and `--baseline-header` again (no value is kept)"
    assert "secret-value" not in command
