import durations
from durations import reading


def parse(given):
    return durations.parse_duration(given)


def parse_in_its_module(given):
    return reading.parse_duration(given)


def write(given):
    return durations.format_duration(given)
