"""Who sends the load of a run that is gone on with."""

import pytest

from bench.cli.senders import check_senders, sent_as_begun
from bench.config import Config, Place, load_config
from bench.errors import UsageFault
from bench.model.run_config import OptionOrigin

CLUSTER = {"engine": "ray", "ray_address": "10.0.0.1:6379", "workers": "32", "ray_cpus": "0.5"}


def load(folder, environ=None, **typed) -> Config:
    return load_config(typed, Place(folder=folder, environ=environ or {}))


def sending(config: Config) -> tuple[object, ...]:
    settings = config.settings
    return settings.engine, settings.workers, settings.ray_address, settings.ray_cpus


@pytest.fixture
def begun(tmp_path):
    return load(tmp_path, **CLUSTER).origins


def test_a_run_goes_on_from_the_cluster_that_it_was_begun_from_and_says_so(tmp_path, begun):
    config, said = sent_as_begun(load(tmp_path), begun, is_own=True)
    assert sending(config) == ("ray", 32, "10.0.0.1:6379", 0.5)
    assert said == (
        "as the run was begun: `--engine ray --workers 32 --ray-address 10.0.0.1:6379 --ray-cpus 0.5`"
    )


def test_a_run_that_this_process_sent_goes_on_without_a_word(tmp_path):
    config, said = sent_as_begun(load(tmp_path), load(tmp_path).origins, is_own=True)
    assert (sending(config), said) == (("local", 1, None, 1.0), None)
    assert check_senders(config, is_local=True) == 1, "nothing of a cluster was asked for"
    assert sent_as_begun(load(tmp_path), {}, is_own=False)[1] is None, "an older journal"


def test_what_is_typed_wins_and_what_a_variable_says_is_for_new_runs(tmp_path, begun):
    variables = {"BENCHMARK_WORKERS": "3", "BENCHMARK_ENGINE": "local"}
    typed = load(tmp_path, variables, workers="2")
    config, said = sent_as_begun(typed, begun, is_own=True)
    assert sending(config) == ("ray", 2, "10.0.0.1:6379", 0.5)
    assert said is not None
    assert "--workers" not in said


def test_of_another_engine_that_is_typed_nothing_of_the_recorded_one_holds(tmp_path, begun):
    config, said = sent_as_begun(load(tmp_path, engine="local"), begun, is_own=False)
    assert (sending(config), said) == (("local", 1, None, 1.0), None)


def test_a_stranger_s_journal_does_not_say_to_which_cluster_a_key_goes(tmp_path, begun):
    with pytest.raises(UsageFault) as refused:
        sent_as_begun(load(tmp_path), begun, is_own=False)
    assert "was sent from the Ray cluster at `10.0.0.1:6379`" in refused.value.message
    assert "--engine ray --ray-address 10.0.0.1:6379" in str(refused.value.hint)
    typed = load(tmp_path, ray_address="10.0.0.2:6379")
    config, _ = sent_as_begun(typed, begun, is_own=False)
    assert sending(config) == ("ray", 32, "10.0.0.2:6379", 0.5)


def test_a_journal_with_an_impossible_option_is_refused_by_name(tmp_path, begun):
    odd = {**begun, "ray-cpus": OptionOrigin(value="7", origin="flag")}
    with pytest.raises(UsageFault, match="the journal's `ray-cpus` is `7`"):
        sent_as_begun(load(tmp_path), odd, is_own=True)
