"""Which options hold a secret."""

import pytest

from oasis.change.secrets import MASK, is_secret, mask


@pytest.mark.parametrize(
    ("package", "kind", "option"),
    [
        ("wireless", "wifi-iface", "key"),
        ("wireless", "wifi-iface", "key1"),
        ("wireless", "wifi-iface", "key4"),
        ("wireless", "wifi-iface", "sae_password"),
        ("wireless", "wifi-iface", "auth_secret"),
        ("wireless", "wifi-iface", "r0kh"),
        ("wireless", "wifi-station", "key"),
        ("network", "interface", "password"),
        ("network", "interface", "private_key"),
        ("network", "wireguard_wg0", "preshared_key"),
        ("network", "interface", "pincode"),
        ("rpcd", "login", "password"),
        ("ddns", "service", "password"),
        ("snmpd", "com2sec", "community"),
        ("anything", "at_all", "api_key"),
        ("anything", "at_all", "Secret"),
        ("anything", "at_all", "bot_token"),
        ("oasis", "service", "key"),
    ],
)
def test_secret(package, kind, option):
    assert is_secret(package, kind, option)


@pytest.mark.parametrize(
    ("package", "kind", "option"),
    [
        ("network", "interface", "username"),
        ("network", "wireguard_wg0", "public_key"),
        ("wireless", "wifi-iface", "ssid"),
        ("wireless", "wifi-iface", "encryption"),
        ("uhttpd", "uhttpd", "key"),
        ("uhttpd", "cert", "key_type"),
        ("dropbear", "dropbear", "PasswordAuth"),
        ("dropbear", "dropbear", "RootPasswordAuth"),
        ("system", "system", "hostname"),
        ("firewall", "rule", "src_mac"),
    ],
)
def test_no_secret(package, kind, option):
    assert not is_secret(package, kind, option)


def test_mask_keeps_the_shape_and_tells_no_length():
    assert mask("a") == mask("a" * 60) == MASK
    assert mask(["a", "bb"]) == [MASK, MASK]
