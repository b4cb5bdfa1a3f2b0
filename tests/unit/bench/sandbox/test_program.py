"""What may be asked of the sandbox."""

import pytest

from bench.errors import Refused, UsageFault
from bench.sandbox import Limits, Program, Protections, require
from bench.sandbox.program import path_fault


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/etc/passwd", "absolute"),
        ("../up", "leaves the folder"),
        ("a/../../b", "leaves the folder"),
        ("", "without `.`"),
        (".", "without `.`"),
        ("a//b", "without `.`"),
        ("./a", "without `.`"),
        ("a/", "without `.`"),
        ("a\0b", "NUL"),
        ("a\nb", "can't be shown"),
        ("x" * 201, "200 bytes"),
    ],
)
def test_a_path_that_is_no_file_of_the_folder_is_told_why(path, said):
    fault = path_fault(path)
    assert fault is not None
    assert said in fault
    with pytest.raises(UsageFault, match="no file of a sandbox can be called"):
        Program(language="python", argv=(), files={path: b""})


@pytest.mark.parametrize("path", ["a", "a/b.py", ".hidden", "..a", "ü", "a b"])
def test_a_plain_path_is_none(path):
    assert path_fault(path) is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"files": {str(number): b"" for number in range(1001)}}, "up to 1000 files, not 1001"),
        ({"files": {"a": b"x" * (8 * 1024 * 1024 + 1)}}, "up to 8388608 bytes"),
        ({"files": {}, "argv": ("a\0",)}, "holds a NUL"),
    ],
)
def test_what_is_too_much_is_refused_at_once(fields, said):
    with pytest.raises(UsageFault, match=said):
        Program(**({"language": "python", "argv": ()} | fields))


@pytest.mark.parametrize("name", ["wall_s", "cpu_s", "memory_mb", "processes", "file_mb"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_is_above_0(name, value):
    with pytest.raises(UsageFault, match=f"`{name}` is {value}"):
        Limits(**{name: value})


def found(level, walls="landlock"):
    return Protections(level=level, walls=walls, items=(), why="memory: no limit of all together")


def test_a_full_sandbox_needs_no_word():
    require(found("full", "namespaces"), allow_reduced=False)


def test_a_reduced_one_is_refused_and_the_hint_names_the_word():
    with pytest.raises(Refused) as refused:
        require(found("reduced"), allow_reduced=False)
    assert refused.value.exit_code == 7
    assert "`reduced`: memory: no limit of all together" in refused.value.message
    assert "--allow-reduced-sandbox" in (refused.value.hint or "")
    require(found("reduced"), allow_reduced=True)


def test_none_is_refused_whatever_is_allowed():
    with pytest.raises(Refused) as refused:
        require(found("none", None), allow_reduced=True)
    assert "--allow-reduced-sandbox" not in (refused.value.hint or "")
