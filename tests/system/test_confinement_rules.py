"""The text of the rules: who is fenced in, and which addresses of model services stay open."""

import pytest

from oasis.system import confinement


def opened(*urls):
    lines = [line.strip() for line in confinement.rules([453], list(urls)).splitlines()]
    return [line for line in lines if line.startswith("ip")]


@pytest.mark.parametrize(
    ("url", "rules"),
    [
        ("http://127.0.0.1:11434", ["ip daddr 127.0.0.1 tcp dport 11434 accept"]),
        ("http://192.168.1.1:8080/v1", ["ip daddr 192.168.1.1 tcp dport 8080 accept"]),
        ("http://[fdd9::1]:1234/v1", ["ip6 daddr fdd9::1 tcp dport 1234 accept"]),
        ("http://[FDD9:0:0::1]:1234", ["ip6 daddr fdd9::1 tcp dport 1234 accept"]),
        ("http://[::ffff:10.0.0.1]:81", ["ip daddr 10.0.0.1 tcp dport 81 accept"]),
        ("http://user:word@127.0.0.1:81/v1", ["ip daddr 127.0.0.1 tcp dport 81 accept"]),
        ("HTTP://127.0.0.1:81?x", ["ip daddr 127.0.0.1 tcp dport 81 accept"]),
        (
            "http://LocalHost:8080",
            ["ip daddr 127.0.0.1 tcp dport 8080 accept", "ip6 daddr ::1 tcp dport 8080 accept"],
        ),
    ],
)
def test_a_model_server_is_reached_at_its_exact_address_and_port(url, rules):
    assert opened(url) == rules


@pytest.mark.parametrize("port", ["", ":22", ":80", ":443", ":0", ":65536", ":-1", ":", ":8080x", ":٨٠", ":22 accept"])
def test_management_ports_and_what_is_no_port_stay_closed(port):
    assert opened(f"http://127.0.0.1{port}/v1", f"https://[::1]{port}/v1") == []


@pytest.mark.parametrize(
    "host",
    ["", "router.lan", "api.example.org", "127.1", "0x7f.0.0.1", "127.0.0.1 tcp dport 22 accept", "127.0.0.1\n",
     "1.2.3", "[::1", "[fe80::1%lan]", "127.0.0.1;", "{1.1.1.1}", "\0", "ü"],
)  # fmt: skip
def test_what_is_no_address_opens_nothing(host):
    assert opened(f"http://{host}:8080/v1") == []


def test_a_broken_address_closes_no_other():
    assert opened("", "::::", "http://", "http://127.0.0.1:81") == ["ip daddr 127.0.0.1 tcp dport 81 accept"]


def test_all_users_are_fenced_in_and_nobody_else():
    text = confinement.rules([4531, 4530], [])
    assert text.count("skuid") == 1
    assert "meta skuid { 4530, 4531 } jump worker" in text


def test_the_same_settings_give_the_same_text():
    urls = ["http://127.0.0.1:81", "http://127.0.0.2:82"]
    assert confinement.rules([1, 2], urls) == confinement.rules([2, 1], [*reversed(urls), urls[0]])


def test_it_replaces_itself_in_one_step():
    lines = confinement.rules([1], []).splitlines()
    assert lines[:3] == ["table inet oasis_worker", "delete table inet oasis_worker", "table inet oasis_worker {"]


def test_what_is_not_opened_is_closed_on_every_kind_of_local_address():
    chain = confinement.rules([1], ["http://127.0.0.1:81"]).partition("chain worker {")[2].partition("}\n\tchain")
    last = chain[0].strip().splitlines()[-1].strip()
    assert last == "fib daddr type { local, broadcast, anycast, multicast } jump closed"
    assert chain[2].split("{")[1].strip().splitlines()[0] == "meta l4proto tcp reject with tcp reset"


@pytest.mark.parametrize(
    ("url", "is_let"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://localhost:11434", True),
        ("http://router.lan:8080/v1", False),
        ("https://127.0.0.1/v1", False),
        ("http://192.168.1.1:80/v1", False),
        ("", False),
    ],
)
def test_it_can_be_asked_whether_an_address_of_the_router_is_open(url, is_let):
    assert confinement.lets(url) is is_let
