"""YAML with lines: plain data only, no tags that build objects, no doubled keys.

Truth values are `true` and `false` alone, as in YAML 1.2: a country `no` stays a text.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from bench.errors import UsageFault
from bench.usercases.located import Located, NotReadable, Place

if TYPE_CHECKING:
    import yaml

_MAX_NODES = 200_000
"""Aliases may stand for each other; beyond this the text is a trap, not a file."""
_WORDS_AS_TEXT = frozenset("yYnNoO")
_BOOL, _TIME, _MERGE = (f"tag:yaml.org,2002:{name}" for name in ("bool", "timestamp", "merge"))


def read_yaml(text: str) -> Located:
    """Return the content of a YAML file.

    Raises:
        NotReadable: It is none, or holds what is no plain data.
        UsageFault: The library is not installed.
    """
    try:
        import yaml
    except ImportError as error:
        message = "YAML case files need the package `pyyaml`, which is not installed"
        hint = "`pip install 'gateway-bench[cases]'`, or write the file as TOML"
        raise UsageFault(message, hint=hint) from error
    try:
        node = yaml.compose(text, Loader=_loader())
        builder = _Builder()
        value = None if node is None else builder.build(node, ())
    except yaml.YAMLError as error:
        raise _refusal(error) from error
    except RecursionError as error:
        raise NotReadable("nested too deeply") from error
    return Located(value=value, lines=builder.lines)


@cache
def _loader() -> "type[yaml.SafeLoader]":
    import yaml

    class PlainLoader(yaml.SafeLoader):
        """Resolves what JSON knows: no dates, no `yes` or `off`, no merging."""

    PlainLoader.yaml_implicit_resolvers = {
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if tag not in {_TIME, _MERGE} and not (tag == _BOOL and first in _WORDS_AS_TEXT)
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return PlainLoader


class _Builder:
    """Turns nodes into plain values and notes their lines."""

    def __init__(self) -> None:
        import yaml

        self.lines: dict[Place, int] = {}
        self._count = 0
        self._yaml = yaml
        self._scalars = yaml.constructor.SafeConstructor()

    def build(self, node: "yaml.Node", place: Place) -> Any:  # noqa: ANN401 - any plain value
        """Return the value of ``node``."""
        self._count += 1
        line = node.start_mark.line + 1
        if self._count > _MAX_NODES:
            message = f"more than {_MAX_NODES} values; aliases that stand for each other?"
            raise NotReadable(message, line=line)
        self.lines.setdefault(place, line)
        if isinstance(node, self._yaml.MappingNode):
            return self._mapping(node, place)
        if isinstance(node, self._yaml.SequenceNode):
            return [self.build(one, (*place, n)) for n, one in enumerate(node.value)]
        if node.tag not in self._scalars.yaml_constructors:
            message = f"`{node.tag}` is no plain value"
            raise NotReadable(message, line=line)
        try:
            return self._scalars.construct_object(node)
        except ValueError as error:
            message = f"`{node.value}` can't be read: {error}"
            raise NotReadable(message, line=line) from error

    def _mapping(self, node: "yaml.MappingNode", place: Place) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, self._yaml.ScalarNode):
                message = "a key is a text, not a list or an object"
                raise NotReadable(message, line=line)
            key = key_node.value
            if key in made:
                message = f"`{key}` stands twice"
                raise NotReadable(message, line=line)
            self.lines[(*place, key)] = line
            made[key] = self.build(value_node, (*place, key))
        return made


def _refusal(error: Exception) -> NotReadable:
    """Return the parser's complaint with its line."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    return NotReadable(str(problem), line=None if mark is None else mark.line + 1)
