"""Brings records to version 3."""


def migrate(records):
    """Return the migrated records and the rejected ones, see RULES.md."""
    done = []
    for record in records:
        if record.get("version", 1) == 1:
            first, last = record.pop("name").split(" ")
            record["name"] = {"first": first, "last": last}
            record["emails"] = [record.pop("email")]
            record["id"] = f"C-{record['id']:06}"
            record["extra"] = {}
            record["version"] = 3
        done.append(record)
    return {"records": done, "rejected": []}
