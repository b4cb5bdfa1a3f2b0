"""The actor without Ray: orders and parts may come twice, the shard goes when the leader has it."""

import asyncio
from pathlib import Path

from bench import __version__
from bench.cluster.generator import Generator, rest_of_shard
from bench.model.fleet import Dismiss, Failed, Prepared, Probe, Setup, decode_report, encode
from tests.sample_documents import header

SETUP = encode(Setup(number=3, header=header((), ())))


class Played:
    """Plays a load process: writes each order's name down and reports after the last."""

    def __init__(self) -> None:
        self.secret = b""
        self.orders: list[str] = []

    async def work(self, line, equipment):
        self.secret = equipment.secret_words
        while True:
            order = await line.hear()
            self.orders.append(type(order).__name__)
            with equipment.shard(3).open("ab") as shard:
                shard.write(type(order).__name__.encode() + b"\n")
            if isinstance(order, Dismiss):
                break
        await line.tell(Prepared())


def test_orders_come_once_and_in_order_though_the_calls_came_twice(tmp_path):
    played = Played()

    async def run():
        actor = Generator(3, played.work, root=tmp_path)
        for _ in range(2):
            await actor.equip(0, b"sk-")
            await actor.equip(1, b"secret")
        for ordinal, word in enumerate([SETUP, encode(Probe(number=1)), encode(Dismiss())]):
            for _ in range(2):
                await actor.tell(ordinal, word)
        batch = await actor.pull(0, 0)
        again = await actor.pull(0, 0)
        return batch, again, await actor.give_up(len(batch.data))

    batch, again, rest = asyncio.run(run())
    assert played.orders == ["Setup", "Probe", "Dismiss"]
    assert played.secret == b"sk-secret"
    assert batch == again
    assert batch.data == b"Setup\nProbe\nDismiss\n"
    assert [decode_report(word) for word in batch.words] == [Prepared()]
    assert rest == b""


def test_a_load_process_that_breaks_is_told_of_without_its_words(tmp_path):
    async def broken(line, equipment):
        raise ValueError(equipment.secret_words)

    async def run():
        actor = Generator(3, broken, root=tmp_path)
        await actor.equip(0, b"sk-secret")
        await actor.tell(0, SETUP)
        batch = await actor.pull(0, 0)
        await actor.give_up(0)
        return batch

    batch = asyncio.run(run())
    assert batch.is_last
    assert [decode_report(word) for word in batch.words] == [Failed(message="it met ValueError")]


def test_before_the_first_order_there_is_nothing_to_pull(tmp_path):
    async def run():
        actor = Generator(3, Played().work, root=tmp_path)
        batch = await actor.pull(0, 0)
        await actor.give_up(0)
        return batch

    batch = asyncio.run(run())
    assert (batch.data, batch.words, batch.is_last) == (b"", (), False)


def test_an_actor_that_is_given_up_hands_over_what_it_wrote_and_leaves_nothing(tmp_path):
    async def run():
        actor = Generator(3, Played().work, root=tmp_path)
        await actor.equip(0, b"")
        await actor.tell(0, SETUP)
        while not (await actor.pull(0, 0)).data:
            pass
        return await actor.give_up(2)

    assert asyncio.run(run()) == b"tup\n"
    assert list(tmp_path.iterdir()) == []


def test_what_an_actor_says_of_itself_is_enough_to_trust_it(tmp_path):
    async def run():
        actor = Generator(3, Played().work, root=tmp_path)
        proof = await actor.prove()
        await actor.give_up(0)
        return proof

    proof = asyncio.run(run())
    assert proof.version == __version__
    assert Path(proof.folder).parent == tmp_path


def test_the_rest_of_a_shard_that_is_gone_is_nothing(tmp_path):
    assert rest_of_shard(str(tmp_path / "gone"), 3, 0) == b""
