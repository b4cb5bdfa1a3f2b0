from datetime import date
from pathlib import Path

import pytest

from bench.cases import CASES
from bench.catalogue import ListedModel, Listing, Offer
from bench.config import Config, Place, load_config
from bench.errors import UsageFault
from bench.model.load import Sweep
from bench.model.run_config import RunConfig
from bench.model.target import Prices, Target, TargetMetadata
from bench.plan import build_load_plan, first_staged, plan_hash, planned_in
from bench.prepare.estimate import Estimate
from bench.prepare.load import estimate_load, find_load, with_load, without_typed_plan
from bench.prepare.selection import select

PRICED = TargetMetadata(prices=Prices(input_usd=1e-6, output_usd=2e-6, source="gateway"))
TARGET = Target(id="m", model="m", model_id="m", display_name="M", metadata=PRICED)
CASE = CASES["fixed_output_stream"]
LISTING = Listing(
    models=(ListedModel(id="m", display_name="M", offers=(Offer(mapping="a", metadata=PRICED),)),),
    headers={},
)


def configured(folder: Path, **flags: object) -> Config:
    return load_config({"url": "http://127.0.0.1:1", **flags}, Place(folder=folder, environ={}))


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"requests": "5", "runs": "2"}, "`--runs` counts"),
        ({"requests": "5", "spread": "1h"}, "`--spread` is of a plan"),
        ({"requests": "5", "retry_429": "3"}, "`--retry-429` is of a plan"),
        ({"slo": ("ttft=5s",)}, "`--slo` is of load"),
        ({"stop_on": ("saturation",)}, "`--stop-on` is of load"),
        ({"lock_step": True}, "`--lock-step` is of load"),
        ({"arrival": "constant"}, "`--arrival` is of load"),
        ({"trace_speed": "2", "requests": "5"}, "needs `--trace`"),
        ({"trace": "nowhere.jsonl"}, "no such file"),
        ({"turns": "2", "body": "b.json"}, "`--turns` and `--body` exclude"),
        ({"requests": "5", "slo": ("ttft=5s",), "stream": False}, "`--slo ttft=5s` needs a stream"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path, flags, told):
    with pytest.raises(UsageFault, match=told):
        find_load(configured(tmp_path, **flags))


def test_a_trace_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "t").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageFault, match="no UTF-8"):
        find_load(configured(tmp_path, trace="t"))


def test_no_budget_counts_under_load_unless_it_was_typed(tmp_path):
    config = configured(tmp_path, requests="5")
    meant = without_typed_plan(config, find_load(config))
    assert (meant.settings.budget, meant.settings.case) == (None, ("fixed_output_stream",))
    typed = configured(tmp_path, requests="5", budget="5s", case=("seeded_shortest_path",))
    meant = without_typed_plan(typed, find_load(typed))
    assert (meant.settings.budget, meant.settings.case) == (5_000.0, ("seeded_shortest_path",))
    spread = without_typed_plan(configured(tmp_path, spread="6h"), None)
    assert (spread.settings.budget, spread.settings.case) == (None, ())
    plain = configured(tmp_path)
    assert without_typed_plan(plain, None) is plain


def test_a_task_with_tools_can_not_be_asked_under_load(tmp_path):
    config = configured(tmp_path, case=("agentic_bugfix_small",), requests="5")
    selection = select(config, LISTING, models=("m",), today=date(2026, 11, 30))
    with pytest.raises(UsageFault, match="task with tools"):
        with_load(selection, find_load(config))
    assert with_load(selection, None).load is None


def bounds_of(folder: Path, **flags: object) -> Estimate:
    load = find_load(configured(folder, **flags))
    assert load is not None
    plan = build_load_plan((TARGET,), (CASE.info,), load, seed=1)
    return estimate_load(
        plan,
        targets=(TARGET,),
        cases={CASE.info.id: CASE},
        config=RunConfig(model_ids=("m",), url="http://127.0.0.1:1"),
        body=None,
    )


def test_one_request_stands_for_all_of_its_stage(tmp_path):
    one = bounds_of(tmp_path, requests="1", warmup="0")
    many = bounds_of(tmp_path, requests="10", concurrency="2")
    assert (many.requests, many.output_tokens) == (12, 12 * 512)
    assert many.usd == pytest.approx(12 * one.usd)
    assert not many.unbounded
    assert not many.endless


def test_time_and_growing_conversations_have_no_bound(tmp_path):
    timed = bounds_of(tmp_path, duration="5s")
    assert timed.is_open_ended
    assert "time decides" in timed.endless["m"]
    assert "as many as fit" in timed.text()
    assert "grow" in bounds_of(tmp_path, requests="4", turns="2").endless["m"]
    assert bounds_of(tmp_path, sweep="1..4").is_open_ended


def test_a_trace_is_bounded_by_its_largest_request(tmp_path):
    (tmp_path / "t").write_text(
        '{"timestamp": 0, "output_length": 7}\n{"timestamp": 9, "output_length": 90}\n'
    )
    assert bounds_of(tmp_path, trace="t", warmup="0").output_tokens == 180


def test_targets_take_turns_stage_by_stage_and_the_hash_tells_loads_apart(tmp_path):
    others = (TARGET, Target(id="n", model="n", model_id="n", display_name="N"))
    load = find_load(configured(tmp_path, concurrency="1,2"))
    assert load is not None
    plan = build_load_plan(others, (CASE.info,), load, seed=1)
    numbers = [block.stage.number for block in plan if block.stage]
    assert numbers == [1, 1, 2, 2]
    assert {block.target_id for block in plan[:2]} == {"m", "n"}
    assert planned_in(plan) == 2 * (20 + 1) + 2 * (20 + 2)
    told = {
        plan_hash(build_load_plan(others, (CASE.info,), each, seed=1), (CASE.info,), others)
        for each in (load, load[:1] if not isinstance(load, Sweep) else load)
    }
    assert len(told) == 2


def test_a_simulator_is_told_the_first_answers_of_each_stage(tmp_path):
    load = find_load(configured(tmp_path, sweep="1..4"))
    assert load is not None
    (block,) = build_load_plan((TARGET,), (CASE.info,), load, seed=1)
    told = list(first_staged(block, CASE.info, seed=1))
    assert len({trial.id for trial in told}) == len(told)
    assert {trial.stage for trial in told} == set(range(1, 17))
    assert planned_in([block]) is None
