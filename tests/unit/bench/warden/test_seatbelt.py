"""The profile for macOS, as text."""

from bench.warden.seatbelt import profile, quoted


def test_the_profile_denies_all_but_what_is_listed():
    text = profile(
        executable="/opt/py/bin/python3",
        looked_at=["/opt/py"],
        covers=["/opt/py/lib/site-packages"],
        folder="/private/box",
    )
    lines = text.splitlines()
    assert lines[:4] == ["(version 1)", "(deny default)", "(deny network*)", "(deny process-fork)"]
    assert '(allow process-exec (literal "/opt/py/bin/python3"))' in lines
    assert [line for line in lines if "file-write*" in line] == [
        '(allow file-write* (subpath "/private/box"))'
    ]
    assert '(subpath "/opt/py") (subpath "/private/box")' in text
    reading = [line for line in lines if "file-read* " in line]
    assert reading[-1] == '(deny file-read* (subpath "/opt/py/lib/site-packages"))'
    assert "/Users" not in text
    assert text.count("(") == text.count(")")


def test_a_path_can_not_end_its_string():
    assert quoted('/a"b\\c') == '"/a\\"b\\\\c"'
