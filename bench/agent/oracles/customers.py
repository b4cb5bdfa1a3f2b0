"""Checks of `agentic_migration`: records are made from what they have to become."""

import calendar
from copy import deepcopy

from bench.agent.oracles.making import calls, several
from bench.agent.task import Check, Equals, Expectation, Json
from bench.seeds import SeededStream

_BORN = ("1.2.1990", "01.12.2001", "", None, "29.2.2000", "31.12.1999")
_NOT_BORN = ("29.2.1900", "31.4.2000", "1990-02-01", "0.1.2000", "1.13.2000", "1.1.99", " 1.1.2000")
_NAMES = ("Ann Lee", "  Ann   Maria Lee ", "Lee", "Jan van der Berg", "")
_EMAILS = (None, "A@x.org", "", " a@x.org ", "b@x.org")
_OWN = {
    1: ("version", "id", "name", "email", "born"),
    2: ("version", "id", "first", "last", "emails", "born"),
}


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(20, label="coding task")
    batches: list[Json] = [[_record(draw) for _ in range(draw.between(3, 7))] for _ in range(14)]
    batches += [[], [{}], [_old(born=born) for born in _NOT_BORN], _curated()]
    return (
        *calls("migrate", batches, _migrated),
        *calls("migrate_again", batches[:4], _migrated_again),
        *calls("what_is_left_of_the_input", batches[:5], lambda batch: Equals(value=batch)),
        *calls("independence", batches[:9], lambda batch: Equals(value=batch)),
    )


def _old(**fields: Json) -> Json:
    return {"id": 5, "name": "Ann Lee", "email": "a@x.org", "born": "1.2.1990"} | fields


def _curated() -> list[Json]:
    return [
        _old(id=1),
        _old(id=2, name="First Two"),
        _old(id=1, name="Second One", note=["kept"]),
        _old(id=2, name=" "),
        _old(id=True),
        _old(id=-1),
        _old(id="7"),
        _old(id=1_234_567, name=None),
        _old(id=1_234_567),
        _old(version=0),
        _old(version=4, id=None),
        _old(version="1"),
        _old(id=None, name="", born="never"),
        _old(name="", born="never"),
        {"version": 2, "id": 0, "last": " Lee  Chan ", "emails": " ,B@x.org,b@X.org,,a@x.org,"},
        {"version": 2, "id": 8, "first": None, "last": "Lee", "name": "kept", "extra": {"a": 1}},
        {"version": 1, "id": 9, "name": "Ann Lee", "emails": "kept", "first": None},
        _old(id=11, born=19_900_201),
    ]


def _record(draw: SeededStream) -> Json:
    more: Json
    version = draw.pick((None, 1, 2, 2, 3))
    number, more = (
        draw.between(0, 6),
        draw.pick(({}, {"vip": True}, {"tags": ["a", {"b": None}]})),
    )
    if version == 3:  # noqa: PLR2004 - the version
        name = {"first": "Old", "last": "Hand"}
        born = draw.pick(("1990-02-01", None))
        own = {"id": f"C-{number:06}", "name": name, "emails": ["Z@x.org"], "born": born}
        return {"version": 3, **own, "extra": more}
    born = draw.pick((*_BORN, draw.pick(_NOT_BORN)))
    common = {"id": number, "born": born, **more} | ({"version": version} if version else {})
    if version == 2:  # noqa: PLR2004 - the version
        emails = ",".join(email or "" for email in several(draw, _EMAILS, 4))
        return common | {
            "first": draw.pick(_NAMES),
            "last": draw.pick(_NAMES),
            "emails": emails,
        }
    return common | {"name": draw.pick(_NAMES), "email": draw.pick(_EMAILS)}


def _migrated(batch: Json) -> Expectation:
    return Equals(value=_solve(batch))


def _migrated_again(batch: Json) -> Expectation:
    return Equals(value={"records": _solve(batch)["records"], "rejected": []})


def _solve(batch: Json) -> Json:
    records: list[Json] = []
    rejected: list[Json] = []
    for index, given in enumerate(batch):
        made = _one(deepcopy(given))
        if isinstance(made, str):
            rejected.append([index, made])
            continue
        places = [at for at, record in enumerate(records) if record["id"] == made["id"]]
        if places:
            records[places[0]] = made
        else:
            records.append(made)
    return {"records": records, "rejected": rejected}


def _one(record: Json) -> Json:
    """Return the record in version 3, or the reason against it."""
    version = record.get("version", 1)
    if version not in (1, 2, 3):
        return "version"
    if version == 3:  # noqa: PLR2004 - the version
        return record
    first, last = _name(record, version)
    born = _date(record.get("born"))
    number = record.get("id")
    reasons = {
        "id": not isinstance(number, int) or isinstance(number, bool) or number < 0,
        "name": last == "",
        "born": born is False,
    }
    refused = [reason for reason, applies in reasons.items() if applies]
    if refused:
        return refused[0]
    return {
        "version": 3,
        "id": "C-" + str(number).rjust(6, "0"),
        "name": {"first": first, "last": last},
        "emails": _emails(record.get("email" if version == 1 else "emails"), version),
        "born": born,
        "extra": {key: value for key, value in record.items() if key not in _OWN[version]},
    }


def _name(record: Json, version: int) -> tuple[str, str]:
    if version == 1:
        words = (record.get("name") or "").split()
        return " ".join(words[:-1]), words[-1] if words else ""
    first, last = (" ".join((record.get(key) or "").split()) for key in ("first", "last"))
    return first, last


def _emails(text: str | None, version: int) -> list[str]:
    found: list[str] = []
    for part in [text or ""] if version == 1 else (text or "").split(","):
        email = part.strip().lower()
        if email and email not in found:
            found.append(email)
    return found


def _date(text: Json) -> str | bool | None:
    """Return the date, ``None`` where there is none, False where it is none."""
    if text in (None, ""):
        return None
    parts = text.split(".") if isinstance(text, str) else []
    sizes = [len(part) for part in parts]
    digits = all(character in "0123456789" for part in parts for character in part)
    if not digits or sizes not in ([1, 1, 4], [1, 2, 4], [2, 1, 4], [2, 2, 4]):
        return False
    day, month, year = map(int, parts)
    if not (1 <= month <= 12 and year >= 1):  # noqa: PLR2004 - months
        return False
    if not 1 <= day <= calendar.monthrange(year, month)[1]:
        return False
    return f"{year:04}-{month:02}-{day:02}"
