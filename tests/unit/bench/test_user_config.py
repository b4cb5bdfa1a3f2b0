import pytest

from bench.errors import ConfigFaults, UsageFault
from bench.user_config import load_user_config


def written(folder, text):
    (folder / "config.toml").write_text(text)
    return load_user_config(folder)


def test_without_a_file_nothing_is_limited(tmp_path):
    assert load_user_config(tmp_path).max_cost_per_day is None


@pytest.mark.parametrize(
    ("text", "limit"), [("max-cost-per-day = 5", 5.0), ("max-cost-per-day = '$0.25'", 0.25)]
)
def test_a_limit_per_day_is_in_dollars(tmp_path, text, limit):
    assert written(tmp_path, text).max_cost_per_day == limit


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("max-cost-per-day = 0", "is `0`: US dollars above 0", id="zero"),
        pytest.param("max-cost-per-day = true", "is `True`", id="truth"),
        pytest.param("max-cost-per-day = 'much'", "is `much`", id="words"),
        pytest.param("max-cost-per-dai = 5", "did you mean `max-cost-per-day`", id="typo"),
        pytest.param("colour = 1", "there is max-cost-per-day", id="unknown"),
    ],
)
def test_what_can_t_be_read_is_named(tmp_path, text, said):
    with pytest.raises(ConfigFaults) as caught:
        written(tmp_path, text)
    assert said in caught.value.message
    assert str(tmp_path) in caught.value.message


@pytest.mark.parametrize("text", ["max-cost-per-day", "a = \x00"])
def test_a_file_that_is_no_toml_is_named(tmp_path, text):
    with pytest.raises(UsageFault, match="can't be read"):
        written(tmp_path, text)


def test_a_folder_in_its_place_is_named(tmp_path):
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(UsageFault, match="can't be read"):
        load_user_config(tmp_path)
