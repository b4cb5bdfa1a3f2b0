"""What needs a person's yes, and for how long it is good."""

import pytest

from orchestrator.config import Sources, resolve
from orchestrator.faults import Untrusted
from orchestrator.trust import TrustStore, printable, subjects


def described(folder, **flags):
    return resolve(Sources(flags=flags, environ={}, cwd=folder))


@pytest.fixture
def worktree(tmp_path):
    (tmp_path / "tree/.git").mkdir(parents=True)
    return tmp_path / "tree"


@pytest.mark.parametrize(
    ("text", "decides"),
    [
        pytest.param('port = 4001\nready_timeout = "9s"', (), id="a port executes nothing"),
        pytest.param('entry = "dist/serve.js"', ("entry = dist/serve.js",), id="an entry"),
        pytest.param('build = ["pnpm build"]', ("build = pnpm build",), id="a build command"),
        pytest.param(
            'command = ["sh", "-c", "rm -r x; serve {port}", "{port}"]',
            ("command = sh -c 'rm -r x; serve {port}' {port}",),
            id="a command, word by word as a shell would read it",
        ),
        pytest.param('env = { NODE_OPTIONS = "-r x" }', ("env = NODE_OPTIONS=-r x",), id="options"),
        pytest.param('preset = "portkey"', ("preset = portkey",), id="a preset of a local build"),
        pytest.param('upstream_free = "mine"', ("upstream_free = mine",), id="what costs nothing"),
    ],
)
def test_a_file_needs_trust_for_what_it_makes_us_execute(worktree, text, decides):
    (worktree / "gateway-bench.toml").write_text(f"[gateway]\n{text}\n")
    assert tuple(line for one in subjects(described(worktree)) for line in one.decides) == decides


def test_what_a_flag_overrules_needs_no_trust(worktree):
    (worktree / "gateway-bench.toml").write_text('[gateway]\nentry = "a.js"\n')
    assert subjects(described(worktree, entry="b.js")) == ()


def test_a_dotenv_that_names_a_command_needs_trust_and_its_other_lines_do_not_matter(worktree):
    dotenv = worktree / ".env"
    dotenv.write_text("GATEWAY_COMMAND=serve\nSECRET=1\n")
    (one,) = subjects(described(worktree))
    assert one.path == dotenv
    assert one.decides == ("command = serve",)
    dotenv.write_text("SECRET=2\nGATEWAY_COMMAND=serve\n")
    assert subjects(described(worktree))[0].content == one.content
    assert b"SECRET" not in one.content


def test_trust_is_for_one_content_in_one_place(worktree, tmp_path):
    store = TrustStore(tmp_path / "state")
    path = worktree / "gateway-bench.toml"
    path.write_text('[gateway]\nentry = "a.js"\n')
    (one,) = subjects(described(worktree))
    assert not store.knows(one)
    store.add(one)
    store.add(one)
    assert store.knows(subjects(described(worktree))[0])
    path.write_text('[gateway]\nentry = "b.js"\n')
    assert not store.knows(subjects(described(worktree))[0])
    other = tmp_path / "other"
    other.mkdir()
    (other / "gateway-bench.toml").write_text('[gateway]\nentry = "a.js"\n')
    assert not store.knows(subjects(described(other))[0])


def test_a_value_can_not_hide_itself_on_a_terminal():
    assert printable("a\x1b[2Kb\rc\u202ed é") == "a\\x1b[2Kb\\rc\\u202ed é"


def test_the_refusal_names_the_command_that_agrees():
    fault = Untrusted("/w/gateway-bench.toml", ["entry = a.js"], "gateway-bench trust /w")
    assert fault.exit_code == 7
    assert fault.message == (
        "`/w/gateway-bench.toml` decides what would be executed, and this content is not trusted "
        "yet:\n  entry = a.js"
    )
    assert fault.hint == "look at it, then type `gateway-bench trust /w`"
