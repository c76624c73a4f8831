"""Recipes: each is a plan that `configure` takes, its packages exist, and it is found in words of five languages."""

import os
import re

import pytest

from oasis.change.policy import UNREVIEWED
from oasis.parts.memory import recipes
from tests.change.drafting import DEFAULTS
from tests.change.kit import Kit

RECIPES = recipes.every()
NAMES = [one["name"] for one in RECIPES]
# What is on the router when the commands are given, which name it.
FILES = ("usr/lib/sqm/piece_of_cake.qos", "mnt/sda1/readme.txt", "mnt/stick/readme.txt", "etc/openvpn/provider.ovpn")
# What the default configuration of packages begins with that have none in DEFAULTS.
SECTIONS = {"opennds": b"config opennds\n"}


@pytest.fixture
def kit(tmp_path):
    return Kit(tmp_path / "root")


def install(kit, recipe):
    """Give the root the configuration that the recipe's packages bring, and the files that it names."""
    for path in FILES:
        os.makedirs(os.path.dirname(f"{kit.root.folder}/{path}"), exist_ok=True)
        with open(f"{kit.root.folder}/{path}", "w", encoding="utf-8") as file:
            file.write("client\nremote vpn.example.org 1194 udp\n" if path.endswith(".ovpn") else "")
    for package in {re.split(r"[ .]", command)[2] for command in recipe["commands"]}:
        if package not in kit.files.names(kit.root.confdir):
            try:
                with open(DEFAULTS + "/" + package, "rb") as file:
                    kit.write(package, file.read())
            except FileNotFoundError:
                kit.write(package, SECTIONS.get(package, b""))


@pytest.mark.parametrize("recipe", [one for one in RECIPES if one["commands"]], ids=lambda one: one["name"])
def test_the_commands_of_a_recipe_are_planned_as_configure_would(kit, recipe):
    install(kit, recipe)
    plan = kit.plan("\n".join(recipe["commands"]))
    assert not plan["forces"] and not [reason for reason in plan["reasons"] if UNREVIEWED in reason]
    assert len(plan["operations"]) == len(recipe["commands"])


def test_a_wish_for_times_or_the_tunnel_gets_what_fits_it():
    once = " ".join(recipes.found("no internet for the tablet this one evening, parental")[0]["commands"])
    assert "stop_date='2026-12-24T23:00:00'" in once and "utc_time" not in once
    assert recipes.found("route the xbox through the tunnel")[0]["name"] == "split-vpn"


# Which feed each package is from, at the commits of package/options/report.txt.
FEEDS = {
    "packages": "adblock banip ddns-scripts etherwake https-dns-proxy igmpproxy minidlna miniupnpd-nftables "
    "mwan3 nlbwmon openconnect opennds openvpn-openssl p910nd pbr samba4-server sqm-scripts tailscale travelmate "
    "vnstat2 watchcat wifischedule zerotier",
    "luci": "luci-app-adblock luci-app-banip luci-app-ddns luci-app-https-dns-proxy luci-app-minidlna "
    "luci-app-mwan3 luci-app-nlbwmon luci-app-p910nd luci-app-pbr luci-app-samba4 luci-app-sqm "
    "luci-app-statistics luci-app-travelmate luci-app-upnp luci-app-watchcat luci-app-wifischedule "
    "luci-app-wol luci-proto-openconnect luci-proto-wireguard luci-ssl",
    "openwrt": "block-mount kmod-fs-exfat kmod-fs-ext4 kmod-usb-printer kmod-usb-storage wireguard-tools "
    "wpad-mesh-mbedtls",
}


def test_the_packages_of_recipes_exist_and_cover_what_they_configure():
    known = {name for names in FEEDS.values() for name in names.split()}
    assert {name for one in RECIPES for name in one["packages"]} == known


def test_a_recipe_is_short_and_whole():
    assert len(NAMES) == len(set(NAMES)) >= 40
    for one in RECIPES:
        assert re.fullmatch(r"[a-z0-9-]+", one["name"]) and one["title"] and len(one["words"]) >= 3, one["name"]
        assert 20 < len(one["text"]) < 420, one["name"]
        most = 43 if one["name"] == "guest-wifi" else 31  # on both bands
        assert len(one["commands"]) <= most and all(command == command.strip() for command in one["commands"])
        assert not set(one["words"]) & {word for other in RECIPES if other is not one for word in other["words"]}


