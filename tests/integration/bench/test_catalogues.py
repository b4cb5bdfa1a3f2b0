"""The user's own catalogues, the npm package and what gateways tell beside their lists."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bench.catalogue.npm_package import UnreadablePackage, read_package
from bench.catalogue.own_file import CatalogueFaults, read_own_file
from bench.config import Place, load_config
from bench.errors import UsageFault
from bench.model.target import Target
from bench.prepare.access import Access, find_access
from bench.prepare.offering import free_by_catalogue, offered, read_source
from bench.prepare.selection import select
from tests.bench_process import KEY, Bench
from tests.paid_endpoint import paid_endpoint

pytestmark = pytest.mark.integration

OWN = """
[models.m]
name = "The M"
input = 0.15
output = 0.60
request = 0.001
context = 1000
as_of = 2026-11-01

[models.m.mappings."acme:eu"]
input = 0.2
deactivated = 2999-01-01
"""


def written(folder: Path, text: str, name: str = "own.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


# ---- the file ------------------------------------------------------------------------


def test_a_file_says_prices_per_million_and_a_mapping_takes_what_it_leaves_open(tmp_path):
    (model,) = read_own_file(written(tmp_path, OWN))
    (offer,) = model.offers
    prices = offer.metadata.prices
    assert prices is not None
    assert prices.input_usd == pytest.approx(2e-7)
    assert prices.output_usd == pytest.approx(6e-7)
    assert (prices.request_usd, prices.as_of, prices.source) == (0.001, "2026-11-01", "catalogue")
    assert (offer.metadata.provider, offer.metadata.region) == ("acme", "eu")
    assert (offer.metadata.context_size, offer.metadata.deactivated_at) == (1000, "2999-01-01")
    assert model.display_name == "The M"


def test_json_says_the_same_and_a_saved_list_is_read_too(tmp_path):
    own = {"models": {"m": {"input": 0, "output": 0, "deactivated": "2999-01-01"}}}
    (model,) = read_own_file(written(tmp_path, json.dumps(own), "own.json"))
    assert model.metadata.prices is not None
    assert model.metadata.prices.input_usd == 0
    saved = {"data": [{"id": "a", "pricing": {"prompt": "1e-6", "completion": "0"}}]}
    (listed,) = read_own_file(written(tmp_path, json.dumps(saved), "list.json"))
    assert listed.metadata.prices is not None
    assert listed.metadata.prices.source == "catalogue"


BAD = """
other = 1
[models.m]
inptu = 1
input = -1
output = true
context = 1.5
stability = ""
name = 3
[models.m.mappings.acme]
deactivated = "soon"
[models]
x = 3
y = {mappings = 4}
"""


def test_every_fault_of_a_file_is_told_at_once_each_once(tmp_path):
    with pytest.raises(CatalogueFaults) as caught:
        read_own_file(written(tmp_path, BAD))
    told = "\n".join(caught.value.faults)
    for part in (
        "no `other` here",
        "no `inptu` here; did you mean `input`?",
        '"m".input is `-1`: US dollars from 0',
        '"m".output is `True`',
        '"m".context is `1.5`: a whole number',
        '"m".stability is ``: some text',
        '"m".name is `3`',
        '"acme".deactivated is `soon`: a date',
        'models."x" is no table',
        'models."y".mappings is no table of mappings',
    ):
        assert told.count(part) == 1, part
    assert len(caught.value.faults) == 10


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        pytest.param("a.toml", "x = [", "is no TOML", id="toml"),
        pytest.param("a.json", "{", "is no JSON", id="json"),
        pytest.param("a.json", "3", "a table `models` is needed", id="number"),
        pytest.param("a.toml", "models = 3", "no table of models", id="models-is-a-number"),
        pytest.param("a.toml", "", "there are no models in it", id="empty"),
    ],
)
def test_what_is_no_catalogue_is_named(tmp_path, name, text, said):
    with pytest.raises(UsageFault) as caught:
        read_own_file(written(tmp_path, text, name))
    assert said in caught.value.message


def test_a_missing_file_and_a_folder_without_a_package_are_told(tmp_path):
    with pytest.raises(UsageFault, match="does not exist"):
        read_source(tmp_path / "none.toml")
    with pytest.raises(UsageFault, match="there is no such package here"):
        read_source(tmp_path)
    written(tmp_path, OWN, "catalogue.toml")
    assert read_source(tmp_path).kind == "own"


# ---- the npm package --------------------------------------------------------------------

MODULES = {
    "package.json": '{"name":"@llmgateway/models","version":"9.9.9","exports":{".":{"import":"./dist/index.js"}}}',
    "dist/index.js": 'export * from "./helpers.js";\nexport * from "./models.js";\n',
    "dist/helpers.js": "export function f() { throw new Error('never run'); }\n",
    "dist/models.js": 'import { a } from "./models/a.js";\nimport { out } from "../../../../secret.js";\n'
    'import { other } from "left-pad";\nexport const models = [...a, ...out, ...other];\n',
    "dist/models/a.js": 'const P = "1e-6";\nexport const a = [{id: "m", name: "M", releasedAt: new Date("2026-01-01"),'
    ' providers: [{providerId: "acme", externalId: "v-m", inputPrice: P, outputPrice: "2e-6",'
    " contextSize: 1_000, voices: Object.keys({}) }]}];\n",
}


def package(folder: Path, modules: Mapping[str, str] = MODULES) -> Path:
    root = folder / "node_modules" / "@llmgateway" / "models"
    for name, text in modules.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return folder


def test_the_package_is_read_from_a_folder_a_node_modules_or_itself(tmp_path):
    (tmp_path / "secret.js").write_text("export const out = [{id: 'outside'}];")
    root = package(tmp_path)
    inside = root / "node_modules" / "@llmgateway" / "models"
    for place in (root, root / "node_modules", inside):
        label, (model,) = read_package(place)
        assert label == "@llmgateway/models 9.9.9"
        assert model.id == "m", "what lies outside of the package is not read"
        assert model.offers[0].metadata.context_size == 1_000
        assert model.offers[0].metadata.prices is not None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        pytest.param({"dist/models.js": "export const models = ["}, "the text ends", id="cut"),
        pytest.param({"dist/models.js": "export const model = [];"}, "no list", id="other-name"),
        pytest.param({"dist/models.js": "export const models = models;"}, "no list", id="circle"),
        pytest.param({"package.json": '{"name":"other"}'}, "no such package", id="another"),
        pytest.param({"package.json": "["}, "no such package", id="no-json"),
        pytest.param(
            {"package.json": '{"name":"@llmgateway/models","main":"gone.js"}'}, "gone.js", id="gone"
        ),
    ],
)
def test_a_package_of_another_make_is_told(tmp_path, changed, said):
    package(tmp_path, {**MODULES, **changed})
    with pytest.raises(UnreadablePackage) as caught:
        read_package(tmp_path)
    assert said in caught.value.message
    assert "npm install" in (caught.value.hint or "")


# ---- what gateways tell beside their lists ------------------------------------------------

LITELLM_INFO = {
    "data": [
        {
            "model_name": "m",
            "model_info": {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6},
        }
    ]
}
ENDPOINTS = {
    "data": {
        "endpoints": [
            {"tag": "acme/fp8", "pricing": {"prompt": "1e-6", "completion": "2e-6"}},
            {"tag": "other"},
        ]
    }
}


@contextmanager
def serving(
    pages: Mapping[str, object], headers: Mapping[str, str]
) -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            page = pages.get(self.path.partition("?")[0])
            data = json.dumps(page).encode()
            self.send_response(404 if page is None else 200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:  # type: ignore[explicit-override]
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def asked_at(folder: Path, url: str, **flags: object) -> tuple[Any, Access]:
    config = load_config({"url": url, "key": False, **flags}, Place(folder=folder, environ={}))
    return config, find_access(config, trusted_hosts=(), resolve=lambda *_: ("127.0.0.1",))


def targets_at(folder: Path, url: str, name: str, **flags: object) -> tuple[Target, ...]:
    from datetime import date

    config, access = asked_at(folder, url, **flags)
    listing = offered(config, access, models=(name,))
    return select(config, listing, models=(name,), today=date(2026, 11, 30)).targets


def test_litellms_prices_come_from_beside_its_list(tmp_path):
    pages = {"/v1/models": {"data": [{"id": "m"}]}, "/v1/model/info": LITELLM_INFO}
    with serving(pages, {"x-litellm-version": "1"}) as (url, asked):
        (target,) = targets_at(tmp_path, url, "m")
    assert target.metadata.prices is not None
    assert target.metadata.prices.output_usd == 2e-6
    assert asked == ["/v1/models", "/v1/model/info"]


def test_the_providers_of_a_model_are_asked_for_where_mappings_are_wanted(tmp_path):
    pages = {
        "/v1/models": {"data": [{"id": "a/m"}, {"id": "a/n"}]},
        "/v1/models/a/m/endpoints": ENDPOINTS,
    }
    with serving(pages, {}) as (url, asked):
        every = targets_at(tmp_path, url, "a/m", dialect="openrouter", mapping=("*",))
        plain = targets_at(tmp_path, url, "a/m", dialect="openrouter")
        with pytest.raises(UsageFault, match="did you mean `acme/fp8`"):
            targets_at(tmp_path, url, "a/m", dialect="openrouter", mapping=("acme",))
    assert [target.mapping for target in every] == ["acme/fp8", "other"]
    assert [target.model for target in every] == ["a/m", "a/m"]
    assert every[0].metadata.prices is not None
    assert [target.mapping for target in plain] == [None]
    assert asked.count("/v1/models/a/m/endpoints") == 2


def test_what_is_switched_off_is_asked_for_in_the_gateways_words(tmp_path):
    with serving({"/v1/models": {"data": [{"id": "m"}]}}, {}) as (url, asked):
        targets_at(tmp_path, url, "m", dialect="llmgateway", include_deactivated=True)
    assert asked == ["/v1/models?include_deactivated=true"]


# ---- money --------------------------------------------------------------------------------

FREE = "[models.m]\ninput = 0\noutput = 0\n"


def test_prices_that_the_users_own_catalogue_sets_to_0_make_a_run_free(tmp_path):
    path = written(tmp_path, FREE)
    with paid_endpoint() as endpoint:
        bench = Bench(folder=tmp_path, url=endpoint.url)
        words = ("bench", "m", "--url", endpoint.url, "--api-key-env", KEY, "--quiet")
        case = ("--case", "tool_selection_exact", "--runs", "1")
        refused, _, _ = bench.do(*words, *case)
        code, _, said = bench.do(*words, *case, "--catalogue", str(path))
    assert (refused, code) == (7, 0)
    assert "free run: your catalogue sets its prices to 0" in said


def test_a_catalogue_that_a_worktree_names_makes_nothing_free(tmp_path):
    written(tmp_path, FREE)
    written(tmp_path, '[bench]\ncatalogue = "own.toml"\n', "gateway-bench.toml")
    config = load_config({}, Place(folder=tmp_path, environ={}))
    listing = offered(config, None, models=("m",))
    assert [model.id for model in listing.models] == ["m"]
    (model,) = listing.models
    target = Target(id="m", model="m", model_id="m", display_name="m", metadata=model.metadata)
    assert free_by_catalogue(config, [target]) is None
    typed = load_config({"catalogue": ("own.toml",)}, Place(folder=tmp_path, environ={}))
    assert free_by_catalogue(typed, [target]) == "your catalogue sets its prices to 0"
    assert free_by_catalogue(typed, []) is None


# ---- the command ----------------------------------------------------------------------------


def test_models_lists_a_catalogue_without_a_gateway(tmp_path):
    path = written(tmp_path, OWN)
    bench = Bench(folder=tmp_path, url="")
    code, told, said = bench.do("models", "--catalogue", str(path))
    assert code == 0, said
    detail = told["detail"]
    assert isinstance(detail, dict)
    assert detail["models"][0]["mapping"] == "acme:eu"
    assert detail["models"][0]["from"] == {str(path): ["prices", "context", "deactivatedAt"]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param((), "no gateway and no catalogue to list", id="nothing"),
        pytest.param(("--catalogue", "own.toml", "zzz"), "no model or mapping `zzz`", id="word"),
        pytest.param(
            ("--catalogue", "own.toml", "--mapping", "acma"), "did you mean `acme:eu`", id="mapping"
        ),
    ],
)
def test_models_says_what_is_wrong(tmp_path, words, said):
    written(tmp_path, OWN)
    code, told, _ = Bench(folder=tmp_path, url="").do("models", *words)
    assert code == 2
    assert said in str(told["headline"])


def test_a_gateway_that_gives_no_list_is_no_success(tmp_path):
    bench, nobody = Bench(folder=tmp_path, url=""), "http://127.0.0.1:9"
    code, told, _ = bench.do("models", "--url", nobody)
    assert (code, told["reason"]) == (5, "nothing_listed")
    assert "connection refused" in str(told["headline"])
    written(tmp_path, OWN)
    code, told, said = bench.do("models", "--url", nobody, "--catalogue", "own.toml")
    detail = told["detail"]
    assert isinstance(detail, dict)
    assert (code, len(detail["models"])) == (0, 1)
    assert "no list of models" in said


def test_models_asks_a_gateway_without_a_key_where_none_is_set_and_hides_what_is_off(tmp_path):
    off = {"id": "old", "deactivated_at": "2020-01-01"}
    pages = {"/v1/models": {"data": [{"id": "m"}, off]}}
    with serving(pages, {}) as (url, _):
        bench = Bench(folder=tmp_path, url=url)
        code, told, _ = bench.do("models", "--url", url)
        every, all_told, _ = bench.do("models", "--url", url, "--include-deactivated")
        named, _, _ = bench.do("models", "--url", url, "--api-key-env", "NOT_SET")
    assert (code, every, named) == (0, 0, 2)
    assert "1 deactivated left out" in str(told["headline"])
    assert "2 models" in str(all_told["headline"])
