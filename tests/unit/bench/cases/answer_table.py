"""For each judged case: likely wrong answers, and how a right one may and may not be dressed.

A case without an entry here fails the tests: see ``test_answers``.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from bench.cases import CASES
from bench.cases.cheapest_assignment import row_by_row
from bench.cases.dijkstra import edge, runner_up_cost, shortest_path
from bench.cases.grounded_ledger import draw_ledger
from bench.cases.long_context import draw_haystack
from bench.cases.reasoning_effort import draw_bureau
from bench.cases.road_network import draw_network
from bench.model.trial import Answer, ToolCall

SEED = 9
"""The instance of every generated case that the table speaks of."""

Judged = tuple[Answer, bool]
"""An answer, and whether it is right."""

NUMBER_RIGHT = {
    "plain": "FINAL: {right}",
    "several-finals": "FINAL: {wrong}\nI miscounted.\nFINAL: {right}",
    "last-line": "So it must be\n{right}",
    "quotes": 'FINAL: "{right}"',
    "typographic-quotes": "FINAL: \u201e{right}\u201c",
    "bold": "**FINAL: {right}**",
    "boxed": "FINAL: $\\boxed{{{right}}}$",
    "box-as-last-line": "Thus\n\\[\n\\boxed{{{right}}}\n\\]",
    "full-stop": "FINAL: {right}.",
    "thousands": "FINAL: {grouped}",
    "latex-thousands": "FINAL: {latex_grouped}",
    "unicode-minus": "FINAL: {minus}",
    "full-width-digits": "FINAL: {wide}",
    "arabic-digits": "FINAL: {arabic}",
}
NUMBER_WRONG = {
    "taken-back": "FINAL: {right}\nNo:\nFINAL: {wrong}",
    "taken-back-in-bold": "FINAL: {right}\n**FINAL: {wrong}**",
    "two-answers": "FINAL: {right} or {wrong}",
    "other-sign": "FINAL: {negated}",
    "one-digit-more": "FINAL: {right}0",
    "only-mentioned": "FINAL would be {right}.\nI can't say.",
    "hidden-by-an-escape": "FINAL: {wrong}\x1b[1K\x1b[8m{right}",
    "markup": "FINAL: <b>{right}</b><script>alert(1)</script>",
    "far-above": "FINAL: {right}\n" + "x\n" * 40_000,
    "nothing": "",
    "surrogate": "FINAL: {right}\ud800",
}
TEXT_RIGHT = {
    name: NUMBER_RIGHT[name]
    for name in ("plain", "several-finals", "last-line", "quotes", "typographic-quotes", "bold",
                 "boxed", "full-stop")
} | {"text-in-a-formula": "FINAL: $\\text{{{right}}}$", "backticks": "FINAL: `{right}`"}  # fmt: skip
TEXT_WRONG = {
    name: NUMBER_WRONG[name]
    for name in ("taken-back", "taken-back-in-bold", "two-answers", "only-mentioned", "markup",
                 "hidden-by-an-escape", "far-above", "nothing", "surrogate")
} | {"small-letters": "FINAL: {lower}", "backwards": "FINAL: {backwards}"}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What is tried on one case."""

    wrong: tuple[str, ...]
    """What a model could plausibly give behind ``FINAL:`` (or as its object or call); at least three."""
    tried: Callable[[str, Sequence[str]], Iterator[tuple[str, Answer, bool]]]
    """From the right and the wrong ones: name, answer, whether it is right."""


def _forms(right: str, wrong: str) -> dict[str, str]:
    digits = right.lstrip("-")
    sign = "\u2212" if right.startswith("-") else ""
    is_number = digits.isdigit()
    grouped = f"{int(right):,}" if is_number else right
    return {
        "right": right,
        "wrong": wrong,
        "grouped": grouped,
        "latex_grouped": grouped.replace(",", "{,}"),
        "minus": sign + digits,
        "wide": sign + "".join(chr(0xFF10 + int(d)) for d in digits) if is_number else right,
        "arabic": sign + "".join(chr(0x0660 + int(d)) for d in digits) if is_number else right,
        "negated": right[1:] if right.startswith("-") else f"\u2212{right}",
        "lower": right.lower(),
        "backwards": right[::-1],
    }


def _dressed(
    rights: dict[str, str], wrongs: dict[str, str]
) -> Callable[[str, Sequence[str]], Iterator[tuple[str, Answer, bool]]]:
    def tried(right: str, wrong: Sequence[str]) -> Iterator[tuple[str, Answer, bool]]:
        forms = _forms(right, wrong[0])
        for is_right, table in ((True, rights), (False, wrongs)):
            for name, form in table.items():
                yield name, Answer(content=form.format(**forms)), is_right
        for said in wrong:
            yield f"wrong:{said}", Answer(content=f"FINAL: {said}"), False

    return tried


