"""Brings records to version 3."""

import re
from copy import deepcopy
from datetime import date

_BORN = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
_OWN = {
    1: {"version", "id", "name", "email", "born"},
    2: {"version", "id", "first", "last", "emails", "born"},
}


class _Rejected(Exception):
    """A record that can't be migrated; holds the reason."""


def migrate(records):
    """Return the migrated records and the rejected ones, see RULES.md."""
    done, rejected = {}, []
    for index, record in enumerate(records):
        try:
            migrated = _migrated(record)
        except _Rejected as reason:
            rejected.append([index, str(reason)])
        else:
            done[migrated["id"]] = migrated
    return {"records": list(done.values()), "rejected": rejected}


def _migrated(record):
    version = record.get("version", 1)
    if type(version) is not int or version not in (1, 2, 3):
        raise _Rejected("version")
    record = deepcopy(record)
    if version == 3:
        return record
    return {
        "version": 3,
        "id": _id(record.get("id")),
        "name": _name(record, version),
        "emails": _emails(record, version),
        "born": _born(record.get("born")),
        "extra": {key: value for key, value in record.items() if key not in _OWN[version]},
    }


def _id(number):
    if type(number) is not int or number < 0:
        raise _Rejected("id")
    return f"C-{number:06}"


def _words(text):
    return [word for word in (text or "").split(" ") if word]


def _name(record, version):
    if version == 1:
        *first, last = _words(record.get("name")) or [""]
    else:
        first, last = _words(record.get("first")), " ".join(_words(record.get("last")))
    if not last:
        raise _Rejected("name")
    return {"first": " ".join(first), "last": last}


def _emails(record, version):
    text = record.get("email") if version == 1 else record.get("emails")
    listed = [text or ""] if version == 1 else (text or "").split(",")
    emails = [email.strip(" ").lower() for email in listed]
    return list(dict.fromkeys(email for email in emails if email))


def _born(text):
    if text is None or text == "":
        return None
    found = _BORN.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise _Rejected("born")
    day, month, year = map(int, found.groups())
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        raise _Rejected("born") from None
