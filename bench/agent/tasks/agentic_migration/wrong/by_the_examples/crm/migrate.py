"""Brings records to version 3."""


def migrate(records):
    done, rejected = [], []
    for index, record in enumerate(records):
        record = dict(record)
        version = record.pop("version", 1)
        if version == 3:
            done.append({"version": 3, **record})
            continue
        if version not in (1, 2):
            rejected.append([index, "version"])
            continue
        if version == 1:
            first, _, last = record.pop("name").rpartition(" ")
            emails = [record.pop("email")]
        else:
            first, last = record.pop("first"), record.pop("last")
            emails = record.pop("emails").split(",")
        emails = sorted({email.strip().lower() for email in emails})
        day, month, year = record.pop("born").split(".")
        done.append(
            {
                "version": 3,
                "id": f"C-{record.pop('id'):06}",
                "name": {"first": first, "last": last},
                "emails": emails,
                "born": f"{year}-{int(month):02}-{int(day):02}",
                "extra": record,
            }
        )
    return {"records": done, "rejected": rejected}