@pytest.mark.parametrize(
    "query, name",
    [
        ("guest Wi-Fi", "guest-wifi"), ("how do I set up a guest network", "guest-wifi"),
        ("Gäste-WLAN einrichten", "guest-wifi"), ("wifi para invitados", "guest-wifi"),
        ("ゲストWi-Fiを作りたい", "guest-wifi"), ("设置访客网络", "guest-wifi"),
        ("forward port 8080 to my NAS", "port-forward"), ("Portfreigabe für die PlayStation", "port-forward"),
        ("abrir puerto 443", "port-forward"), ("ポート開放", "port-forward"), ("端口映射", "port-forward"),
        ("feste IP für den Drucker", "static-lease"), ("固定IP", "static-lease"), ("VLAN for the cameras", "vlan"),
        ("tagged port", "vlan"), ("DMZ", "dmz"), ("DNS over HTTPS", "dns-over-https"), ("加密DNS", "dns-over-https"),
        ("block ads", "adblock"), ("Werbung blockieren", "adblock"), ("広告をブロックしたい", "adblock"),
        ("block countries", "banip"), ("bufferbloat when uploading", "sqm"), ("ゲームのラグ", "sqm"),
        ("LTE backup when DSL is down", "failover"), ("segunda conexión a internet", "failover"),
        ("wireguard client for a VPN provider", "wireguard-client"), ("WireGuard server", "wireguard-server"),
        ("外出先から家につなぐ", "wireguard-server"), ("my .ovpn file", "openvpn-client"),
        ("hotel wifi", "travel-router"), ("use it as a repeater", "repeater"), ("WLAN verstärken", "repeater"),
        ("802.11s mesh", "mesh"), ("802.11r", "fast-roaming"), ("switch IPv6 off", "ipv6-off"),
        ("IPv6 abschalten", "ipv6-off"), ("关闭IPv6", "ipv6-off"), ("ipv6 relay", "ipv6-relay"),
        ("PPPoE with VLAN 7", "pppoe-vlan"), ("dynamic DNS", "ddns"), ("UPnP for the Xbox", "upnp"),
        ("samba share", "samba"), ("Dateifreigabe", "samba"), ("USB stick", "usb-disk"),
        ("Drucker im Netz", "printer"), ("wake on lan", "wake-on-lan"), ("Kindersicherung", "parental-times"),
        ("control parental", "parental-times"), ("block website", "block-sites"),
        ("dns for one device", "dns-per-device"), ("client isolation", "guest-isolation"),
        ("firewall open port", "open-port"), ("SSH only with key", "ssh-keys-only"), ("HTTPS for LuCI", "luci-https"),
        ("backup", "backup"), ("LEDs off", "led-off"), ("scheduled reboot", "scheduled-reboot"), ("cron job", "cron"),
        ("remote syslog", "remote-syslog"), ("traffic per device", "traffic-statistics"),
        ("captive portal", "captive-portal"), ("IPTV multicast", "iptv"), ("tailscale", "tailscale"),
        ("block internet for a device at certain hours", "parental-times"),
        ("Internet nachts sperren", "parental-times"),
        ("bloquear internet a ciertas horas", "parental-times"), ("夜間はインターネットを止める", "parental-times"),
        ("夜间禁止上网", "parental-times"), ("root password", "root-password"), ("set root password", "root-password"),
        ("Passwort des Routers ändern", "root-password"), ("cambiar la contraseña del router", "root-password"),
        ("管理者パスワードを変えたい", "root-password"), ("修改路由器密码", "root-password"),
        ("openconnect", "openconnect-client"), ("AnyConnect VPN client", "openconnect-client"),
        ("Firmen-VPN einrichten", "openconnect-client"), ("连接公司VPN", "openconnect-client"),
        ("zerotier", "zerotier"), ("dumb AP", "access-point"), ("split tunnel", "split-vpn"),
    ],
)  # fmt: skip
def test_a_recipe_is_found_in_the_words_of_five_languages(query, name):
    found = [one["name"] for one in recipes.found(query)]
    assert found and name == found[0], found
    assert len(found) <= recipes.MOST


def test_what_is_no_job_gets_no_recipe():
    for query in (
        "what did my brother say about the boat",
        "Rechnung vom Mai",
        "network.lan.proto",
        "warum ist der Himmel blau",
    ):
        assert recipes.found(query) == [], query
