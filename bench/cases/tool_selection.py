"""``tool_selection_exact``: five similar tools, one of them right, with the right arguments."""

import json
from functools import partial
from typing import Any

from bench.cases.text_hash import text_hash
from bench.evaluators.tool_call import call_text, judge_tool_call
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message
from bench.model.trial import Answer, ToolCall

RIGHT_TOOL = "create_reminder"
RIGHT_ARGUMENTS: dict[str, Any] = {
    "title": "Renew parking permit",
    "date": "2031-03-12",
    "time": "16:30",
    "repeat": "never",
}

_TASK = """\
Set a reminder with the title "Renew parking permit" for 12 March 2031, half past four in the \
afternoon. It should come up once and not repeat. Don't put anything in my calendar and don't \
change the reminders I already have."""


def _tool(name: str, description: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            },
        },
    }


_TITLE = {"type": "string", "description": "Title, worded as the user gave it"}
_DATE = {"type": "string", "description": "Date as YYYY-MM-DD"}
_TIME = {"type": "string", "description": "Time of day as HH:MM, 24 hours"}
_REPEAT = {"type": "string", "enum": ["never", "daily", "weekly", "monthly"]}

TOOLS = (
    _tool(
        "create_event",
        "Add an appointment to the calendar. Blocks the time for others.",
        title=_TITLE,
        date=_DATE,
        time=_TIME,
        minutes={"type": "integer", "description": "Length of the appointment"},
    ),
    _tool(
        "update_reminder",
        "Change a reminder that already exists.",
        reminder_id={"type": "string", "description": "Id from list_reminders"},
        date=_DATE,
        time=_TIME,
        repeat=_REPEAT,
    ),
    _tool(
        "create_reminder",
        "Create a new reminder. It notifies the user and does not touch the calendar.",
        title=_TITLE,
        date=_DATE,
        time=_TIME,
        repeat=_REPEAT,
    ),
    _tool("list_reminders", "List the reminders of one day.", date=_DATE),
    _tool(
        "send_message",
        "Send a text message to a contact at a set time.",
        contact={"type": "string", "description": "Name of the contact"},
        text={"type": "string", "description": "Text of the message"},
        date=_DATE,
        time=_TIME,
    ),
)


def build(seed: int) -> Instance:  # noqa: ARG001 - a fixed case: every seed asks the same
    """Return the instance, the same for every seed."""
    return Instance(
        request=ChatRequest(
            messages=(Message(role="user", content=_TASK),),
            max_tokens=256,
            temperature=0.0,
            tools=TOOLS,
        ),
        expected=call_text(RIGHT_TOOL, RIGHT_ARGUMENTS),
        evaluate=partial(judge_tool_call, name=RIGHT_TOOL, arguments=RIGHT_ARGUMENTS),
        book=_calling(RIGHT_TOOL, RIGHT_ARGUMENTS),
        book_wrong=_calling(RIGHT_TOOL, RIGHT_ARGUMENTS | {"time": "04:30"}),
    )


def _calling(name: str, arguments: dict[str, Any]) -> Answer:
    call = ToolCall(id="call_1", name=name, arguments=json.dumps(arguments))
    return Answer(tool_calls=(call,), finish_reason="tool_calls")


TOOL_SELECTION = Case(
    info=CaseInfo(
        id="tool_selection_exact",
        name="Tool selection",
        kind="quality",
        category="tool use",
        dimension="tool selection",
        difficulty="easy",
        runs=2,
        text_hash=text_hash(build),
    ),
    build=build,
    description="calls the one right tool of five, once, with exactly the right arguments",
)

CASES = (TOOL_SELECTION,)
