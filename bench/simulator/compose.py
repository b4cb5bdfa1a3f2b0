"""What one request is answered: the book's answer or filler, cut to the tokens allowed. Pure."""

from bench.simulator.agents import act, turn_of
from bench.simulator.answers import (
    BookEntry,
    Call,
    Reply,
    draw,
    filler,
    invented_call,
    is_right,
    pieces,
)
from bench.simulator.chat import ChatBody
from bench.simulator.scenario import Scenario
from bench.simulator.timeline import cut_evenly


def compose(
    scenario: Scenario,
    chat: ChatBody,
    entry: BookEntry | None,
    *,
    provider: str,
    usual_tokens: int,
    draws: tuple[int, str],
) -> Reply:
    """Return the answer of ``provider``.

    Args:
        scenario: Its words win over the book: a token count or tool calls ask for made-up ones.
        chat: The request: its limit cuts the answer, its tools are what made-up calls call.
        entry: The book's entry for this prompt.
        provider: Decides, with ``draws``, whether the answer is right.
        usual_tokens: Length of filler where nothing else says one.
        draws: Seed and prompt hash.
    """
    seed, prompt = draws
    start = draw("filler", seed, provider, prompt)
    limit = chat.limit if chat.limit is not None else 10**9
    thinking = min(scenario.reasoning_tokens, limit)
    reasoning = filler(thinking, start=start // 7, unicode=scenario.unicode)
    content, calls = _body(scenario, chat, entry, (usual_tokens, provider, seed, start))
    room = limit - len(reasoning)
    call_tokens = sum(1 + len(cut_evenly(call.text, scenario.tool_pieces)) for call in calls)
    kept = content[:room]
    if len(kept) < len(content) or len(kept) + call_tokens > room:
        return Reply(reasoning=reasoning, content=kept, finish_reason="length")
    return Reply(
        reasoning=reasoning,
        content=kept,
        calls=calls,
        call_tokens=call_tokens,
        finish_reason="tool_calls" if calls else "stop",
    )


def _body(
    scenario: Scenario,
    chat: ChatBody,
    entry: BookEntry | None,
    filling: tuple[int, str, int, int],
) -> tuple[tuple[str, ...], tuple[Call, ...]]:
    """Return content and calls before any limit; ``filling`` is usual length, provider, seed, start."""
    usual_tokens, provider, seed, start = filling
    if scenario.empty:
        return (), ()
    calls: tuple[Call, ...] = ()
    if scenario.tool_calls is not None:
        calls = tuple(invented_call(chat.tools or (), i) for i in range(scenario.tool_calls))
    if scenario.tokens is not None:
        return filler(scenario.tokens, start=start, unicode=scenario.unicode), calls
    if calls:
        return (), calls
    if entry is not None:
        return _from_book(scenario, chat, entry, (provider, seed))
    return filler(usual_tokens, start=start, unicode=scenario.unicode), calls


def _from_book(
    scenario: Scenario, chat: ChatBody, entry: BookEntry, drawn: tuple[str, int]
) -> tuple[tuple[str, ...], tuple[Call, ...]]:
    """Return what the book has for the prompt; ``drawn`` is provider and seed."""
    provider, seed = drawn
    percent = 100.0 if scenario.right_percent is None else scenario.right_percent
    right = is_right(entry, percent=percent, seed=seed, provider=provider)
    if entry.task is not None:
        agent = scenario.agent or ("perfect" if right else "sloppy")
        answer = act(agent, entry.task, turn_of(chat.messages))
    else:
        answer = entry.answer if right or entry.wrong is None else entry.wrong
    return pieces(answer.content), answer.tool_calls
