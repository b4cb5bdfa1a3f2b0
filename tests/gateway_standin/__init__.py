"""A gateway in the shape of LLMGateway's build, for tests; needs Node."""
