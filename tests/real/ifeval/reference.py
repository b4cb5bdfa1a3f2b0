"""Runs in an environment of its own: the published program's verdicts on pairs from stdin.

In: JSON lines `{"kind", "told", "text"}`. Out: JSON lines `[strict, loose]`, or `{"raised": …}`.
"""

import json
import sys
import tempfile
import types
from pathlib import Path

import punkt
from nltk import data as nltk_data
from nltk.tabdata import TabEncoder

# The package imports the library that fetches its prompts; none are fetched here.
sys.modules["datasets"] = types.ModuleType("datasets")
sys.modules["datasets"].load_dataset = None  # type: ignore[attr-defined]

import langdetect  # noqa: E402
from if_verifiable.common import get_loose_transformations  # noqa: E402
from if_verifiable.ifeval.instructions_registry import INSTRUCTION_DICT  # noqa: E402


def main() -> None:
    """Answer every line of stdin."""
    langdetect.DetectorFactory.seed = 0
    with tempfile.TemporaryDirectory() as folder:
        _write_model(Path(folder))
        nltk_data.path.insert(0, folder)
        for line in sys.stdin:
            sys.stdout.write(json.dumps(_verdicts(**json.loads(line))) + "\n")


def _verdicts(kind: str, told: dict[str, object], text: str) -> object:
    checker = INSTRUCTION_DICT[kind](kind)
    try:
        checker.build_description(**told)
        strict = bool(text.strip() and checker.check_following(text))
        loose = any(
            bool(each.strip() and checker.check_following(each))
            for each in get_loose_transformations(text)
        )
    except Exception as error:  # noqa: BLE001 - what the other program raises is a result here
        return {"raised": f"{type(error).__name__}: {error}"[:200]}
    return [strict, loose]


def _write_model(folder: Path) -> None:
    """Write the English Punkt model where NLTK, whose algorithm then runs, looks for it."""
    place = folder / "tokenizers" / "punkt_tab" / "english"
    place.mkdir(parents=True)
    model, tabs = punkt.load_model("english"), TabEncoder()
    for name, text in {
        "collocations.tab": tabs.tups2tab(set(model.collocations)),
        "sent_starters.txt": tabs.set2txt(set(model.sent_starters)),
        "abbrev_types.txt": tabs.set2txt(set(model.abbrev_types)),
        "ortho_context.tab": tabs.ivdict2tab(dict(model.ortho_context)),
    }.items():
        (place / name).write_text(text, encoding="utf-8")


main()
