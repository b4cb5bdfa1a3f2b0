"""What a gateway inherits."""

from orchestrator.environment import gateway_environment


def made(caller, *files, fills=None, sets=None, keys=()):
    return gateway_environment(
        caller, env_files=files, fills=fills or {}, sets=sets or {}, keys=keys
    )


def test_an_exported_variable_wins_over_the_file_and_is_named_as_shadowing():
    found = made({"A": "exported", "B": "b"}, {"A": "file", "B": "b", "C": "c"})
    assert found.values == {"A": "exported", "B": "b", "C": "c"}
    assert found.shadowed == ("A",)
    assert found.added == ("C",)


def test_a_later_file_wins_over_an_earlier_one():
    assert made({}, {"A": "1", "B": "1"}, {"A": "2"}).values == {"A": "2", "B": "1"}


def test_our_internals_and_the_benchmarks_keys_stay_out():
    caller = {"GWB_LINK_FD": "7", "LLM_GATEWAY_API_KEY": "k", "MY_KEY": "m", "PATH": "/bin"}
    found = made(caller, keys=("MY_KEY",))
    assert found.values == {"PATH": "/bin"}
    assert found.dropped == ("GWB_LINK_FD", "LLM_GATEWAY_API_KEY", "MY_KEY")


def test_a_key_that_the_env_file_names_is_the_gateways_own():
    found = made({"LLM_GATEWAY_API_KEY": "exported"}, {"LLM_GATEWAY_API_KEY": "file"})
    assert found.values == {"LLM_GATEWAY_API_KEY": "exported"}
    assert found.dropped == ()


def test_a_description_fills_and_pointing_sets():
    found = made(
        {"NODE_ENV": "development", "UPSTREAM": "https://paid.example"},
        fills={"NODE_ENV": "production", "LOG": "x"},
        sets={"UPSTREAM": "http://127.0.0.1:1", "PORT": "2"},
    )
    assert found.values == {
        "NODE_ENV": "development",
        "LOG": "x",
        "UPSTREAM": "http://127.0.0.1:1",
        "PORT": "2",
    }
    assert found.replaced == ("UPSTREAM",)
    assert found.added == ("LOG", "PORT")
