"""The options that say where requests go and with which key. Data only."""

from bench.cli.option_row import ENDPOINT, OptionRow

ENDPOINT_ROWS = (
    OptionRow(
        section=ENDPOINT,
        spellings=("--url",),
        field="url",
        metavar="URL",
        help="A host, a /v1 base or the full path. Default: BENCHMARK_API_URL, else the preset's.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--preset",),
        field="preset",
        metavar="NAME",
        help="Endpoint, dialect and key rules of demo, llmgateway, litellm or portkey.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--api-key-env",),
        field="api_key_env",
        metavar="NAME",
        help="Variable that holds the key. Default: LLM_GATEWAY_API_KEY, then LLMGATEWAY_API_KEY.",
    ),
    OptionRow(section=ENDPOINT, spellings=("--no-key",), field="key", help="Send no key."),
    OptionRow(
        section=ENDPOINT,
        spellings=("-H", "--header"),
        field="header",
        metavar="'NAME: VALUE'",
        help="One more request header. Repeatable; no place for secrets.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--header-env",),
        field="header_env",
        metavar="NAME=VARIABLE",
        help="A header whose value is a secret in a variable. Repeatable.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--key-header",),
        field="key_header",
        metavar="NAME",
        help="Header that carries the key. Default: Authorization, or x-api-key at Anthropic.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--cacert",),
        field="cacert",
        metavar="FILE",
        help="Certificate authorities to trust instead of the system's (PEM).",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--proxy",),
        field="proxy",
        metavar="URL|none",
        help="Proxy for every request. Default: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY less NO_PROXY.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--http-version",),
        field="http_version",
        metavar="1.1|2|auto",
        help="2 needs the extra `http2`; auto takes what the server chooses. Default: 1.1.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--dialect",),
        field="dialect",
        metavar="NAME",
        help="plain, llmgateway, litellm, portkey, openrouter, vercel, cloudflare or helicone. "
        "Default: auto, and says what it found.",
    ),
    OptionRow(
        section=ENDPOINT,
        spellings=("--api",),
        field="api",
        metavar="NAME",
        help="Wire protocol: chat, messages (Anthropic) or responses (OpenAI). Default: chat.",
    ),
)
