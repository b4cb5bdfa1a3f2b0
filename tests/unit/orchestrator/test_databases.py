"""Which variables name one database: by host, port and name, whatever the user and the spelling."""

import pytest

from orchestrator.databases import named_databases


def hashes(folder="/w", **environment):
    return named_databases(environment, folder)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            "postgres://a:x@localhost/db", "postgresql://b:y@127.0.0.1:5432/db", id="user"
        ),
        pytest.param("postgresql+asyncpg://h/db", "postgres://h/db", id="a driver's name"),
        pytest.param(
            "postgres://H.example/db", "postgres://h.example/db?sslmode=off", id="options"
        ),
        pytest.param("redis://localhost", "rediss://[::1]:6379/", id="no number"),
        pytest.param("file:./dev.db", "sqlite:////w/dev.db", id="a file"),
        pytest.param("postgres://u@/db?host=/run/pg", "postgres:///db?host=/run/pg", id="a socket"),
    ],
)
def test_two_spellings_of_one_database_are_the_same(one, other):
    assert hashes(URL=one)["URL"] == hashes(OTHER=other)["OTHER"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("postgres://h/a", "postgres://h/b", id="name"),
        pytest.param("postgres://h/a", "postgres://g/a", id="host"),
        pytest.param("postgres://h/a", "postgres://h:5433/a", id="port"),
        pytest.param("postgres://h/a", "mysql://h/a", id="kind"),
        pytest.param("postgres://h/a?schema=x", "postgres://h/a?schema=y", id="schema"),
        pytest.param("redis://h/0", "redis://h/1", id="number"),
        pytest.param("file:a.db", "file:b.db", id="file"),
    ],
)
def test_two_databases_are_two(one, other):
    found = hashes(ONE=one, OTHER=other)
    assert found["ONE"] != found["OTHER"]


def test_separate_variables_name_the_same_database_as_a_url():
    found = hashes(
        PGHOST="localhost",
        PGPORT="5432",
        PGDATABASE="shop",
        DATABASE_URL="postgres://u:p@[::1]/shop",
    )
    assert found["PGDATABASE"] == found["DATABASE_URL"]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("", id="nothing"),
        pytest.param("https://example.com/db", id="a page"),
        pytest.param("postgres", id="a word"),
        pytest.param("postgres:", id="a scheme alone"),
        pytest.param("sqlite::memory:", id="in memory"),
        pytest.param("file:", id="no file"),
        pytest.param("sk-live-4242", id="a key"),
    ],
)
def test_what_names_no_database_is_left_out(value):
    assert hashes(VALUE=value) == {}


def test_a_list_of_hosts_is_one_name():
    one = hashes(A="mongodb://u:p@a:1,b:2/db")["A"]
    assert one == hashes(A="mongodb://x@a:1,b:2/db")["A"]


def test_nothing_of_the_address_can_be_read_back():
    (kept,) = hashes(DATABASE_URL="postgres://root:hunter2@db.internal/prod").values()
    assert len(kept) == 16
    assert set(kept) <= set("0123456789abcdef")
