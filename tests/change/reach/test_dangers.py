"""What a change breaks for whoever is not connected: SSH without keys, servers that wait for an interface for ever."""

import base64

import pytest

from oasis.change.reach import listeners
from oasis.change.reach.verdict import dangers, verdict
from tests.change.reach import corpus
from tests.change.reach.corpus import rule
from tests.change.reach.test_corpus import apply, facts_of, files_of


def key(kind="ssh-ed25519", size=32, comment="me"):
    data = len(kind).to_bytes(4, "big") + kind.encode() + size.to_bytes(4, "big") + bytes(size)
    return f"{kind} {base64.b64encode(data).decode()} {comment}\n".encode()


GOOD, ECDSA, DSA = key(), key("ecdsa-sha2-nistp256", 65), key("ssh-dss", 400)
KEYS = [
    (b"", "no"), (b"\n# nothing\n", "no"), (GOOD, "yes"), (key("ssh-rsa", 260), "yes"), (DSA, "no"), (ECDSA, "unknown"),
    (key("ssh-rsa", 60), "no"), (b"#" + GOOD, "no"), (GOOD[:40], "no"), (GOOD.replace(b"AAAA", b"BAAA"), "no"),
    (b"ssh-ed25519\n", "no"), (b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n", "no"),
    (b"---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n", "no"), (b'command="date" ' + GOOD, "unknown"),
    (DSA + ECDSA + GOOD, "yes"), (b"x" * 5000 + b" " + GOOD, "no"), (b"\xff\x00 " + DSA, "no"), (None, "unknown"),
    (b"ssh-rsa " + GOOD.split()[1] + b"\n", "no"),
]  # fmt: skip


@pytest.mark.parametrize("text, answer", KEYS)
def test_only_a_key_that_dropbear_reads_counts(text, answer):
    assert listeners.readable_keys(text) == answer


OFF = [
    "set dropbear.main.PasswordAuth=off",
    "set dropbear.main.RootPasswordAuth=0",
    "set dropbear.main.PasswordAuth=0\nset dropbear.main.Port=2222",
]


@pytest.mark.parametrize("change", OFF)
@pytest.mark.parametrize("keys, state", [(b"", "no"), (DSA, "no"), (ECDSA, "cannot_tell"), (GOOD, "cannot_tell")])
def test_passwords_go_off_for_who_is_here_by_ssh(change, keys, state):
    before = files_of("stock")
    found = {**facts_of("usual", "stock"), "keys": keys}
    answer = verdict(before, apply(before, change), [corpus.PATHS["ssh"]], found)
    assert answer["verdict"] == state
    assert listeners.KEYS_FILE in answer["reasons"][0] or keys == GOOD


@pytest.mark.parametrize("change", OFF)
def test_passwords_that_go_off_without_a_key_are_a_danger_for_who_is_here_by_the_page(change):
    before = files_of("stock")
    after = apply(before, change)
    assert "nobody can log in by SSH" in dangers(before, after, {"keys": b""})[0]
    assert "may not read" in dangers(before, after, {"keys": ECDSA})[0]
    assert "whether you hold a key is not known" in dangers(before, after, {})[0]
    assert dangers(before, after, {"keys": GOOD}) == []
    assert dangers(after, before, {"keys": b""}) == []


def test_each_instance_is_judged_for_itself_and_root_without_a_login_is_told_with_any_key():
    second = "set dropbear.second=dropbear\nset dropbear.second.Port=2222\n"
    before = apply(files_of("stock"), second)
    (found,) = dangers(before, apply(before, "set dropbear.second.PasswordAuth=0"), {"keys": b""})
    assert found.startswith("dropbear.second.PasswordAuth goes off")
    (found,) = dangers(before, apply(before, "set dropbear.main.RootLogin=0"), {"keys": GOOD})
    assert "root cannot log in by SSH then" in found
    assert dangers(before, apply(before, "set dropbear.second.PasswordAuth=0\nset dropbear.second.enable=0"), {}) == []


LAN_22 = ("src=lan", "proto=tcp", "dest_port=22")
SILENT = [
    "set dropbear.main.enable=0", "delete dropbear.main", "set dropbear.main.Port=0", "set dropbear.main.Interface=wan",
    rule(*LAN_22, "target=DROP"), rule("src=lan", "proto=tcp", "target=REJECT"),
    rule("src=lan", "src_dport=22", "dest_ip=192.168.1.50", "dest_port=22", "proto=tcp", kind="redirect"),
]  # fmt: skip
HEARD = [
    "set dropbear.main.Port=2222", "set dropbear.main.Interface=lan", "set network.lan.ipaddr=192.168.7.1",
    rule(*LAN_22, "src_ip=192.168.1.50", "target=DROP"), rule("src=wan", "proto=tcp", "dest_port=22", "target=DROP"),
    rule(*LAN_22, "target=DROP") + "\n" + "set firewall.@rule[-1].enabled=0",
    "set dropbear.second=dropbear\nset dropbear.second.Port=2222\nset dropbear.main.enable=0",
]  # fmt: skip


@pytest.mark.parametrize("change", SILENT)
def test_ssh_that_answers_no_more_at_home_is_told_once_and_only_where_it_did(change):
    before, found = files_of("stock"), facts_of("usual", "stock")
    after = apply(before, change)
    (told,) = dangers(before, after, found)
    assert told == "SSH will no longer answer in the network lan"
    assert dangers(after, before, found) == dangers(after, after, found) == []


@pytest.mark.parametrize("change", HEARD)
def test_ssh_that_still_answers_somewhere_at_home_is_no_danger(change):
    before = files_of("stock")
    assert dangers(before, apply(before, change), facts_of("usual", "stock")) == []


BOUND = "set dropbear.main.%s=lan\n"
GONE = [
    ("set network.lan.disabled=1", ""), ("set network.lan.auto=0", ""), ("delete network.lan", ""),
    ("rename network.lan=home", ""), ("delete network.lan.ipaddr\nset network.lan.ipaddr=nonsense", ""),
    ("set dropbear.main.%s=attic", "attic"),
]  # fmt: skip


@pytest.mark.parametrize("option", ["Interface", "DirectInterface"])
@pytest.mark.parametrize("change, name", GONE)
def test_dropbear_that_waits_for_an_interface_for_ever_is_told_and_never_a_yes(option, change, name):
    before = apply(files_of("stock"), BOUND % option)
    after = apply(before, change % option if "%s" in change else change)
    (found,) = dangers(before, after, facts_of("usual", "stock"))
    assert found == f"dropbear.main does not start at boot: {option} {name or 'lan'} is not there or stays down"
    for way in ("ssh", "web"):
        answer = verdict(before, after, [corpus.PATHS[way]], facts_of("usual", "stock"))
        assert (answer["verdict"] == "yes") <= (way == "web"), answer
    assert dangers(after, after, {}) == []


def test_dropbear_on_an_interface_without_an_address_is_no_yes():
    before = apply(files_of("stock"), BOUND % "Interface" + "set network.bare=interface\nset network.bare.proto=none\n"
                   "set network.bare.device=eth7")  # fmt: skip
    after = apply(before, "set dropbear.main.Interface=bare")
    answer = verdict(before, after, [corpus.PATHS["ssh"]], facts_of("usual", "stock"))
    assert answer["verdict"] == "cannot_tell" and "has no address" in answer["reasons"][0]


def test_a_page_on_an_address_that_goes_away_is_told():
    before = apply(files_of("stock"), "set uhttpd.second=uhttpd\nadd_list uhttpd.second.listen_http=192.168.1.1:8080\n"
                   "add_list uhttpd.second.listen_http=[fe80::1]:8080")  # fmt: skip
    (found,) = dangers(before, apply(before, "set network.lan.ipaddr=192.168.7.1"), {})
    assert found.startswith("uhttpd.second.listen_http 192.168.1.1:8080: the router has no such address then")
    (found,) = dangers(before, apply(before, "add_list uhttpd.main.listen_http=192.168.5.1:80"), {})
    assert "192.168.5.1:80" in found
    assert dangers(before, apply(before, "set network.lan.netmask=255.255.0.0"), {}) == []


@pytest.mark.parametrize(
    "source, state", [("fd8c:fe35:ec99::8e", "cannot_tell"), ("fd8c:fe35:ec99:0:d63b:4ff:fe9e:652a", "yes")]
)
def test_another_own_prefix_is_a_yes_only_for_an_address_that_no_hand_set(source, state):
    before = files_of("stock")
    after = apply(before, "set network.globals.ula_prefix=fd11:2233:4455::/48")
    way = {**corpus.PATHS["web6"], "source": source}
    answer = verdict(before, after, [way], facts_of("usual", "stock"))
    assert answer["verdict"] == state, answer
