"""What a cluster of our own sees of this process."""

from pathlib import Path

from bench.cluster.surroundings import private_cluster, without


def test_a_variable_that_holds_a_secret_is_left_out_whatever_it_is_called():
    environment = {"PATH": "/bin", "KEY": "sk-1", "AUTHORIZATION": "Bearer sk-1", "EMPTY": ""}
    assert without(environment, ["sk-1"]) == {"PATH": "/bin", "EMPTY": ""}


def test_an_empty_secret_hides_nothing():
    assert without({"PATH": "/bin"}, [""]) == {"PATH": "/bin"}


def test_a_private_cluster_reports_to_nobody_and_writes_no_token_into_the_home_folder():
    found = private_cluster(Path("/short"), token="word")  # noqa: S106 - of no cluster
    assert found == {
        "RAY_TMPDIR": "/short",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": "word",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
