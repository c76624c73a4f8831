"""Six digits: the codes of the RFCs, each good once, few tries; and the pairing code."""

import base64

import pytest

from oasis.errors import PolicyError, UsageError
from oasis.parts.telegram.people import (
    PAIR_S,
    PAUSE_S,
    STEP_S,
    TRIES,
    WRONG,
    Codes,
    Pairing,
    decoded,
    encoded,
    is_code,
    totp,
    uri,
)
from oasis.system.digest import hmac_sha1

RFC = b"12345678901234567890"
NOW = 1_795_305_600


class Bench:
    """Codes at a time set by hand; `kept` is what is on flash."""

    def __init__(self, kept=None):
        self.now, self.is_trusted, self.writes = NOW, True, 0
        self.kept = {} if kept is None else kept
        self.secret = encoded(RFC)
        self.codes = Codes(lambda: self.secret, self.kept, self.keep, lambda: self.now, lambda newest: self.is_trusted)

    def keep(self):
        self.writes += 1

    def code(self, steps=0):
        return totp(RFC, self.now // STEP_S + steps)

    def is_good(self, code):
        try:
            self.codes.use(code)
        except PolicyError:
            return False
        return True


# RFC 2202 section 3.
@pytest.mark.parametrize(
    "key, data, expected",
    [
        (b"\x0b" * 20, b"Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
        (b"Jefe", b"what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (b"\xaa" * 20, b"\xdd" * 50, "125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
        (b"\xaa" * 80, b"Test Using Larger Than Block-Size Key - Hash Key First",
         "aa4ae5e15272d00e95705637ce8a3b55ed402112"),
    ],
)  # fmt: skip
def test_the_mac_is_that_of_rfc_2202(key, data, expected):
    assert hmac_sha1(key, data).hex() == expected


# RFC 4226 appendix D.
def test_the_codes_are_those_of_rfc_4226():
    expected = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]
    assert [totp(RFC, counter) for counter in range(10)] == expected


# RFC 6238 appendix B, SHA-1.
@pytest.mark.parametrize(
    "when_s, expected",
    [(59, "94287082"), (1111111109, "07081804"), (1111111111, "14050471"), (1234567890, "89005924"),
     (2000000000, "69279037"), (20000000000, "65353130")],
)  # fmt: skip
def test_the_codes_are_those_of_rfc_6238(when_s, expected):
    assert totp(RFC, when_s // STEP_S, 8) == expected
    assert totp(RFC, when_s // STEP_S) == expected[-6:]


@pytest.mark.parametrize("size", range(1, 33))
def test_base32_is_that_of_others(size):
    data = bytes(range(size))
    assert encoded(data) == base64.b32encode(data).decode().rstrip("=")
    assert decoded(encoded(data)) == decoded(encoded(data).lower()) == data


def test_what_is_no_base32_is_named():
    with pytest.raises(UsageError, match="no base32"):
        decoded("A1")


def test_a_code_is_good_in_its_window_and_once():
    bench = Bench()
    for steps in (-2, 2, 5):
        assert not bench.is_good(bench.code(steps)), steps
    assert bench.is_good(bench.code(-1))
    assert not bench.is_good(bench.code(-1))
    assert bench.is_good(bench.code())
    assert not bench.is_good(bench.code(-1))  # an older one than was used
    assert bench.is_good(bench.code(1))
    assert not bench.is_good(bench.code())


def test_a_code_that_was_used_is_not_good_after_a_restart():
    bench = Bench()
    code = bench.code()
    assert bench.is_good(code) and bench.writes == 1
    assert not Bench(bench.kept).is_good(code)


def test_wrong_codes_make_a_pause_and_each_pause_is_longer():
    bench = Bench()
    for expected_s in (PAUSE_S, 2 * PAUSE_S, 4 * PAUSE_S):
        for _ in range(WRONG):
            assert not bench.is_good("000000")
        bench.now += expected_s - 1
        assert not bench.is_good(bench.code()), "the pause is not over"
        bench.now += 2
    assert bench.is_good(bench.code())
    assert bench.kept["wrong"] == bench.kept["pauses"] == 0


def test_a_pause_outlives_a_restart():
    bench = Bench()
    for _ in range(WRONG):
        bench.is_good("000000")
    assert not Bench(bench.kept).is_good(bench.code())


@pytest.mark.parametrize("code", ["", "12345", "1234567", "12345x", "٠١٢٣٤٥", "      "])
def test_what_is_no_code_is_wrong(code):
    assert not Bench().is_good(code)


def test_without_a_clock_or_a_secret_no_code_is_judged():
    bench = Bench()
    bench.is_trusted = False
    with pytest.raises(PolicyError, match="clock"):
        bench.codes.use(bench.code())
    bench.is_trusted, bench.secret = True, ""
    with pytest.raises(PolicyError, match="no secret"):
        bench.codes.use(bench.code())
    assert bench.kept == {}  # neither was a try


def test_what_a_person_types_is_a_code():
    assert is_code("123456") and is_code(" 123 456 ")
    for text in ("12345", "1234567", "12 34 56 7", "abcdef", "123 4 5 6 7", "/123456", "192.168", "१२३४५६"):
        assert not is_code(text), text


def test_an_authenticator_reads_the_link():
    link = uri(encoded(RFC), "my attic/é")
    assert link.startswith("otpauth://totp/Oasis:my-attic--?secret=GEZDGNBV")
    assert link.endswith("&issuer=Oasis&algorithm=SHA1&digits=6&period=30")


# Pairing


def opened(role="owner"):
    now = [100.0]
    pairing = Pairing(lambda: now[0], lambda size: bytes(range(7, 7 + size)))
    return pairing, pairing.open(role)[0], now


def test_a_pairing_code_is_good_once_and_as_people_type_it():
    pairing, code, _ = opened()
    assert len(code) == 8 and not set(code) & set("01IO")
    assert pairing.take("hello there", True) == pairing.take(code[:7], True) == ""
    assert pairing.take(" %s-%s " % (code[:4].lower(), code[4:].lower()), True) == "owner"
    assert pairing.take(code, True) == ""
    assert not pairing.is_open()


def test_after_a_few_wrong_ones_the_code_is_good_for_nobody():
    pairing, code, _ = opened()
    for _ in range(TRIES):
        assert pairing.take("AAAABBBB", True) == "wrong"
    assert pairing.take(code, True) == ""


def test_after_ten_minutes_the_code_is_good_for_nobody():
    pairing, code, now = opened()
    now[0] += PAIR_S + 1
    assert pairing.take(code, True) == ""


def test_a_new_code_ends_the_one_before():
    pairing, code, _ = opened()
    again = Pairing(lambda: 100.0, lambda size: bytes(size))
    assert pairing.open("guest")[0] == code  # the dice of this test fall as before
    assert pairing.take(code, True) == "guest"
    assert again.take(code, True) == ""


def test_an_owner_s_code_in_a_group_is_used_up_and_lets_nobody_in():
    pairing, code, _ = opened()
    assert pairing.take(code, False) == "wrong"
    assert pairing.take(code, True) == ""
    pairing, code, _ = opened("guest")
    assert pairing.take(code, False) == "guest"
