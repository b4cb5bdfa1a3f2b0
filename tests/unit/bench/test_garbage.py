"""Collections while requests fly: none of what is loaded, fewer of what is new, and all as before after it."""

import gc

import pytest

from bench.garbage import rarely_collected


def test_what_is_loaded_is_left_alone_and_new_objects_are_looked_through_less_often():
    usual, frozen = gc.get_threshold(), gc.get_freeze_count()
    with rarely_collected():
        assert gc.get_threshold()[0] > 10 * usual[0]
        assert gc.get_freeze_count() > frozen
    assert (gc.get_threshold(), gc.get_freeze_count()) == (usual, 0)


def test_a_failure_leaves_the_collector_as_it_was():
    usual = gc.get_threshold()
    with pytest.raises(RuntimeError), rarely_collected():
        raise RuntimeError
    assert (gc.get_threshold(), gc.get_freeze_count()) == (usual, 0)
