"""The tool `read_config`: whole packages, single sections, masked secrets, refused packages."""

import pytest

from oasis.errors import ToolError
from oasis.tools.builtin import read_config
from tests.router.stock import HOME, Router

WIREGUARD = """
uci set network.wg0=interface
uci set network.wg0.proto='wireguard'
uci set network.wg0.private_key='private'
uci add network wireguard_wg0
uci set network.@wireguard_wg0[-1].public_key='public'
uci set network.@wireguard_wg0[-1].preshared_key='shared'
uci set network.ppp=interface
uci set network.ppp.username='me'
uci set network.ppp.password='private'
uci set system.ntp.proxy='http://me:private@proxy.example:8080/x'
uci set system.ntp.update='https://ddns.example/u?host=a&token=private&b=1'
uci set system.ntp.armoured='-----BEGIN OPENSSH PRIVATE KEY-----private'
"""


def read(package, section="", before=HOME + WIREGUARD):
    return read_config.run({"package": package, **({"section": section} if section else {})}, Router(before).facts)


def test_whole_package_in_the_order_of_the_file():
    found = read("network")
    assert found["package"] == "network"
    assert list(found["sections"])[:2] == ["loopback", "globals"]
    assert found["sections"]["lan"] == {
        ".type": "interface", "device": "br-lan", "proto": "static", "ipaddr": "192.168.1.1",
        "netmask": "255.255.255.0", "ip6assign": "60",
    }  # fmt: skip


@pytest.mark.parametrize(("section", "name"), [("lan", "lan"), ("@interface[1]", "lan"), ("@interface[-1]", "ppp")])
def test_one_section_by_name_or_position(section, name):
    assert list(read("network", section)["sections"]) == [name]


def test_anonymous_section_says_so():
    section = next(iter(read("system", "@system[0]")["sections"].values()))
    assert section[".anonymous"] is True and section["hostname"] == "OpenWrt"


def test_secrets_are_masked_and_names_are_not():
    network = read("network")["sections"]
    assert network["wg0"]["private_key"] == network["ppp"]["password"] == "********"
    assert network["ppp"]["username"] == "me"
    peer = next(section for section in network.values() if section[".type"] == "wireguard_wg0")
    assert (peer["public_key"], peer["preshared_key"]) == ("public", "********")
    assert read("wireless")["sections"]["default_radio0"]["key"] == "********"
    assert read("uhttpd")["sections"]["main"]["key"] == "/etc/uhttpd.key"
    for package in ("network", "wireless", "system", "rpcd"):
        text = str(read(package))
        assert "'private'" not in text and "the-old-key" not in text and "shared'" not in text and "$p$root" not in text


def test_account_in_an_address_is_masked():
    assert read("system")["sections"]["ntp"]["proxy"] == "http://********@proxy.example:8080/x"


def test_token_in_an_address_and_an_armoured_key_are_masked_whatever_the_option_is_called():
    found = read("system")["sections"]["ntp"]
    assert found["update"] == "https://ddns.example/u?host=a&token=********&b=1"
    assert found["armoured"] == "********"


def test_what_stands_for_a_secret_is_the_run_s_choice():
    def hide(*place):
        return "/".join(str(part) for part in place)

    facts = Router(HOME + WIREGUARD).facts.seen(hide, False)
    found = read_config.run({"package": "network"}, facts)["sections"]
    assert found["wg0"]["private_key"] == "network/wg0/interface/private_key/private"


TEXTS = "texts of the configuration"


def test_texts_of_others_are_marked_and_what_the_system_wrote_is_not():
    assert "untrusted" not in read("luci") and "untrusted" not in read("dropbear")
    assert read("system")["untrusted"] == read("wireless")["untrusted"] == [TEXTS]
    assert "device names" in read("dhcp")["untrusted"]
    joined = HOME + "uci set wireless.default_radio0.mode=sta\n"
    assert "network names" in read("wireless", before=joined)["untrusted"]


def test_a_model_that_did_not_ask_for_texts_of_others_gets_none_and_is_not_marked():
    facts = Router(HOME).facts.seen(lambda *place: "a secret", False)
    found = read_config.run({"package": "wireless"}, facts)
    assert found["sections"]["default_radio0"]["ssid"] == "«text:names=true»" and "untrusted" not in found
    assert found["sections"]["default_radio0"]["encryption"] != "«text:names=true»"
    found = read_config.run({"package": "wireless", "names": True}, facts)
    assert found["sections"]["default_radio0"]["ssid"] == "Home" and found["untrusted"] == [TEXTS]


@pytest.mark.parametrize(
    ("package", "message", "hint"),
    [
        ("oasis", "not readable here", "settings"),
        ("firewal", "no package 'firewal'", "nearest: firewall"),
        ("/etc/config/network", "no package", "nearest"),
        ("../network", "no package", "nearest"),
        ("", "needs the name", "dhcp"),
        (None, "needs the name", "wireless"),
        (["network"], "needs the name", "wireless"),
    ],
)
def test_other_packages_are_refused_with_the_nearest_names(package, message, hint):
    with pytest.raises(ToolError, match=message) as caught:
        read_config.run({"package": package}, Router().facts)
    assert hint in caught.value.hint and "oasis" not in caught.value.hint.split()


@pytest.mark.parametrize("section", ["lann", "@interface[9]", "@interface[-9]", "@nothing[0]", "lan.ipaddr"])
def test_missing_section_names_the_nearest(section):
    with pytest.raises(ToolError, match="has no section") as caught:
        read("network", section)
    assert caught.value.hint.startswith("nearest: ")


@pytest.mark.parametrize("section", ["@interface[%s]" % ("9" * 5000), "@interface[-%s]" % ("9" * 5000)])
def test_an_index_longer_than_any_number_is_no_section(section):
    with pytest.raises(ToolError, match="has no section"):
        read("network", section)
