"""Secrets do not reach people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.masking import mask, secret_values


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: Bearer abc123def", "abc123def"),
        ('{"authorization": "Bearer abc123def"}', "abc123def"),
        ("sent bearer abc123def", "abc123def"),
        ("OPENAI_API_KEY=abc123def in env", "abc123def"),
        ("password: hunter22", "hunter22"),
        ("node x --api-key abc123def --port 1", "abc123def"),
        ("postgres://me:hunter22@db/x", "hunter22"),
        ("key sk-abcdefgh12345678", "abcdefgh12345678"),
        ("GET /?token=abc123def&x=1", "abc123def"),
    ],
)
def test_what_has_the_shape_of_a_secret_is_masked(text, hidden):
    assert hidden not in mask(text)
    assert "***" in mask(text)


def test_known_values_are_masked_wherever_they_stand():
    assert mask("say s3cr3tvalue twice s3cr3tvalue", ["s3cr3tvalue"]) == "say *** twice ***"


def test_short_values_do_not_blank_out_the_log():
    assert mask("worker 1 is on", ["1", "on"]) == "worker 1 is on"


def test_ordinary_lines_stay_as_they_are():
    line = "listening on http://127.0.0.1:4001/v1 with 3 tokens per second"
    assert mask(line) == line


@given(st.text(alphabet="abcXYZ019", min_size=6, max_size=30), st.text(max_size=40))
def test_a_known_secret_never_survives(secret, around):
    assert secret not in mask(around + secret + around, [secret]).replace("***", "")


def test_values_of_variables_that_sound_secret_are_masked():
    environment = {"OPENAI_API_KEY": "k", "DATABASE_URL": "u", "PATH": "/bin", "EMPTY_TOKEN": ""}
    assert secret_values(environment) == ("k", "u")


def test_the_password_of_any_address_is_masked_in_both_its_spellings():
    environment = {"HTTPS_PROXY": "http://me:p%40ssword@proxy:3128", "CACHE": "redis://:hunter22@r"}
    assert secret_values(environment) == ("p%40ssword", "p@ssword", "hunter22")


def test_an_address_without_a_password_is_no_secret():
    assert secret_values({"HTTPS_PROXY": "http://proxy:3128", "AT": "https://me@host/a:b@c"}) == ()


def test_a_long_value_without_an_address_is_read_once_through():
    assert secret_values({"BLOB": "a" * 2_000_000, "CACHE": "r://:hunter22@r"}) == ("hunter22",)
