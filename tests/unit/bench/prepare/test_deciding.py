from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench.catalogue import ListedModel, Listing, Offer
from bench.cli.agreeing import most_of
from bench.config import Config, Place, load_config
from bench.errors import UnknownName, UsageFault
from bench.job_messages import Hello
from bench.keys import Address, Origin
from bench.model.target import Prices, TargetMetadata
from bench.prepare.access import find_access
from bench.prepare.assembly import Moment, Preparation, assemble, stem_of
from bench.prepare.consent import PaidRunRefused, consent, free_because
from bench.prepare.estimate import Estimate, estimate
from bench.prepare.selection import Selection, select
from bench.raw_body import body_case, body_hash, body_model

TODAY = date(2026, 11, 30)
PRICED = TargetMetadata(prices=Prices(input_usd=1e-6, output_usd=2e-6, source="gateway"))
LISTING = Listing(
    models=(
        ListedModel(
            id="m",
            display_name="M",
            offers=(
                Offer(mapping="a", metadata=PRICED),
                Offer(mapping="b", metadata=TargetMetadata()),
            ),
        ),
    ),
    headers={},
    names_providers=True,
)
NO_LIST = Listing(headers={"x-litellm-version": "1"}, problem="http://h: HTTP 404")
MOMENT = Moment(now=datetime(2026, 11, 30, 9, 5, 1, 7000, tzinfo=UTC), salt="abc123")


def configured(folder: Path, **flags: object) -> Config:
    return load_config({"url": "http://127.0.0.1:1", **flags}, Place(folder=folder, environ={}))


def selected(folder: Path, listing: Listing = LISTING, **flags: object) -> Selection:
    config = configured(folder, **flags)
    return select(config, listing, models=("m",), today=TODAY)


def prepared(folder: Path, hello: Hello | None = None, **flags: Any) -> Preparation:
    config = configured(folder, **flags)
    access = find_access(config, trusted_hosts=(), resolve=lambda *_: ())
    selection = select(config, LISTING, models=("m",), today=TODAY)
    return assemble(config, access, selection, hello=hello, body=None, moment=MOMENT)


def test_smoke_is_what_nobody_asked_for(tmp_path):
    selection = selected(tmp_path)
    assert (selection.profile, selection.suite) == ("smoke", None)
    assert [target.model for target in selection.targets] == ["a/m", "b/m"]
    assert len(selection.cases) == 7


def test_a_typed_suite_goes_before_a_file_s_profile(tmp_path):
    (tmp_path / "gateway-bench.toml").write_text("[bench]\nprofile = 'smoke'\n")
    selection = selected(tmp_path, suite="core")
    assert (selection.profile, selection.suite) == (None, "core")
    (tmp_path / "gateway-bench.toml").write_text("[bench]\nsuite = 'core'\n")
    assert selected(tmp_path, profile="smoke").suite is None


def test_concurrency_replaces_the_cases_own(tmp_path):
    selection = selected(tmp_path, concurrency="4", case="fixed_output_stream")
    assert [case.info.concurrency for case in selection.cases] == [4]
    assert selection.profile is None


@pytest.mark.parametrize(
    ("listing", "typed", "name", "note"),
    [
        pytest.param(LISTING, None, "llmgateway", "dialect: llmgateway", id="by-its-list"),
        pytest.param(NO_LIST, None, "litellm", "dialect: litellm", id="by-its-headers"),
        pytest.param(Listing(headers={}), None, "plain", "dialect: plain", id="unknown"),
        pytest.param(NO_LIST, "portkey", "portkey", "no list of models", id="typed"),
    ],
)
def test_the_dialect_is_found_or_typed(tmp_path, listing, typed, name, note):
    flags = {"dialect": typed} if typed else {}
    selection = selected(tmp_path, listing, **flags)
    assert selection.dialect.name == name
    assert note in selection.notes[0]


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param({"case": "seeded_shortest"}, id="case"),
        pytest.param({"profile": "smok"}, id="profile"),
        pytest.param({"reference": "c/m"}, id="reference"),
    ],
)
def test_unknown_names_have_near_matches(tmp_path, flags):
    with pytest.raises(UnknownName, match="did you mean"):
        selected(tmp_path, **flags)


def test_no_model_is_a_usage_fault(tmp_path):
    with pytest.raises(UsageFault, match="no model"):
        select(configured(tmp_path), LISTING, models=(), today=TODAY)


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31m", "a\u2028b"])
def test_a_model_s_name_breaks_no_line_of_what_is_said_about_it(tmp_path, name):
    with pytest.raises(UsageFault, match="no line break") as caught:
        select(configured(tmp_path), LISTING, models=("m", name), today=TODAY)
    assert caught.value.message.isprintable()


