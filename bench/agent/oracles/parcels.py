"""Checks of `agentic_forty_files`: every carrier, priced by its contract."""

import csv

from bench.agent.oracles.making import calls
from bench.agent.task import Check, Equals, Expectation, Json, Raises
from bench.seeds import SeededStream

CONTRACTS = """\
carrier,base_cents,cents_per_kg,weight,minimum_cents,zone_1,zone_2,zone_3,zone_4
albatros,210,110,started,500,100,120,150,250
bachstelze,360,180,started,300,100,110,135,220
corvus,220,100,full,750,100,125,155,190
drossel,300,140,started,350,100,120,160,170
elster,510,200,started,350,100,115,140,190
falke,650,140,started,450,100,120,130,220
gimpel,520,130,started,850,100,110,140,190
haubenmeise,560,100,started,650,100,115,145,190
ibis,290,100,started,750,100,120,150,180
jagdfalke,480,130,started,350,100,125,130,180
kranich,480,180,full,350,100,110,160,200
lerche,580,180,started,500,100,120,155,220
milan,230,50,full,400,100,125,150,200
nordwind,650,180,started,350,100,125,145,190
orplid,450,190,started,700,100,120,135,170
pirol,650,100,started,400,100,110,135,240
querfeld,610,60,started,400,100,110,140,210
rotmilan,220,110,started,400,100,115,135,200
sperber,340,100,started,600,100,105,160,250
taube,380,200,full,450,100,120,145,210
uhu,670,50,full,400,100,105,160,230
vogelflug,380,150,started,600,100,110,140,170
wanderfalke,650,50,started,700,100,120,140,250
xenops,560,190,started,500,100,125,150,210
ysop,320,50,started,750,100,125,130,250
zaunkoenig,210,200,started,700,100,115,140,180
amsel,200,120,started,350,100,125,130,210
bussard,560,40,started,300,100,110,160,190
dohle,400,170,started,650,100,115,160,200
eule,370,40,started,650,100,105,155,190
fink,490,120,full,850,100,105,135,240
goldammer,570,160,started,550,100,120,135,240
habicht,650,190,started,300,100,125,160,240
"""
"""`docs/contract.csv` of the task, kept here because the candidate can change its own copy."""

_HEAVIEST = 31_500


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(22, label="coding task")
    contracts = {row["carrier"]: row for row in csv.DictReader(CONTRACTS.splitlines())}
    asked = [
        {"carrier": carrier, "grams": grams, "zone": zone}
        for carrier in contracts
        for grams, zone in (
            (draw.between(1, 30) * 1_000 + draw.between(1, 999), draw.between(1, 4)),
            (draw.between(2, 31) * 1_000, draw.between(1, 4)),
            (draw.between(1, 999), draw.between(1, 4)),
        )
    ]
    asked += [{"carrier": "uhu", "grams": grams, "zone": 1} for grams in (0, _HEAVIEST + 1)]
    return calls("quote", asked, lambda given: _price(given, contracts[given["carrier"]]))


def _price(given: Json, contract: dict[str, str]) -> Expectation:
    grams = given["grams"]
    if not 1 <= grams <= _HEAVIEST:
        return Raises(name="ValueError")
    kilograms, rest = divmod(grams, 1_000)
    charged = kilograms + (contract["weight"] == "started" and rest > 0)
    full = int(contract["base_cents"]) + int(contract["cents_per_kg"]) * charged
    cents = full * int(contract[f"zone_{given['zone']}"]) // 100
    return Equals(value=max(cents, int(contract["minimum_cents"])))
