"""Whose certificates are believed: `--cacert`, else `SSL_CERT_FILE`, else `SSL_CERT_DIR`, else the system's.

Each takes the place of what follows it, as in httpx. Verification is always on.
"""

import ssl
from collections.abc import Mapping
from pathlib import Path

import certifi

from bench.errors import UsageFault, reason_in
from bench.model.record import Value


class UnreadableAuthorities(UsageFault):
    """The file or folder of certificate authorities is none."""

    def __init__(self, path: Path | None, given_by: str, why: object) -> None:
        super().__init__(
            f"`{path}`, which {given_by} names, holds no certificates: {why}",
            hint="a file of PEM certificates is needed, or for `SSL_CERT_DIR` a folder that "
            "`openssl rehash` went through",
        )


_OPTION = "`--cacert`"


class Authorities(Value, frozen=True, kw_only=True):
    """Where the certificates of authorities are; neither file nor folder = the system's."""

    file: Path | None = None
    folder: Path | None = None
    given_by: str = "the system"

    @classmethod
    def found(cls, cacert: Path | None, environ: Mapping[str, str]) -> "Authorities":
        """Return the most direct that is named.

        Args:
            cacert: As resolved from `--cacert`.
            environ: Of this process; never a `.env`.
        """
        if cacert is not None:
            return cls(file=cacert, given_by=_OPTION)
        if file := environ.get("SSL_CERT_FILE"):
            return cls(file=Path(file), given_by="`SSL_CERT_FILE`")
        if folder := environ.get("SSL_CERT_DIR"):
            return cls(folder=Path(folder), given_by="`SSL_CERT_DIR`")
        return cls()

    @property
    def is_typed(self) -> bool:
        """A person named them for this command."""
        return self.given_by == _OPTION

    def context(self) -> ssl.SSLContext:
        """Return a context that verifies certificates and names.

        Raises:
            UnreadableAuthorities: What was named can't be used.
        """
        named = self.file or self.folder
        if named is None:
            return _system()
        if self.folder is not None and not self.folder.is_dir():
            raise UnreadableAuthorities(named, self.given_by, "it is no folder")
        try:
            return ssl.create_default_context(cafile=self.file, capath=self.folder)
        except OSError as error:  # ssl.SSLError is one
            raise UnreadableAuthorities(named, self.given_by, reason_in(error)) from error


def _system() -> ssl.SSLContext:
    paths = ssl.get_default_verify_paths()
    if not paths.cafile and not paths.capath:
        # Python from python.org on a Mac, and images without `ca-certificates`.
        return ssl.create_default_context(cafile=certifi.where())
    return ssl.create_default_context()


SYSTEM = Authorities()
