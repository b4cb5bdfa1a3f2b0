"""Brings records to version 3."""

import re
from datetime import date


class _Rejected(Exception):
    pass


def migrate(records):
    done, rejected = {}, []
    for index, record in enumerate(records):
        try:
            migrated = _migrated(record)
            done[migrated["id"]] = migrated
        except _Rejected as reason:
            rejected.append([index, str(reason)])
    return {"records": list(done.values()), "rejected": rejected}


def _migrated(record):
    version = record.get("version", 1)
    if type(version) is not int or version not in (1, 2, 3):
        raise _Rejected("version")
    if version == 3:
        return record
    number = record.get("id")
    if type(number) is not int or number < 0:
        raise _Rejected("id")
    if version == 1:
        words = (record.get("name") or "").split()
        first, last = " ".join(words[:-1]), " ".join(words[-1:])
        emails = [record.get("email") or ""]
        own = {"version", "id", "name", "email", "born"}
    else:
        first = " ".join((record.get("first") or "").split())
        last = " ".join((record.get("last") or "").split())
        emails = (record.get("emails") or "").split(",")
        own = {"version", "id", "first", "last", "emails", "born"}
    if not last:
        raise _Rejected("name")
    born = record.get("born") or None
    if born is not None:
        found = re.fullmatch(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})", str(born))
        if not found:
            raise _Rejected("born")
        try:
            born = date(int(found[3]), int(found[2]), int(found[1])).isoformat()
        except ValueError:
            raise _Rejected("born") from None
    emails = [email.strip().lower() for email in emails]
    return {
        "version": 3,
        "id": f"C-{number:06}",
        "name": {"first": first, "last": last},
        "emails": list(dict.fromkeys(email for email in emails if email)),
        "born": born,
        "extra": {key: value for key, value in record.items() if key not in own},
    }
