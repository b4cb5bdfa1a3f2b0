"""Requests of the size that a trace recorded, and conversations that grow. Pure."""

from dataclasses import replace

import msgspec

from bench.model.case import Instance, Message
from bench.model.load import Stage
from bench.model.trial import Response
from bench.seeds import nonce

_WORDS = [
    "harbour",
    "morning",
    "letter",
    "window",
    "garden",
    "engine",
    "river",
    "market",
    "winter",
    "signal",
    "copper",
    "bridge",
    "painter",
    "island",
    "number",
    "station",
    "carpet",
    "lantern",
    "meadow",
    "pocket",
]
"""Common words: most tokenizers have one token for each."""


def sized(instance: Instance, stage: Stage, *, number: int, seed: int) -> Instance:
    """Return the instance with as many words and at most as many tokens as the trace says.

    Args:
        instance: Of the case.
        stage: Its trace, where it has one; else the instance stays as it is.
        number: Of the request, from 1.
        seed: Of the request: its nonce comes first, so that no two share a beginning.
    """
    row = number - 1
    words = stage.input_tokens[row] if row < len(stage.input_tokens) else None
    limit = stage.output_tokens[row] if row < len(stage.output_tokens) else None
    if words is None and limit is None and stage.prompt_bytes is None:
        return instance
    request = instance.request
    if stage.prompt_bytes is not None:
        message = Message(role="user", content=_text_of(stage.prompt_bytes, seed))
        request = msgspec.structs.replace(request, messages=(message,))
    if words is not None:
        filler = " ".join(_WORDS[place % len(_WORDS)] for place in range(max(1, words - 1)))
        message = Message(role="user", content=f"{nonce(seed, label='trace')} {filler}")
        request = msgspec.structs.replace(request, messages=(message,))
    if limit is not None:
        request = msgspec.structs.replace(request, max_tokens=limit)
    # A prompt of another size has another answer: nothing is left to judge.
    is_other = words is not None or stage.prompt_bytes is not None
    judge = None if is_other else instance.evaluate
    return replace(instance, request=request, evaluate=judge)


def _text_of(size: int, seed: int) -> str:
    """Return so many bytes of plain words behind a nonce."""
    text = f"{nonce(seed, label='size')} "
    line = " ".join(_WORDS) + " "
    return (text + line * (size // len(line) + 1))[:size]


def continued(instance: Instance, said: tuple[Message, ...]) -> Instance:
    """Return the instance as the next turn of a conversation in which ``said`` came before."""
    if not said:
        return instance
    own = tuple(message for message in instance.request.messages if message.role == "user")
    messages = (*said, *(own or instance.request.messages))
    request = msgspec.structs.replace(instance.request, messages=messages)
    return replace(instance, request=request)


def answered(response: Response) -> Message:
    """Return an answer as the message that the next turn repeats."""
    return Message(role="assistant", content=response.content or response.reasoning or "-")
