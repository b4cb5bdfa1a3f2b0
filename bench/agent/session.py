"""One model's work on one task: the conversation, the files, and each call as it is carried out."""

from collections.abc import Iterable, Sequence

import msgspec

from bench.agent.task import Task
from bench.agent.tools import (
    INSTRUCTIONS,
    MAX_CALLS,
    Misunderstood,
    Order,
    echo_of,
    understand,
    unique_ids,
)
from bench.agent.workplace import RunTests, TestRun
from bench.agent.workspace import Told, Workspace
from bench.model.agent import ToolTrace
from bench.model.case import Message
from bench.model.trial import Response, ToolCall
from bench.model.turn import TurnTrace
from bench.ports import Clock

MAX_RESULTS = 32_000
"""Characters of all results of one turn together."""
_LEAST_RESULT = 400
"""Characters that every result may have, however much the ones before it took."""
_UTF8_MOST, _CUT_NOTE = 4, 80
"""Bytes of a character; characters that say of a result how much was left out."""
NS_PER_MS = 1_000_000


def opening(prompt: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages that an agentic trial begins with."""
    return (Message(role="system", content=INSTRUCTIONS), *prompt)


def most_result_bytes(most_calls: int) -> int:
    """Return the most bytes that the results of one turn have, in UTF-8.

    Args:
        most_calls: Calls of one answer, those that are not carried out included.
    """
    refused = max(0, most_calls - MAX_CALLS) * len(_too_many().told)
    return _UTF8_MOST * (MAX_RESULTS + MAX_CALLS * (_LEAST_RESULT + _CUT_NOTE) + refused)


class Session:
    """Takes the model's answers one after another.

    Attributes:
        messages: The conversation so far, as it is sent.
        workspace: The files as they are now.
        is_verified: The tests passed and nothing was changed since.
    """

    def __init__(
        self, task: Task, prompt: Iterable[Message], *, run_tests: RunTests, clock: Clock
    ) -> None:
        self.messages: tuple[Message, ...] = opening(prompt)
        self.workspace = Workspace(task.files, protected=task.protected)
        self._run_tests = run_tests
        self._clock = clock
        self._ids: set[str] = set()
        self._seen: set[tuple[str, bytes, int]] = set()
        self._verified_version: int | None = None

    @property
    def is_verified(self) -> bool:
        """Whether the tests passed on the files as they are."""
        return self._verified_version == self.workspace.version

    async def carry_out(self, response: Response, *, turn: int) -> tuple[ToolTrace, ...]:
        """Carry out the calls of an answer in order and put their results into the conversation."""
        calls = response.tool_calls
        ids = unique_ids(calls, turn=turn, taken=self._ids)
        is_cut = response.finish_reason == "length"
        traces = []
        for number, (call, call_id) in enumerate(zip(calls, ids, strict=True)):
            began_ns = self._clock.now_ns()
            order = _too_many() if number >= MAX_CALLS else understand(call, is_cut=is_cut)
            trace = await self._carried_out(order, call, call_id)
            took_ms = (self._clock.now_ns() - began_ns) / NS_PER_MS
            traces.append(msgspec.structs.replace(trace, duration_ms=took_ms))
        shortened = _shortened(traces)
        self._append(response, shortened)
        return shortened

    def take_up(self, turn: TurnTrace) -> None:
        """Take a recorded turn: its writes are made again, what was read or tested is as it was."""
        self._ids.update(trace.id for trace in turn.calls)
        for trace in turn.calls[:MAX_CALLS]:
            order = understand(_call_of(trace), is_cut=False)
            if isinstance(order, Misunderstood):
                continue
            if order.tool == "write_file":
                self._applied(order)
            elif trace.tests_passed:
                self._verified_version = self.workspace.version
            self._seen.add(order.key(self.workspace.version))
        self._append(turn.response, turn.calls)

    async def _carried_out(
        self, order: Order | Misunderstood, call: ToolCall, call_id: str
    ) -> ToolTrace:
        if isinstance(order, Misunderstood):
            told = Told(ok=False, detail=order.detail, text=order.told, invalid=True)
            return _trace(call, call_id, told)
        tests_passed: bool | None = None
        if order.tool == "run_tests":
            ran = await self._run_tests(self.workspace.files)
            tests_passed = ran.passed
            told = _told_of(ran)
            if ran.passed:
                self._verified_version = self.workspace.version
        else:
            told = self._applied(order)
        key = order.key(self.workspace.version)
        is_repeated = key in self._seen
        self._seen.add(key)
        return _trace(call, call_id, told, is_repeated=is_repeated, tests_passed=tests_passed)

    def _applied(self, order: Order) -> Told:
        given, files = order.arguments, self.workspace
        match order.tool:
            case "list_files":
                return files.list_files(given.get("folder"))
            case "read_file":
                return files.read_file(given["path"], given.get("start_line") or 1)
            case "search":
                return files.search(given["text"], given.get("folder"))
            case "write_file":
                return files.write_file(given["path"], given["content"])
            case "run_tests":
                raise AssertionError("tests are not run on the workspace alone")

    def _append(self, response: Response, traces: Sequence[ToolTrace]) -> None:
        calls = []
        for trace in traces:
            name, arguments = echo_of(trace.name, trace.arguments)
            function = {"name": name, "arguments": arguments}
            calls.append({"id": trace.id, "type": "function", "function": function})
        answer = Message(
            role="assistant",
            # Beside tool calls an empty text is refused by some providers, null by none.
            content=response.content or None,
            tool_calls=tuple(calls),
            opaque=response.opaque,
        )
        results = [Message(role="tool", content=t.result, tool_call_id=t.id) for t in traces]
        self.messages = (*self.messages, answer, *results)


def _call_of(trace: ToolTrace) -> ToolCall:
    return ToolCall(id=trace.id, name=trace.name, arguments=trace.arguments)


def _too_many() -> Misunderstood:
    return Misunderstood(
        detail="one call too many",
        told=f"Not done: at most {MAX_CALLS} calls of one answer are carried out. Send it again.",
    )


def _told_of(ran: TestRun) -> Told:
    detail = {True: "the tests passed", False: "the tests failed", None: "could not be run"}
    text = ran.output.strip() or "[the tests printed nothing]"
    return Told(ok=ran.passed is not None, detail=detail[ran.passed], text=text)


def _trace(
    call: ToolCall,
    call_id: str,
    told: Told,
    *,
    is_repeated: bool = False,
    tests_passed: bool | None = None,
) -> ToolTrace:
    return ToolTrace(
        id=call_id,
        name=call.name,
        arguments=call.arguments,
        ok=told.ok,
        invalid=told.invalid,
        repeated=is_repeated,
        tests_passed=tests_passed,
        detail=told.detail,
        result=told.text,
        duration_ms=0.0,
    )


def _shortened(traces: Sequence[ToolTrace]) -> tuple[ToolTrace, ...]:
    """Return the traces with results that fit into one turn together."""
    left, kept = MAX_RESULTS, []
    for trace in traces:
        room = max(left, _LEAST_RESULT)
        result = trace.result
        if len(result) > room:
            result = f"{result[:room]}\n[{len(result) - room} characters left out: ask for less]"
        left -= len(result)
        kept.append(msgspec.structs.replace(trace, result=result))
    return tuple(kept)
