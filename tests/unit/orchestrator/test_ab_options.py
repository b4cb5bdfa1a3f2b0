"""What was typed of the two sides."""

import json
from pathlib import Path

import click
import pytest

from orchestrator.cli.ab_options import LETTERS, SideWords, side_words


def typed(letter="b", common=None, **params):
    return side_words(
        letter, {f"{letter}_{name}": text for name, text in params.items()}, common or {}
    )


def test_what_describes_both_sides_holds_for_each_unless_it_says_otherwise():
    common = {"preset": "litellm", "upstream": "simulated", "entry": None}
    side = typed(common=common, preset="portkey")
    assert (side.flags["preset"], side.flags["upstream"]) == ("portkey", "simulated")


def test_a_folder_of_its_own_goes_before_the_common_one(tmp_path):
    assert typed(dir=str(tmp_path), common={"dir": "/elsewhere"}).home == tmp_path.resolve()
    assert typed(common={"dir": str(tmp_path)}).home == tmp_path.resolve()
    assert typed().is_home_typed is False
    assert typed().home == Path.cwd()


def test_variables_are_part_of_the_description():
    side = typed(env=("CACHE=on", "LEVEL=a=b"))
    assert side.env == {"CACHE": "on", "LEVEL": "a=b"}
    assert side.flags["env"] == side.env


@pytest.mark.parametrize("text", ["CACHE", "=on", "1X=2", "A B=1"])
def test_what_is_no_variable_is_refused(text):
    with pytest.raises(click.UsageError, match="is no `NAME=VALUE`"):
        typed(env=(text,))


@pytest.mark.parametrize("name", ["API_KEY", "db_password", "TOKEN"])
def test_a_secret_is_sent_to_a_file(name):
    with pytest.raises(click.UsageError, match="--b-env-file"):
        typed(env=(f"{name}=hunter2",))


def test_a_side_is_recorded_with_the_commit_it_meant_and_reads_back():
    side = typed(ref="main", config="x.toml", env=("A=1",), common={"upstream": None})
    told = json.loads(json.dumps(side.recorded("ab12")))
    assert told["ref"] == "ab12"
    assert told["flags"] == {"env": {"A": "1"}}
    again = SideWords(
        letter=LETTERS[1],
        home=Path(told["home"]),
        is_home_typed=told["isHomeTyped"],
        ref=told["ref"],
        config=Path(told["config"]),
        env=told["env"],
        flags=told["flags"],
    )
    assert again.recorded("ab12") == told
