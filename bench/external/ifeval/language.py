"""Which language a text is in. The same text has the same answer, every time and everywhere.

The detector is `langdetect`, which the published program uses too; left alone it draws its
samples at random, so that short texts change their language from call to call. Here every
detection starts from one seed.
"""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langdetect.detector_factory import DetectorFactory

_SEED = 0

LANGUAGES = frozenset(
    (
        *("ar", "bg", "bn", "de", "en", "es", "fa", "fi", "fr", "gu", "he", "hi", "it", "ja", "kn"),
        *("ko", "ml", "mr", "ne", "pa", "pl", "pt", "ru", "sw", "ta", "te", "th", "uk", "ur", "vi"),
    )
)
"""ISO 639-1 codes that an instruction may ask for."""


def is_in_language(text: str, code: str) -> bool:
    """Return whether ``text`` is in the language; text without any letter counts as being in it."""
    from langdetect.lang_detect_exception import LangDetectException

    detector = _factory().create()
    detector.append(text)
    try:
        return bool(detector.detect() == code)
    except LangDetectException:
        return True


def load() -> None:
    """Load the profiles of all languages now, which takes half a second.

    Raises:
        ImportError: The optional package is not installed.
    """
    _factory()


@cache
def _factory() -> "DetectorFactory":
    from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory

    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    factory.set_seed(_SEED)
    return factory
