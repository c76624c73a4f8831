"""Check that an answer holds embeddings: lists of finite numbers, all of one length. Knows no vendor's format."""

from __future__ import annotations

import base64
import binascii
import struct

from oasis.errors import UsageError
from oasis.providers import wire

NUMBERS = 8192  # of one vector; the longest today have 4096

Made = tuple[list[list[float]], dict[str, object]]  # vectors, and the counts of tokens as events.usage takes them


def asked(texts: list[str], most: int, options: wire.Options) -> list[str]:
    """Return the texts to embed.

    Raises: UsageError for none, more than the service takes at once, or an empty one.
    """
    label = wire.label_of(options)
    if not 1 <= len(texts) <= most:
        raise UsageError(f"{label} embeds 1 to {most} texts at once, these are {len(texts)}", "ask in several steps")
    if not all(text.strip() for text in texts):
        raise UsageError(f"{label} cannot embed an empty text", "leave empty texts out")
    return texts


def read(values: object, options: wire.Options) -> list[list[float]]:
    """Return embeddings as lists of numbers; base64 is that of little-endian 32-bit numbers.

    Raises: ProviderError when they are none.
    """
    vectors = [_vector(value, options) for value in values] if isinstance(values, list) else []
    if not vectors or len({len(vector) for vector in vectors}) > 1:
        raise wire.bad_answer(options, "it holds no embeddings of one length")
    return vectors


def part(answer: object, *names: str) -> dict[str, object]:
    """Return an object inside an answer by the names that lead to it, {} where there is none."""
    for name in names:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer if isinstance(answer, dict) else {}


def _vector(value: object, options: wire.Options) -> list[float]:
    numbers = _packed(value) if isinstance(value, str) else value
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= NUMBERS:
        raise wire.bad_answer(options, "an embedding is no list of numbers")
    if not all(_is_finite(number) for number in numbers):
        raise wire.bad_answer(options, "an embedding holds what is no number")
    return [float(number) for number in numbers]


def _is_finite(number: object) -> bool:
    return isinstance(number, (int, float)) and not isinstance(number, bool) and -1e38 < number < 1e38


def _packed(text: str) -> list[float]:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return []
    return list(struct.unpack(f"<{len(raw) // 4}f", raw)) if len(raw) % 4 == 0 else []
