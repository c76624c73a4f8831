"""Keys of WireGuard are those of RFC 7748, and of wg(8) where it is here."""

import shutil
import subprocess

import pytest

from oasis.parts.admin import x25519

pytestmark = pytest.mark.part("admin")


def multiplied(scalar, point):
    return x25519.multiplied(bytes.fromhex(scalar), bytes.fromhex(point)).hex()


def test_the_vectors_of_the_rfc():
    """RFC 7748, 5.2."""
    assert multiplied(
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
    ) == "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"  # fmt: skip
    assert multiplied(
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
    ) == "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"  # fmt: skip
    scalar = point = b"\x09" + bytes(31)
    for number in range(1000):
        scalar, point = x25519.multiplied(scalar, point), scalar
        if number == 0:
            assert scalar.hex() == "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"
    assert scalar.hex() == "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"


def test_a_new_key_is_clamped_and_no_other_than_the_last():
    keys = {x25519.generate() for _ in range(20)}
    assert len(keys) == 20
    for key in keys:
        raw = x25519.decoded(key)
        assert len(raw) == 32 and not raw[0] & 7 and raw[31] & 0xC0 == 0x40


@pytest.mark.skipif(not shutil.which("wg"), reason="apt-get install wireguard-tools")
def test_wg_has_the_same_public_key():
    for _ in range(5):
        key = x25519.generate()
        done = subprocess.run(["wg", "pubkey"], input=key, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == x25519.public(key)


@pytest.mark.parametrize(
    "text",
    ["", "phone", "A" * 43 + "=", "B" * 44, "A" * 42 + "B=", "é" * 44, "=" * 44, "AAAA", " " + "C" * 43 + "="],
)
def test_what_is_no_key_is_none(text):
    assert not x25519.decoded(text) and not x25519.public(text)
