"""What a signal does at each moment."""

import os
import signal

import pytest

from orchestrator.interrupts import Interrupted, Interrupts


def test_outside_of_a_step_that_may_be_abandoned_a_signal_is_only_noted():
    interrupts = Interrupts()
    with interrupts.installed():
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.received == [signal.SIGINT]
        assert interrupts.exit_code == 130


def test_inside_of_one_it_abandons_the_step():
    interrupts = Interrupts()
    with interrupts.installed():
        with pytest.raises(Interrupted) as end, interrupts.abandoning():
            os.kill(os.getpid(), signal.SIGTERM)
        assert end.value.exit_code == 143
        os.kill(os.getpid(), signal.SIGINT)
    assert interrupts.exit_code == 143


def test_it_is_forwarded_each_time():
    forwarded: list[int] = []
    interrupts = Interrupts()
    with interrupts.installed():
        interrupts.forward = forwarded.append
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
    assert forwarded == [signal.SIGINT, signal.SIGINT]


def test_a_signal_that_is_ignored_stays_ignored_and_others_are_put_back():
    before = signal.getsignal(signal.SIGINT)
    was = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        interrupts = Interrupts()
        with interrupts.installed():
            os.kill(os.getpid(), signal.SIGHUP)
        assert interrupts.exit_code is None
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) is before
    finally:
        signal.signal(signal.SIGHUP, was)