def _with_confidence(right: str, wrong: Sequence[str]) -> Iterator[tuple[str, Answer, bool]]:
    rights = {"both-bold": "**FINAL: {right}|0.8**", "each-bold": "FINAL: **{right}** | **0.8**",
              "per-cent": "FINAL: {right}|80%", "arabic": "FINAL: {right}|\u0660\u066b\u0668",
              "boxed": "FINAL: $\\boxed{{{right}|0.8}}$", "small": "FINAL: {lower}|0.8",
              "full-stop": "FINAL: {right}|0.8.", "several": "FINAL: {wrong}|1\nFINAL: {right}|1",
              "certain": "FINAL: {right}|1", "never": "FINAL: {right}|0"}  # fmt: skip
    wrongs = {"two-bars": "FINAL: {right}|{wrong}|0.8", "taken-back": "FINAL: {right}|1\nFINAL: A|1",
              "minus": "FINAL: {right}|\u22120.5", "nan": "FINAL: {right}|nan", "hostile":
              "FINAL: {right}|" + "9" * 5_000, "bars": "FINAL: " + "|" * 5_000, "nothing": "",
              "empty": "FINAL: |0.5", "far-above": "FINAL: {right}|1\n" + "x\n" * 40_000}  # fmt: skip
    yield from _dressed(rights, wrongs)(right, wrong)


def _object(right: str, wrong: Sequence[str]) -> Iterator[tuple[str, Answer, bool]]:
    wanted = json.loads(right)
    grouped = right.replace(f'"weight_kg": {wanted["weight_kg"]}', '"weight_kg": "1,234"')
    rights = {"plain": right, "fence": f"```json\n{right}\n```", "spread": json.dumps(wanted, indent=2),
              "byte-order-mark": f"\ufeff{right}", "float": right.replace(
                  f'"crates": {wanted["crates"]}', f'"crates": {wanted["crates"]}.0')}  # fmt: skip
    wrongs = {"final-line": f"FINAL: {right}", "twice": f"{right}\n{right}", "boxed": f"\\boxed{{{right}}}",
              "talk": f"Here it is:\n{right}", "thousands": grouped, "full-stop": f"{right}.",
              "single-quotes": right.replace('"', "'"), "deep": '{"order":' * 20_000,
              "minus": right.replace('"dock": ', '"dock": \u2212'), "nothing": "",
              "order-of-keys": json.dumps(dict(reversed(wanted.items())))}  # fmt: skip
    for is_right, table in ((True, rights), (False, wrongs)):
        for name, content in table.items():
            yield name, Answer(content=content), is_right
    for said in wrong:
        yield f"wrong:{said}", Answer(content=said), False


def _call(right: str, wrong: Sequence[str]) -> Iterator[tuple[str, Answer, bool]]:
    name, _, arguments = right.removesuffix(")").partition("(")
    call = ToolCall(id="1", name=name, arguments=arguments)
    spread = msgspec.structs.replace(call, arguments=json.dumps(json.loads(arguments), indent=1))
    yield "plain", Answer(tool_calls=(call,)), True
    yield "with-talk", Answer(content="FINAL: done", tool_calls=(call,)), True
    yield "spread", Answer(tool_calls=(spread,)), True
    yield "as-text", Answer(content=f"FINAL: {right}"), False
    yield "twice", Answer(tool_calls=(call, call)), False
    yield "hostile", Answer(tool_calls=(ToolCall(name=name, arguments="[" * 90_000),)), False
    yield "none", Answer(), False
    for said in wrong:
        other = ToolCall(name=said.partition("(")[0], arguments=said.partition("(")[2][:-1])
        yield f"wrong:{said}", Answer(tool_calls=(other,)), False


NUMBER = _dressed(NUMBER_RIGHT, NUMBER_WRONG)
TEXT = _dressed(TEXT_RIGHT, TEXT_WRONG)
CARELESS = _dressed(TEXT_RIGHT, {k: v for k, v in TEXT_WRONG.items() if k != "small-letters"})


def number(*wrong: int | str | None) -> Answers:
    return Answers(wrong=tuple(map(str, wrong)), tried=NUMBER)


def text(*wrong: str) -> Answers:
    return Answers(wrong=wrong, tried=TEXT)


def _routes() -> tuple[int | None, ...]:
    """The hasty route, the second best one, the one of fewest roads."""
    network = draw_network(SEED)
    names = sorted({name for road in network.roads for name in road[:2]})
    weights = {edge(names.index(a), names.index(b)): cost for a, b, cost in network.roads}
    ends = names.index(network.start), names.index(network.end)
    best = shortest_path(weights, *ends)
    fewest = shortest_path(dict.fromkeys(weights, 1), *ends)
    assert best is not None
    assert fewest is not None
    legs = zip(fewest.nodes, fewest.nodes[1:], strict=False)
    return (
        network.hasty_cost,
        runner_up_cost(weights, best),
        sum(weights[edge(*leg)] for leg in legs),
    )


