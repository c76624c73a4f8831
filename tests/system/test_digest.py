"""SHA-256 and HMAC against published examples and the standard library."""

import hashlib
import hmac
import subprocess
import sys

import pytest

from oasis.system.digest import hmac_sha256, is_equal, sha256
from tests.oasisd import REPOSITORY


def test_sha256_gives_the_published_values():
    # Source: FIPS 180-4 examples ("abc" and the empty message).
    assert sha256(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_hmac_gives_the_published_values():
    # Source: RFC 4231, test cases 1 and 6 (a key longer than a block).
    assert hmac_sha256(b"\x0b" * 20, b"Hi There") == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    data = b"Test Using Larger Than Block-Size Key - Hash Key First"
    assert hmac_sha256(b"\xaa" * 131, data) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"


@pytest.mark.parametrize("size", [0, 1, 31, 32, 63, 64, 65, 200])
def test_hmac_equals_the_standard_librarys_for_every_length_of_key(size):
    key, data = b"\x5c" * size, b"data" * size
    assert hmac_sha256(key, data) == hmac.new(key, data, hashlib.sha256).hexdigest()


def test_texts_are_equal_only_when_they_are():
    assert is_equal("abc", "abc")
    assert is_equal("", "")
    for other in ("abd", "Abc", "ab", "abcd", "", "äbc", "\ud800bc"):
        assert not is_equal("abc", other)
        assert not is_equal(other, "abc")


def test_no_library_for_cryptography_is_loaded():
    code = (
        f"import sys; sys.path.insert(0, {REPOSITORY!r}); import oasis.system.digest; print('_hashlib' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-IS", "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "False\n"
