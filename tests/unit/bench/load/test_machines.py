"""Where load processes run, as typed."""

import pytest

from bench.load.machines import ray_address, read_cpus


@pytest.mark.parametrize("text", ["auto", "10.0.0.1:6379", "[::1]:6379", " head.example:6379 "])
def test_the_head_of_a_cluster_is_host_and_port(text):
    assert ray_address(text) == text.strip()


@pytest.mark.parametrize("text", ["", "10.0.0.1", "ray://10.0.0.1:10001", "http://h:1", "a b:1"])
def test_another_address_is_refused(text):
    with pytest.raises(ValueError, match="`HOST:PORT`"):
        ray_address(text)


@pytest.mark.parametrize(("text", "cpus"), [("1", 1.0), ("0.5", 0.5), ("0.0001", 0.0001)])
def test_a_load_process_asks_for_a_part_of_a_processor(text, cpus):
    assert read_cpus(text) == cpus


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "nan", "inf", "two", "0.00001"])
def test_more_than_one_processor_is_of_no_use_to_one_loop(text):
    with pytest.raises(ValueError, match="above 0, at most 1"):
        read_cpus(text)
