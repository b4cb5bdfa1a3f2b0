"""Text that tries to be more than text, for every place where a model, server or user speaks."""

import msgspec

from bench.document import build_document
from bench.model.case import CaseInfo
from bench.model.document import Document
from bench.model.run_config import OptionOrigin
from bench.model.surroundings import Gateway, Incident
from bench.model.target import Target, TargetMetadata
from bench.model.trial import ToolCall
from tests.sample_documents import (
    case_info,
    failure,
    footer,
    ledger,
    response,
    timing,
    trial,
    verdict,
)

PIECES = {
    "script": "<script>document.title='owned'</script>",
    "image": "<img src=x onerror=\"document.title='owned'\">",
    "closing": "</pre></td></table></style></title>--><h1 id='owned'>owned</h1>",
    "style": "<style>body{display:none}</style><link rel=stylesheet href=//evil.example/a.css>",
    "quote": "\"'><b onclick=owned()>",
    "template": "{{ 7 * 7 }} {% raw %} ${7*7}",
    "link": "[click](javascript:owned()) [ref]: http://evil.example",
    "picture": "![pixel](https://evil.example/p.png)",
    "table": "| a | b |\n| --- | --- |\n| c | d |",
    "heading": "# owned\n- item\n> quote\n---\n",
    "code": "`` ` ``` ```` ~~~",
    "address": "https://evil.example www.evil.example someone@evil.example @someone",
    "formula": '=HYPERLINK("http://evil.example","x")',
    "command": "@SUM(1+1)*cmd|' /C calc'!A0",
    "escape": "\x1b[2J\x1b[31mred\x1b]0;owned\x07\x9b1;1H",
    "bidi": "\u202egnp.exe\u2066x\u2069\u200f",
    "hidden": "a\u200bb\ufeff\u2028\u3164\U000e0041\ud800",
    "null": "\x00\x08\x7f\r\n\t",
}
EVERYTHING = "\n".join(PIECES.values())


def hostile_case() -> CaseInfo:
    """Return a case whose every word is hostile."""
    return case_info(
        PIECES["formula"],
        kind="performance",
        name=EVERYTHING,
        category=EVERYTHING,
        dimension=PIECES["table"],
        difficulty="easy",
        runs=4,
    )


def hostile_document() -> Document:
    """Return a run in which targets, models, servers and the gateway are all hostile."""
    targets = tuple(
        Target(
            id=f"{piece}#{name}",
            model=piece,
            model_id=piece,
            display_name=EVERYTHING,
            metadata=TargetMetadata(provider=piece, region=EVERYTHING),
        )
        for name, piece in PIECES.items()
    )
    case = hostile_case()
    trials = []
    for target in targets:
        answer = response(
            timing(210, 800),
            content=EVERYTHING,
            reasoning=EVERYTHING,
            finish_reason=EVERYTHING,
            response_model=EVERYTHING,
            request_id=EVERYTHING,
            served_provider=PIECES["formula"],
            served_model=PIECES["command"],
            tool_calls=(ToolCall(id=EVERYTHING, name=EVERYTHING, arguments=EVERYTHING),),
        )
        wrong = verdict(False, EVERYTHING, detail=EVERYTHING)
        trials += [
            trial(target, case, 1),
            trial(target, case, 2, response=answer, evaluation=wrong),
            trial(target, case, 3, response=failure(EVERYTHING, message=EVERYTHING)),
        ]
    run = ledger(
        tuple(trials),
        Gateway(build={EVERYTHING: EVERYTHING}, identity={"argv": [EVERYTHING]}),
        Incident(incident_class=PIECES["link"], at=EVERYTHING, summary=EVERYTHING),
        footer(reason="gateway"),
        targets=targets,
        cases=(case,),
        options={EVERYTHING: OptionOrigin(value=EVERYTHING, origin=EVERYTHING)},
    )
    document = build_document(run)
    config = msgspec.structs.replace(
        document.config, model_ids=(EVERYTHING,), url=EVERYTHING, profile=EVERYTHING
    )
    return msgspec.structs.replace(document, config=config, started_at=EVERYTHING)
