"""Whether two names of a provider, or of a model, mean the same one.

Providers are compared by their letters and digits: `Google AI Studio` is `google-ai-studio`. Of a
model, a version (a date, `001`, `v1`, `latest`, `preview`, `instruct`) may be left out on one side;
anything else (`mini`, `-5`, another date) makes it another model.
"""

import re

_NO_LETTER = re.compile(r"[^a-z0-9]+")
_VENDOR = re.compile(r"^(?:[a-z][a-z-]*\.)+(?=[a-z])")
"""`us.anthropic.` before the name that Bedrock has for a model."""
_VERSION = (
    r"(?:-(?:\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{2}-\d{2}|\d{8}|\d{6}|\d{4}|\d{3}"
    r"|v\d+(?:-\d+)?|latest|preview|exp|instruct|chat|it))+"
)
_IS_VERSION = re.compile(_VERSION)


def same_provider(one: str, other: str) -> bool:
    """Return whether two spellings name one provider; what follows `/` or `:` is its variant."""
    return _letters(one) == _letters(other)


def _letters(provider: str) -> str:
    return _NO_LETTER.sub("", re.split(r"[/:]", provider.strip().lower(), maxsplit=1)[0])


def same_region(one: str, other: str) -> bool:
    """Return whether two spellings name one region."""
    return _NO_LETTER.sub("", one.lower()) == _NO_LETTER.sub("", other.lower())


def same_model(asked: str, served: str) -> bool:
    """Return whether ``served`` may be the model that was ``asked`` for."""
    (one, its_tag), (other, other_tag) = _split(asked), _split(served)
    if its_tag and other_tag and its_tag != other_tag:
        return False
    if one == other:
        return True
    longer, shorter = (other, one) if len(other) > len(one) else (one, other)
    if not shorter or not longer.startswith(shorter):
        return False
    return _IS_VERSION.fullmatch(longer[len(shorter) :]) is not None


def _split(model: str) -> tuple[str, str]:
    """Return the comparable name, and what follows its colon (a region, a tag)."""
    name, _, tag = model.strip().lower().rpartition("/")[2].partition(":")
    name = _VENDOR.sub("", name)
    return re.sub(r"[._@\s]+", "-", name).strip("-"), tag