def test_a_run_is_named_after_its_model_and_moment(tmp_path):
    request = prepared(tmp_path).request
    assert request.stem == "m-2026-11-30T09-05-01-007Z"
    assert request.run_id == "20261130T090501-abc123"
    assert request.config.is_paid
    assert request.config.dialect == "llmgateway"
    assert stem_of(("openai/gpt 4", "x")) == "openai-gpt-4-x"
    assert stem_of(("///",)) == "model"
    assert stem_of(("../../etc/passwd",)) == "etc-passwd"
    assert stem_of((".hidden",)) == "hidden"


def test_the_job_names_the_run_and_says_that_it_is_free(tmp_path):
    hello = Hello(run_id="job-1", free_because="the upstream is local")
    preparation = prepared(tmp_path, hello)
    assert preparation.request.run_id == "job-1"
    assert preparation.free_because == "the upstream is local"
    assert not preparation.request.config.is_paid


def bounds(folder: Path, **flags: Any) -> Estimate:
    preparation = prepared(folder, **flags)
    return estimate(
        preparation.trials,
        targets=preparation.request.targets,
        cases=preparation.cases,
        config=preparation.request.config,
    )


def test_the_estimate_counts_every_request_and_says_what_is_unknown(tmp_path):
    made = bounds(tmp_path, runs="1", warmup="0")
    assert made.requests == 14
    assert made.usd > 0
    assert dict(made.unbounded) == {"b/m": "no price is known"}
    assert "at most $" in made.text()
    assert "for the rest, and an unknown amount (b/m: no price is known)" in made.text()


def test_an_assumed_price_bounds_everything(tmp_path):
    made = bounds(tmp_path, assume_price="1/2", case="tool_selection_exact", runs="1")
    assert not made.unbounded
    assert made.output_tokens == 2 * 256
    assert made.text().endswith(f"at most ${made.usd:.4f}; prices: gateway-list, assumed")


def test_a_coding_task_counts_with_all_its_turns_each_longer_than_the_one_before(tmp_path):
    flags = {"assume_price": "1/2", "case": "agentic_parser", "runs": "1"}
    made = bounds(tmp_path, **flags)
    assert (made.requests, made.output_tokens) == (2 * 24, 2 * 24 * 2_048)
    assert not made.unbounded
    assert not made.endless
    assert "48 requests" in made.text()
    assert made.text().endswith("each coding task counted with 24 turns as long as they may get")
    one, two, three = (bounds(tmp_path, max_turns=str(turns), **flags) for turns in (1, 2, 3))
    assert (one.requests, two.requests, three.requests) == (2, 4, 6)
    growth = two.input_tokens - 2 * one.input_tokens
    assert growth > 2 * 32_000
    assert three.input_tokens - two.input_tokens == one.input_tokens + 2 * growth
    assert most_of(three, limit_usd=None) == three.usd


def test_no_turn_of_a_task_takes_more_than_the_context_holds(tmp_path):
    (offer,) = LISTING.models[0].offers[:1]
    metadata = msgspec.structs.replace(PRICED, context_size=50_000)
    listing = replace(
        LISTING, models=(replace(LISTING.models[0], offers=(replace(offer, metadata=metadata),)),)
    )
    config = configured(tmp_path, case="agentic_parser", runs="1", max_turns="10")
    access = find_access(config, trusted_hosts=(), resolve=lambda *_: ())
    selection = select(config, listing, models=("m",), today=TODAY)
    preparation = assemble(config, access, selection, hello=None, body=None, moment=MOMENT)
    made = estimate(
        preparation.trials,
        targets=selection.targets,
        cases=preparation.cases,
        config=preparation.request.config,
    )
    assert 9 * 50_000 < made.input_tokens < 10 * 50_000


def test_a_body_without_a_limit_has_no_bound(tmp_path):
    data = b'{"model":"m","messages":[{"role":"user","content":[1]},{"role":"user"}]}'
    case = body_case(data)
    config = configured(tmp_path, assume_price="1/2")
    access = find_access(config, trusted_hosts=(), resolve=lambda *_: ())
    selection = select(config, LISTING, models=("m",), today=TODAY).of_case(case)
    preparation = assemble(config, access, selection, hello=None, body=data, moment=MOMENT)
    made = estimate(
        preparation.trials,
        targets=selection.targets,
        cases=preparation.cases,
        config=preparation.request.config,
        body=data,
    )
    assert made.output_tokens is None
    assert set(made.unbounded.values()) == {"its answers have no limit"}
    assert "an unknown number of out" in made.text()
    assert preparation.request.config.body_sha256 == body_hash(data)


BOUNDED = Estimate(requests=1, input_tokens=1, output_tokens=1, usd=0.1, unbounded={})
UNBOUNDED = Estimate(
    requests=2, input_tokens=1, output_tokens=1, usd=0, unbounded={"t": "no price", "u": "none"}
)
ENDLESS = replace(BOUNDED, endless={"t": "its conversations grow"})


