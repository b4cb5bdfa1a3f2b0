"""Runs a plan: sends each trial, judges it, and writes it down before the next one is sent."""

from bench.runner.assignment import Assignment
from bench.runner.control import Control
from bench.runner.engine import RunEnd, Runner
from bench.runner.flights import Ports

__all__ = ["Assignment", "Control", "Ports", "RunEnd", "Runner"]
