"""What the last words of a gateway say about its port."""

import pytest

from orchestrator.port_words import says_port_is_taken


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("OSError: [Errno 98] Address already in use", id="python"),
        pytest.param(
            "[Errno 98] error while attempting to bind on address ('127.0.0.1', 24001): "
            "address already in use",
            id="asyncio",
        ),
        pytest.param("Error: listen EADDRINUSE: address already in use :::24001", id="node"),
        pytest.param("listen tcp 127.0.0.1:24001: bind: address already in use", id="go"),
        pytest.param("12:30:45,123 ERROR Address already in use (os error 98)", id="rust"),
        pytest.param('{"msg":"EADDRINUSE","pid":31337,"port":24001}', id="json"),
    ],
)
def test_its_own_port_is_meant_where_it_is_named_or_none_is(line):
    assert says_port_is_taken(("starting", line, "bye"), 24001)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("listening on 127.0.0.1:24001", id="no complaint"),
        pytest.param("Error: listen EADDRINUSE: address already in use :::9090", id="metrics"),
        pytest.param("port 9229: Address already in use", id="debugger"),
    ],
)
def test_a_complaint_of_another_port_is_none_of_ours(line):
    assert not says_port_is_taken((line,), 24001)
    assert not says_port_is_taken((), 24001)


def test_a_complaint_of_both_means_ours_too():
    both = ("EADDRINUSE :::9090", "EADDRINUSE :::24001")
    assert says_port_is_taken(both, 24001)
