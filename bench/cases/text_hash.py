"""The hash by which two runs know whether they asked the same thing under one case id."""

import hashlib
import json
from collections.abc import Callable

from bench.model.case import Instance

PROBE_SEEDS = (1, 2, 3)


def text_hash(build: Callable[[int], Instance]) -> str:
    """Return the SHA-256 (hex) over everything that is asked and expected at three seeds.

    So it changes with any wording, generator, solver or parameter, without a version number that
    somebody has to remember. Fields that a later version adds to a request leave it unchanged.
    """
    digest = hashlib.sha256()
    for seed in PROBE_SEEDS:
        digest.update(_canonical(build(seed)))
    return digest.hexdigest()


def _canonical(instance: Instance) -> bytes:
    request = instance.request
    asked = {
        "messages": [[message.role, message.content] for message in request.messages],
        "maxTokens": request.max_tokens,
        "temperature": request.temperature,
        "reasoningEffort": request.reasoning_effort,
        "tools": request.tools,
        "toolChoice": request.tool_choice,
        "expected": instance.expected,
    }
    return json.dumps(asked, sort_keys=True).encode()
