"""Where actors stand, and what is told when that is wrong."""

from bench.cluster.places import Node, misplaced, occupied, too_small, wrong_version
from bench.cluster.words import Place


def place(number: int, node: str, pid: int) -> Place:
    return Place(number=number, pid=pid, host="h", node=node, boot_id=None)


def test_actors_on_the_nodes_that_were_promised_are_right():
    assert misplaced({1: "a", 2: "b"}, [place(1, "a", 7), place(2, "b", 7 + 1)]) is None


def test_an_actor_on_another_node_is_named():
    found = misplaced({1: "a", 2: "b"}, [place(1, "a", 7), place(2, "a", 8)])
    assert found is not None
    assert found.message == "load processes 2 do not run on the node that Ray promised"


def test_an_actor_that_did_not_answer_is_named():
    found = misplaced({1: "a", 2: "b"}, [place(1, "a", 7)])
    assert found is not None
    assert "processes 2 " in found.message


def test_two_actors_in_one_process_are_refused():
    found = misplaced({1: "a", 2: "a"}, [place(1, "a", 7), place(2, "a", 7)])
    assert found is not None
    assert found.message == "two load processes share one process of the cluster (PID 7)"


def test_a_cluster_that_is_too_small_says_how_many_fit():
    nodes = [
        Node(id="0123456789", host="one", processors=2),
        Node(id="b", host="two", processors=1),
    ]
    found = too_small(nodes, count=5, processors=1.0)
    assert found is not None
    assert found.message == (
        "5 load processes of 1 CPU each find no room: "
        "the cluster has 3 CPU (one (01234567) 2, two (b) 1)"
    )
    assert found.hint == "at most `--workers 3`, or add nodes"


def test_a_load_process_needs_its_processors_on_one_node():
    halves = [Node(id=str(number), host="h", processors=0.5) for number in range(4)]
    assert too_small(halves, count=1, processors=1.0) is not None
    assert too_small(halves, count=4, processors=0.5) is None
    assert too_small([Node(id="a", host="h", processors=0.7)], count=7, processors=0.1) is None


def test_a_cluster_without_nodes_is_told_so():
    found = too_small([], count=2, processors=1.0)
    assert found is not None
    assert "no node" in found.message
    assert found.hint == "add nodes to the cluster"


def test_room_that_others_hold_is_told_apart_from_none():
    found = occupied(count=2, processors=0.5)
    assert found.message == "no room for 2 load processes of 0.5 CPU each: others hold it"


def test_another_release_on_a_node_is_refused_by_name():
    found = wrong_version("gpu-3", theirs="0.1.0", ours="0.2.0")
    assert found.message == "`gpu-3` has gateway-bench 0.1.0, this machine has 0.2.0"
    assert found.exit_code == 2
