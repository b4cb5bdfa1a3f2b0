"""The HTTP client that measures: stamps each read once, tells errors apart, reads to the end."""

from bench.client.chat_client import HttpChatClient, Timeouts
from bench.client.endpoint import Address, Endpoint, address_of

__all__ = ["Address", "Endpoint", "HttpChatClient", "Timeouts", "address_of"]
