"""Figures by name, for the screens in the hall."""

import importlib

FIGURES = {"way": ("taxi.grid", "distance", {"unit": "km"}), "fare": ("taxi.fares", "fare", {})}
LABELS = {"way": "{} km", "fare": "{} ct"}


def show(name, *points):
    """Return the figure `name` of two points, with its unit."""
    module, function, options = FIGURES[name]
    value = getattr(importlib.import_module(module), function)(*points, **options)
    return LABELS[name].format(value)