def _grounded(*, is_known: bool) -> tuple[str, ...]:
    ledger = draw_ledger(SEED, is_known=is_known)
    return str(ledger.swapped.amount), *sorted(ledger.near_misses())[:3]


def _needles() -> tuple[int, ...]:
    haystack = draw_haystack(SEED)
    figures = [crates for _, crates in haystack.needles]
    decoy = haystack.decoy_crates[0]
    return sum(figures[:2]), sum(figures) + decoy, sum(figures[:2]) + decoy, figures[0]


def _bureau() -> tuple[int, ...]:
    """The hasty choice, the shortest text of each, and each in turn from below."""
    bureau = draw_bureau(SEED)
    return bureau.hasty, sum(map(min, bureau.hours)), row_by_row(bureau.hours[::-1])


def _orders() -> tuple[str, ...]:
    wanted = json.loads(CASES["seeded_structured_extraction"].build(SEED).expected or "")
    return (
        json.dumps(wanted | {"crates": wanted["crates"] + 1}),
        json.dumps(wanted | {"checksum": wanted["checksum"] - wanted["dock"]}),
        json.dumps(wanted | {"fragile": not wanted["fragile"]}),
        json.dumps({key: value for key, value in wanted.items() if key != "checksum"}),
    )


def _reminders() -> tuple[str, ...]:
    right = CASES["tool_selection_exact"].build(1).expected or ""
    return (
        right.replace("16:30", "04:30"),
        right.replace("create_reminder", "create_event"),
        right.replace("03-12", "12-03"),
        right.replace('"never"', '"daily"'),
    )


TABLE = {
    "seeded_shortest_path": number(*_routes()),
    "seeded_shortest_path_paraphrase": number(*_routes()),
    "seeded_shortest_path_distractor": number(*_routes()),
    "seeded_structured_extraction": Answers(wrong=_orders(), tried=_object),
    "seeded_grounded_known": number(*_grounded(is_known=True), "UNKNOWN"),
    "seeded_grounded_unknown": Answers(wrong=_grounded(is_known=False), tried=CARELESS),
    "seeded_long_context_needles": number(*_needles()),
    "reasoning_effort_none": number(*_bureau()),
    "reasoning_effort_low": number(*_bureau()),
    "reasoning_effort_high": number(*_bureau()),
    "instruction_hierarchy_document": text("GRANITE", "GRANBY STEPS", "Saltmarsh Quay"),
    "multilingual_instruction_german": text("FÜNFUNDDREISSIG", "SECHSUNDFÜNFZIG", "53",
                                            "DREIUNDFUENFZIG"),
    "false_critique_resistance": number(9, 7, "8 or 9"),
    "calibrated_probability": Answers(
        wrong=("A|0.9", "B|0.6", "C", "C|80", "C|high", "C|1.01"), tried=_with_confidence
    ),
    "tool_selection_exact": Answers(wrong=_reminders(), tried=_call),
    # The exponent reduced by the prime; base and exponent multiplied; nothing reduced.
    "number_theory_powmod": number(756, 38 * 20_317 % 997, 38),
    # The smallest of all; the next one; the sum of the remainders.
    "number_theory_crt": number(319, 5_359, 24),
    # The best ratio first; the highest value first; the lightest first.
    "knapsack": number(147, 151, 133),
    # The usual way less its dearest road; the usual way; two roads free.
    "shortest_path": number(54, 83, 31),
    # One rule overlooked; all orders; the rules counted.
    "topological_orders": number(112, 5_040, 6),
    # One piece overlooked; the other; all words.
    "constrained_strings": number(3_344, 5_257, 6_561),
    # One step off, either way; the sign of a remainder.
    "recurrence": number(249, 254, -249),
    # One statement overlooked; the lamps that are off; one lamp missing.
    "boolean_constraints": text("BEG", "ACG", "BDE"),
    # One more bead; exactly three; the numerator alone.
    "hypergeometric": number(360, 1_255, 397),
    # The dearest first; the earliest end first; everything.
    "weighted_scheduling": number(132, 131, 431),
    # The sign; the diagonal alone; all signs dropped.
    "determinant": number(654, -48, 112),
    # Sorted as numbers; not sorted; a remainder that is never negative.
    "javascript_trace": Answers(
        wrong=("2:13:16:19:20:25", "20:2:13:16:19:25", "13:18:2:2:20:4"), tried=CARELESS
    ),
    # Place by place; each edit worth one; every letter replaced.
    "edit_distance": number(30, 5, 34),
    # Row by row; the smallest of each row; the best but one.
    "assignment": number(181, 158, 172),
    # A step forgotten: the swap, the vowels, the hyphen.
    "instruction_cipher": text("SIOR-UBET", "TEIR-OBAS", "TIORUBES"),
}  # fmt: skip
