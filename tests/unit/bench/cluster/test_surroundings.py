"""What a cluster of our own sees of this process."""

from pathlib import Path
from tempfile import gettempdir

from bench.cluster.surroundings import private_cluster, short_root, without


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


def test_sockets_of_a_cluster_find_room_in_their_path():
    root = short_root()
    assert root == gettempdir() or root == "/tmp"  # noqa: S108 - what is compared with
    assert len(root) <= 20
