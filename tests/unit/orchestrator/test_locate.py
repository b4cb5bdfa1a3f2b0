"""Where a description's entry or program is looked for."""

import pytest

from orchestrator.config import Sources, resolve
from orchestrator.errors import EntryMissing
from orchestrator.faults import NothingDescribed
from orchestrator.locate import locate


def located(folder, environ=None, **flags):
    config = resolve(Sources(flags=flags, environ=environ or {}, cwd=folder))
    return locate(config, environ or {})


def a_file(path, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("name", "before"),
    [
        pytest.param("a.js", ("node",), id="Node"),
        pytest.param("a.mts", ("node",), id="TypeScript"),
        pytest.param("a.py", ("python3",), id="Python"),
        pytest.param("server", (), id="a program"),
    ],
)
def test_the_interpreter_follows_from_the_name(tmp_path, name, before):
    path = a_file(tmp_path / name)
    found = located(tmp_path, entry=name)
    assert found.words == (*before, str(path))
    assert found.folder == tmp_path
    assert found.entry == path


def test_a_typed_interpreter_stands_before_the_entry(tmp_path):
    a_file(tmp_path / "a.js")
    (tmp_path / "gateway-bench.toml").write_text(
        "[gateway]\nentry = 'a.js'\ncommand = 'node --enable-source-maps'\n"
    )
    assert located(tmp_path).words[:2] == ("node", "--enable-source-maps")


def test_a_preset_looks_in_several_folders_and_works_in_the_one_that_has_it(tmp_path):
    path = a_file(tmp_path / "node_modules/@portkey-ai/gateway/build/start-server.js")
    found = located(tmp_path, preset="portkey")
    assert found.words == ("node", str(path))
    assert found.folder == path.parent.parent


def test_a_missing_entry_names_every_place(tmp_path):
    with pytest.raises(EntryMissing) as fault:
        located(tmp_path, preset="llmgateway")
    assert fault.value.message == (
        f"no entry file at `{tmp_path}/dist/serve.js` or `{tmp_path}/apps/gateway/dist/serve.js`"
    )


def test_a_program_is_found_by_variable_then_path_then_near_environments(tmp_path):
    near = a_file(tmp_path / ".venv/bin/litellm", 0o755)
    in_path = a_file(tmp_path / "bin/litellm", 0o755)
    named = a_file(tmp_path / "named/litellm", 0o755)
    (tmp_path / "sub").mkdir()
    environ = {"PATH": "/nowhere"}
    assert located(tmp_path / "sub", environ, preset="litellm").entry == near
    environ = {"PATH": str(in_path.parent)}
    assert located(tmp_path / "sub", environ, preset="litellm").entry == in_path
    environ |= {"GATEWAY_LITELLM": str(named)}
    assert located(tmp_path / "sub", environ, preset="litellm").entry == named


def test_a_named_program_that_can_not_be_executed_is_missing(tmp_path):
    plain = a_file(tmp_path / "litellm", 0o644)
    with pytest.raises(EntryMissing, match=f"no program at `{plain}`"):
        located(tmp_path, {"GATEWAY_LITELLM": str(plain)}, preset="litellm")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(EntryMissing, match="no folder of the gateway at"):
        located(tmp_path, command="serve", dir="gone")
    with pytest.raises(EntryMissing, match="no folder of the gateway at"):
        located(tmp_path, dir="gone")


def test_nothing_described_is_told(tmp_path):
    with pytest.raises(NothingDescribed):
        located(tmp_path)


def test_a_whole_command_is_taken_as_it_is(tmp_path):
    found = located(tmp_path, command="serve --port {port}")
    assert (found.words, found.entry, found.folder) == (
        ("serve", "--port", "{port}"),
        None,
        tmp_path,
    )