def test_what_has_no_end_is_told_though_each_request_has_a_bound():
    assert ENDLESS.text() == (
        "1 request or more, at most 1 tokens in and 1 out: at most $0.1000 for the rest, and an "
        "unknown amount (t: its conversations grow)"
    )
    assert most_of(ENDLESS, limit_usd=None) is None
    assert most_of(ENDLESS, limit_usd=0.5) == 0.5
    assert most_of(BOUNDED, limit_usd=None) == 0.1
    assert most_of(BOUNDED, limit_usd=0.05) == 0.05


@pytest.mark.parametrize(
    ("made", "limit", "allow", "yes", "terminal", "wanted"),
    [
        pytest.param(BOUNDED, None, False, True, False, "given", id="yes"),
        pytest.param(BOUNDED, None, False, False, True, "ask", id="terminal"),
        pytest.param(BOUNDED, "--max-cost 1", False, True, False, "given", id="limit-can-be-kept"),
        pytest.param(
            UNBOUNDED, "--max-cost 1", True, True, False, "given", id="unknown-is-allowed"
        ),
        pytest.param(UNBOUNDED, None, False, True, False, "given", id="no-limit"),
        pytest.param(ENDLESS, "--max-cost 1", False, True, False, "given", id="each-is-bounded"),
    ],
)
def test_a_paid_run_begins_with_a_yes(made, limit, allow, yes, terminal, wanted):
    given = consent(made, limit=limit, allow_unknown_cost=allow, said_yes=yes, is_terminal=terminal)
    assert given == wanted


@pytest.mark.parametrize(
    ("made", "limit", "yes", "said"),
    [
        pytest.param(BOUNDED, None, False, "nobody said yes", id="nobody-there"),
        pytest.param(
            UNBOUNDED, "--max-cost 1", True, r"can't be kept for t \(and 1 more\)", id="limit"
        ),
    ],
)
def test_a_paid_run_without_a_yes_is_refused_with_its_estimate(made, limit, yes, said):
    with pytest.raises(PaidRunRefused, match=said) as caught:
        consent(made, limit=limit, allow_unknown_cost=False, said_yes=yes, is_terminal=False)
    assert caught.value.exit_code == 7
    assert caught.value.detail["estimate"]["requests"] == made.requests


def address(*, here: bool, abroad: bool = False) -> Address:
    return Address(
        scheme="https",
        host="h",
        origin=Origin.FLAG,
        given_by="--url",
        is_loopback=here,
        is_remote=abroad,
    )


SIMULATOR = Listing(headers={"x-gateway-bench-simulator": "1"})


@pytest.mark.parametrize(
    ("hello", "listing", "place", "is_free"),
    [
        pytest.param(None, SIMULATOR, address(here=True), True, id="simulator-here"),
        pytest.param(
            None, SIMULATOR, address(here=False, abroad=True), False, id="says-a-stranger"
        ),
        pytest.param(None, LISTING, address(here=True), False, id="loopback-proves-nothing"),
        pytest.param(None, None, address(here=True), False, id="nothing-known"),
        pytest.param(
            Hello(run_id="r", simulated_upstream=True), None, address(here=True), True, id="job"
        ),
        pytest.param(Hello(run_id="r"), LISTING, address(here=True), False, id="job-unknown"),
    ],
)
def test_a_run_is_paid_unless_it_is_known_to_be_free(hello, listing, place, is_free):
    assert (free_because(hello, listing, place) is not None) is is_free


@pytest.mark.parametrize(
    ("data", "typed", "said"),
    [
        pytest.param(b"{", None, "no JSON:", id="no-json"),
        pytest.param(b"[]", None, "no JSON object", id="no-object"),
        pytest.param(b"{}", None, "names no `model`", id="no-model"),
        pytest.param(b'{"model":"a"}', "b", "asks for `a`, the command line for `b`", id="other"),
    ],
)
def test_a_body_that_can_t_be_sent_says_why(data, typed, said):
    with pytest.raises(UsageFault, match=said):
        body_model(data, typed=typed)


def test_a_body_names_its_model_and_limit():
    data = b'{"model":"a","max_tokens":true,"max_completion_tokens":9}'
    assert body_model(data, typed="a") == "a"
    instance = body_case(data).build(1)
    assert instance.request.max_tokens == 9
    assert instance.evaluate is None


def test_an_estimate_names_each_reason_once_and_few_targets():
    made = Estimate(
        requests=5,
        input_tokens=10,
        output_tokens=None,
        usd=0.0,
        unbounded={**dict.fromkeys("abcde", "no price is known"), "f": "no bound"},
    )
    assert made.text().endswith(
        "out: an unknown amount (a, b, c and 2 more: no price is known; f: no bound)"
    )
