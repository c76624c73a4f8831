"""Which options hold a secret."""

import subprocess
import sys

import pytest

from oasis.catalogue import entries
from oasis.redaction.secret_options import MASK, is_secret, mask
from tests.change.drafting import TOP


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
        ("snmpd", "v3", "privacy_pass"),
        ("snmpd", "trapsess", "trapsess"),
        ("acme", "cert", "credentials"),
        ("network", "interface", "updatekey"),
        ("transmission", "transmission", "rpc_password"),
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
        ("luci", "extern", "passwd"),  # the file to keep, /etc/passwd
        ("firewall", "rule", "src_mac"),
    ],
)
def test_no_secret(package, kind, option):
    assert not is_secret(package, kind, option)


def test_mask_keeps_the_shape_and_tells_no_length():
    assert mask("a") == mask("a" * 60) == MASK
    assert mask(["a", "bb"]) == [MASK, MASK]


def every_option():
    for package in entries.packages():
        for kind, whole in entries.types(package).items():
            for option in whole["options"]:
                if option != "*":
                    yield package, kind, option


def test_what_the_catalogue_marks_secret_is_masked_and_what_it_marks_otherwise_is_shown():
    seen = 0
    for package, kind, option in every_option():
        mark = entries.mark(package, kind, option)
        if mark != "exec":
            assert is_secret(package, kind, option) == mark.startswith("secret:"), (package, kind, option)
            seen += mark.startswith("secret:")
    assert seen >= 50


def test_no_option_that_sounds_secret_is_marked_plain_by_mistake():
    sounding = ("password", "passwd", "secret", "_psk", "pincode", "private_key", "token", "community", "_pass", "_pin")
    known = {
        ("dropbear", "PasswordAuth"),
        ("dropbear", "RootPasswordAuth"),
        ("system", "gpio_pin"),
        ("smartdns", "spki_pin"),
    }
    for package, kind, option in every_option():
        if option.lower().endswith(sounding) and (package, option) not in known:
            assert entries.mark(package, kind, option) == "exec" or is_secret(package, kind, option), (kind, option)


def test_an_option_of_an_unknown_package_is_judged_by_its_name():
    assert is_secret("mosquitto_like", "listener", "password")
    assert not is_secret("mosquitto_like", "listener", "port")


def test_asking_costs_little_memory():
    """Two packages are kept, and the largest two are the worst case."""
    code = "import resource as r; from oasis.catalogue import entries; from oasis.redaction import secret_options\n"
    code += "secret_options.is_secret('x', 'y', 'z'); a = r.getrusage(r.RUSAGE_SELF).ru_maxrss\n"
    code += "[secret_options.is_secret(p, 'interface', 'password') for p in"
    code += " entries.packages() + ['wireless', 'network']]\n"
    code += "print(r.getrusage(r.RUSAGE_SELF).ru_maxrss - a)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", "import sys; sys.path.insert(0, '.')\n" + code], cwd=TOP,
                          capture_output=True, text=True, timeout=60, check=True)  # fmt: skip
    assert int(done.stdout) < 2048  # KiB, at the peak
