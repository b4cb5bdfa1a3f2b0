"""Says no where the environment asks for a proxy: going past it silently would surprise."""

from collections.abc import Mapping
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

from bench.client.endpoint import address_of
from bench.errors import UsageFault


class ProxyIgnored(UsageFault):
    """The environment asks for a proxy, which this client can't use."""

    def __init__(self, variable: str, host: str) -> None:
        super().__init__(
            f"`{variable}` asks for a proxy to `{host}`, and this client only connects directly",
            hint=f"if `{host}` can be reached without it, add it to `NO_PROXY`",
        )


def refuse_proxy(url: str, environment: Mapping[str, str]) -> None:
    """Refuse to go past a proxy that the environment asks for: this client connects directly.

    Args:
        url: Where requests would go; loopback addresses never use a proxy.
        environment: For ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``, in
            either case.

    Raises:
        ProxyIgnored: A proxy is set for this address.
    """
    address = address_of(url)
    if address.is_loopback:
        return
    lowered = {name.lower(): (name, value) for name, value in environment.items() if value}
    name, _ = lowered.get(f"{address.scheme}_proxy") or lowered.get("all_proxy") or ("", "")
    if not name:
        return
    exceptions = lowered.get("no_proxy", ("", ""))[1]
    if proxy_bypass_environment(address.host, {"no": exceptions}):
        return
    raise ProxyIgnored(name, address.host)
