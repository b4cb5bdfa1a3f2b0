import ssl
from pathlib import Path

import pytest

from bench.authorities import Authorities, UnreadableAuthorities

PEM = Path(__file__).parents[2] / "cases" / "tls" / "cert.pem"


def test_the_most_direct_place_names_the_authorities():
    environ = {"SSL_CERT_FILE": "/f.pem", "SSL_CERT_DIR": "/d"}
    assert Authorities.found(Path("/c.pem"), environ).file == Path("/c.pem")
    assert Authorities.found(None, environ).file == Path("/f.pem")
    assert Authorities.found(None, {"SSL_CERT_DIR": "/d"}).folder == Path("/d")
    assert Authorities.found(None, {"SSL_CERT_FILE": ""}) == Authorities()


@pytest.mark.parametrize(
    "given", [Authorities(file=PEM), Authorities(folder=PEM.parent), Authorities()]
)
def test_certificates_and_names_are_always_verified(given):
    context = given.context()
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED


def test_a_named_file_takes_the_place_of_the_system_s():
    assert len(Authorities(file=PEM).context().get_ca_certs()) == 1


@pytest.mark.parametrize(
    "given",
    [
        Authorities(file=Path("/gone.pem"), given_by="`SSL_CERT_FILE`"),
        Authorities(file=Path(__file__), given_by="`SSL_CERT_FILE`"),
        Authorities(folder=Path("/gone"), given_by="`SSL_CERT_DIR`"),
    ],
)
def test_what_holds_no_certificates_is_named_with_who_named_it(given):
    with pytest.raises(UnreadableAuthorities) as caught:
        given.context()
    assert given.given_by in caught.value.message
    assert str(given.file or given.folder) in caught.value.message
