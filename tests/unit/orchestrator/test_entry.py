"""Commands are taken apart, and what is executed shows nothing."""

from pathlib import Path

import pytest

from orchestrator.entry import Program, ShimPlace, plan_entry, read_command
from orchestrator.errors import DescriptionFault

TREE = Path("/home/me/shop-gateway")
PLACE = ShimPlace(folder=Path("/state"), stem="0a1b2c3d")
WORDS = ("gateway", "serve", "dist", "shop")


@pytest.mark.parametrize(
    ("command", "runtime", "flags", "entry", "module", "arguments"),
    [
        ("node dist/serve.js --port 1", "node", "", "dist/serve.js", None, "--port 1"),
        ("node --import tsx/esm src/a.ts", "node", "--import tsx/esm", "src/a.ts", None, ""),
        ("/opt/node22 -r ./x.js a.js", "node", "-r ./x.js", "a.js", None, ""),
        ("nodejs --enable-source-maps a.js", "node", "--enable-source-maps", "a.js", None, ""),
        ("node -e 1", "node", "", None, None, "-e 1"),
        ("node --watch a.js", "node", "", None, None, "--watch a.js"),
        ("node", "node", "", None, None, ""),
        ("python3 -u app.py -x", "python", "-u", "app.py", None, "-x"),
        ("python -X dev -m pkg.app --port 1", "python", "-X dev", None, "pkg.app", "--port 1"),
        ("python3.11 -mhttp.server 80", "python", "", None, "http.server", "80"),
        ("python3 -c pass", "python", "", None, None, "-c pass"),
        ("python3 -m", "python", "", None, None, "-m"),
        ("python3", "python", "", None, None, ""),
        ("./envoy -c x.yaml", "native", "", None, None, "-c x.yaml"),
        ("nodemon a.js", "native", "", None, None, "a.js"),
    ],
)
def test_a_command_is_taken_apart(command, runtime, flags, entry, module, arguments):
    found = read_command(command.split(), TREE)
    assert found == Program(
        runtime=runtime,
        interpreter=command.split()[0],
        flags=tuple(flags.split()),
        entry=None if entry is None else TREE / entry,
        module=module,
        arguments=tuple(arguments.split()),
    )


def test_an_empty_command_is_refused():
    with pytest.raises(DescriptionFault, match="command is empty"):
        read_command([], TREE)


def planned(command, mode="shim", executable="/usr/bin/node", **more):
    program = read_command(command.split(), TREE)
    return plan_entry(program, mode, executable=Path(executable), place=PLACE, **more)


@pytest.mark.parametrize(
    ("command", "executable", "argv"),
    [
        ("node dist/serve.js --for gateway", "/usr/bin/node", ("node", "/state/0a1b2c3d.cjs")),
        (
            "node --enable-source-maps dist/serve.js",
            "/usr/bin/node",
            ("node", "--enable-source-maps", "/state/0a1b2c3d.cjs"),
        ),
        ("python3 dist/serve.py", "/venv/bin/python3", ("python3", "/state/0a1b2c3d.py")),
        ("python3 -m shop.serve gateway", "/venv/bin/python3", ("python3", "/state/0a1b2c3d.py")),
    ],
)
def test_a_shim_hides_entry_and_arguments(command, executable, argv):
    plan = planned(command, executable=executable)
    assert (plan.argv, plan.mode, plan.warning) == (argv, "shim", None)
    assert not any(word in " ".join(plan.argv) for word in WORDS)
    assert plan.exit_file == Path("/state/0a1b2c3d.exit")


def test_the_entry_travels_inside_the_shim():
    plan = planned('node dist/serve.js --name "quoted')
    assert plan.shim is not None
    assert plan.shim.path == Path("/state/0a1b2c3d.cjs")
    assert '"/home/me/shop-gateway/dist/serve.js"' in plan.shim.text
    assert '["--name","\\"quoted"]' in plan.shim.text
    assert "@SETTINGS@" not in plan.shim.text


def test_a_python_finds_its_environment_first_in_the_path():
    assert planned("python3 a.py", executable="/venv/bin/python3").path_first == Path("/venv/bin")
    assert planned("node a.js").path_first is None


def test_a_node_that_fails_its_trial_imports_and_warns():
    plan = planned("node a.js", runs_main=False)
    assert plan.mode == "shim-import"
    assert '"runMain":false' in (plan.shim.text if plan.shim else "")
    assert plan.warning is not None
    assert "guards" in plan.warning


@pytest.mark.parametrize(
    ("command", "mode", "argv", "warning"),
    [
        ("envoy -c x", "shim", ("envoy", "-c", "x"), None),
        ("node -e 1", "shim", ("node", "-e", "1"), "it runs as it is"),
        ("node a.js b", "direct", ("node", f"{TREE}/a.js", "b"), None),
        ("python3 -m pkg b", "direct", ("python3", "-m", "pkg", "b"), None),
    ],
)
def test_what_has_no_entry_runs_as_it_is(command, mode, argv, warning):
    plan = planned(command, mode, executable=f"/usr/bin/{command.split()[0]}")
    assert (plan.mode, plan.argv, plan.shim) == ("direct", argv, None)
    assert (warning is None) == (plan.warning is None)
    assert (warning or "") in (plan.warning or "")


def test_import_mode_writes_beside_the_entry():
    plan = planned("node dist/serve.js x", "import")
    assert plan.argv == ("node", f"{TREE}/dist/bench-serve.js", "x")
    assert plan.shim is not None
    assert plan.shim.text.endswith('\nimport("./serve.js");\n')


def test_link_mode_links_beside_the_entry():
    plan = planned("node dist/serve.js x", "link")
    assert plan.argv == ("node", f"{TREE}/dist/0a1b2c3d.js", "x")
    assert plan.shim is not None
    assert plan.shim.link_to == TREE / "dist/serve.js"


@pytest.mark.parametrize(
    ("command", "mode"), [("python3 a.py", "import"), ("envoy", "import"), ("python3 -m p", "link")]
)
def test_a_mode_that_does_not_go_with_the_command_is_refused(command, mode):
    with pytest.raises(DescriptionFault, match=f"entry mode `{mode}`"):
        planned(command, mode)


@pytest.mark.parametrize(
    ("words", "warning"),
    [(["./shop"], None), (["./shop", "--in", "dist"], "its arguments stay visible")],
    ids=["alone", "with arguments"],
)
def test_a_native_program_by_a_link_is_named_after_it(words, warning):
    place = ShimPlace(folder=Path("/state"), stem="0a1b2c3d")
    program = read_command(words, Path("/shop"))
    plan = plan_entry(program, "link", executable=Path("/shop/shop"), place=place)
    link = Path("/state/0a1b2c3d.run")
    assert (plan.executable, plan.argv) == (link, (str(link), *words[1:]))
    assert plan.shim is not None
    assert (plan.shim.path, plan.shim.link_to) == (link, Path("/shop/shop"))
    assert (plan.mode, plan.warning) == ("link", warning)
