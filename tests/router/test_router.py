"""The stock router stand-in itself: root, init scripts, ubus program."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time

import pytest

from oasis.uci import model

HERE = os.path.dirname(os.path.abspath(__file__))
SERVICES = sorted(os.listdir(os.path.join(HERE, "root/etc/init.d")))
PACKAGES = sorted(os.listdir(os.path.join(HERE, "root/etc/config")))
SHELLS = [[name] for name in ("dash", "bash") if shutil.which(name)]
SHELLS += [["busybox", "ash"]] if shutil.which("busybox") else []


def load(name):
    spec = importlib.util.spec_from_file_location("router_" + name, os.path.join(HERE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


confread = load("confread")


@pytest.fixture
def root(tmp_path):
    return load("copy").copy_root(tmp_path / "router")


def ubus(root, *words):
    env = {"PATH": os.path.dirname(sys.executable) + ":/usr/bin:/bin", "OASIS_ROOT": root}
    done = subprocess.run([os.path.join(HERE, "bin/ubus"), *words], env=env, capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout, done.stderr


def call(root, *words):
    status, out, err = ubus(root, "-S", "call", *words)
    assert (status, err) == (0, "")
    return json.loads(out) if out else None


def init(root, service, action, shell=()):
    path = os.path.join(root, "etc/init.d", service)
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    return subprocess.run([*shell, path, action], env=env, capture_output=True, text=True, timeout=30)


def log(root):
    path = os.path.join(root, "var/log/services.log")
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [line.split(" ", 1)[1].strip() for line in file]


def edit(root, package, old, new):
    path = os.path.join(root, "etc/config", package)
    with open(path) as file:
        text = file.read()
    assert old in text
    with open(path, "w") as file:
        file.write(text.replace(old, new))


def fault(root, service, text):
    with open(os.path.join(root, "var/run/faults", service), "w") as file:
        file.write(text + "\n")


def interface(root, name):
    return {entry["interface"]: entry for entry in call(root, "network.interface", "dump")["interface"]}[name]


# the root


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_written_as_libuci_writes_them(package):
    with open(os.path.join(HERE, "root/etc/config", package)) as file:
        text = file.read()
    written = ""
    for section in confread.sections(text):
        written += "\nconfig {}{}\n".format(
            section[".type"], "" if section[".anonymous"] else " '{}'".format(section[".name"])
        )
        for name, value in section.items():
            for item in value if isinstance(value, list) else [value]:
                if not name.startswith("."):
                    written += "\t{} {} '{}'\n".format("list" if isinstance(value, list) else "option", name, item)
    assert text == written + "\n"


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_what_oasis_writes_back(package):
    with open(os.path.join(HERE, "root/etc/config", package), "rb") as file:
        data = file.read()
    parsed = model.parse(data, package)
    assert model.file_text(parsed) == data
    assert [section[".name"] for section in confread.sections(data.decode())] == [s.name for s in parsed.sections]


def test_shipped_oasis_package_is_the_one_of_the_root():
    shipped = os.path.join(HERE, "../../files/etc/config/oasis")
    with open(shipped) as one, open(os.path.join(HERE, "root/etc/config/oasis")) as other:
        assert one.read() == other.read()


def test_anonymous_sections_have_libuci_names():
    # recorded: dnsmasq's generated file on a stock router is named after its section
    found = confread.read(os.path.join(HERE, "root/etc/config/dhcp"))
    assert found[0][".name"] == "cfg01411c"


def test_uci_words_are_read_with_their_quotes():
    text = "package x\nconfig t n # note\n\toption a 'it'\\''s'\n"
    text += '\toption b "two\\"lines\nmore"\n\tlist c d#e\n\tlist c f\n'
    assert confread.sections(text) == [
        {
            ".anonymous": False,
            ".type": "t",
            ".name": "n",
            ".index": 0,
            "a": "it's",
            "b": 'two"lines\nmore',
            "c": ["d", "f"],
        }
    ]


def test_copy_has_the_modes_of_a_router_and_nothing_staged(root):
    assert os.stat(os.path.join(root, "etc/config/wireless")).st_mode & 0o777 == 0o600
    assert os.stat(os.path.join(root, "etc/init.d/network")).st_mode & 0o777 == 0o755
    assert os.listdir(os.path.join(root, "tmp/.uci")) == []
    assert os.path.islink(os.path.join(root, "etc/rc.d/S20network"))


def test_leases_name_four_devices():
    with open(os.path.join(HERE, "root/tmp/dhcp.leases")) as file:
        leases = [line.split() for line in file]
    assert [len(words) for words in leases] == [5] * 4
    assert len({words[1] for words in leases}) == len({words[2] for words in leases}) == 4


# the init scripts


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize("service", SERVICES)
def test_scripts_start_and_stop_under_every_shell(root, service, shell):
    assert init(root, service, "stop", shell).returncode == 0
    assert init(root, service, "status", shell).stdout == "inactive\n"
    done = init(root, service, "start", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert init(root, service, "status", shell).returncode == 0
    assert log(root) == [service + " stop", service + " start"]


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_scripts_are_shellcheck_clean():
    top = os.path.join(HERE, "../..")
    names = ["tests/router/root/etc/init.d/" + name for name in SERVICES]
    names += ["tests/router/root/etc/rc.common", "tests/router/bin/ubus"]
    done = subprocess.run(["shellcheck", "-x", *names], cwd=top, capture_output=True, text=True)
    assert done.stdout == ""


def test_reload_makes_the_configuration_the_running_one(root):
    edit(root, "system", "'OpenWrt'", "'attic'")
    assert call(root, "system", "board")["hostname"] == "OpenWrt"
    assert init(root, "system", "reload").returncode == 0
    assert call(root, "system", "board")["hostname"] == "attic"


def test_reload_replaces_the_process_only_when_something_changed(root):
    before = call(root, "service", "list")["dropbear"]["instances"]["instance1"]["pid"]
    init(root, "dropbear", "reload")
    assert call(root, "service", "list")["dropbear"]["instances"]["instance1"]["pid"] == before
    edit(root, "dropbear", "Port '22'", "Port '2222'")
    init(root, "dropbear", "reload")
    after = call(root, "service", "list")["dropbear"]["instances"]["instance1"]
    assert after["pid"] != before
    assert after["command"][3:7] == ["/var/run/dropbear.1.pid", "-p", "2222", "-K"]


def test_restart_replaces_the_process_and_a_signal_keeps_it(root):
    before = call(root, "service", "list")["network"]["instances"]["instance1"]["pid"]
    edit(root, "network", "192.168.1.1", "192.168.7.1")
    init(root, "network", "reload")
    assert call(root, "service", "list")["network"]["instances"]["instance1"]["pid"] == before
    init(root, "network", "restart")
    assert call(root, "service", "list")["network"]["instances"]["instance1"]["pid"] != before


def test_links_of_enable_and_disable(root):
    assert init(root, "network", "enabled").returncode == 0
    init(root, "network", "disable")
    assert init(root, "network", "enabled").returncode == 1
    assert not [name for name in os.listdir(os.path.join(root, "etc/rc.d")) if name.endswith("network")]
    assert call(root, "rc", "list", '{"name":"network"}')["network"]["enabled"] is False
    init(root, "network", "enable")
    assert {"S20network", "K90network"} <= set(os.listdir(os.path.join(root, "etc/rc.d")))


def test_failing_service_keeps_the_old_configuration(root):
    fault(root, "network", "3")
    edit(root, "network", "192.168.1.1", "192.168.7.1")
    assert init(root, "network", "reload").returncode == 3
    assert interface(root, "lan")["ipv4-address"] == [{"address": "192.168.1.1", "mask": 24}]


def test_dead_service_exits_well_and_does_not_run(root):
    fault(root, "dnsmasq", "dead")
    assert init(root, "dnsmasq", "restart").returncode == 0
    assert init(root, "dnsmasq", "status").returncode == 5
    instance = call(root, "service", "list", '{"name":"dnsmasq"}')["dnsmasq"]["instances"]["cfg01411c"]
    assert (instance["running"], "pid" in instance) == (False, False)
    assert ubus(root, "-S", "call", "dnsmasq", "metrics")[0] == 4


def test_hanging_service_hangs_its_caller_and_no_event(root):
    fault(root, "firewall", "sleep 2")
    began = time.monotonic()
    call(root, "service", "event", '{"type":"config.change","data":{"package":"firewall"}}')
    assert time.monotonic() - began < 1.5
    init(root, "firewall", "reload")
    assert time.monotonic() - began >= 2


# ubus


def test_event_reloads_what_has_a_trigger_in_start_order(root):
    assert call(root, "service", "event", '{"type":"config.change","data":{"package":"system"}}') is None
    assert log(root) == ["system reload", "log reload", "dnsmasq reload", "sysntpd reload"]
    call(root, "service", "event", '{"type":"config.change","data":{"package":"rpcd"}}')
    assert len(log(root)) == 4


def test_interfaces_follow_the_running_configuration(root):
    edit(root, "network", "'192.168.1.1'\n\toption netmask '255.255.255.0'", "'10.4.0.1/22'")
    with open(os.path.join(root, "etc/config/network"), "a") as file:
        file.write("config interface 'guest'\n\toption proto 'static'\n\toption device 'br-guest'\n")
    assert ubus(root, "-S", "call", "network.interface.guest", "status")[0] == 4
    call(root, "network", "reload")
    assert interface(root, "lan")["ipv4-address"] == [{"address": "10.4.0.1", "mask": 22}]
    guest = call(root, "network.interface.guest", "status")
    assert (guest["up"], guest["errors"][0]["code"]) == (False, "NO_DEVICE")


def test_bridges_follow_the_running_configuration(root):
    edit(root, "network", "\tlist ports 'lan4'\n", "")
    call(root, "rc", "init", '{"name":"network","action":"reload"}')
    assert call(root, "network.device", "status", '{"name":"br-lan"}')["bridge-members"] == ["lan1", "lan2", "lan3"]


def test_wireless_follows_the_running_configuration(root):
    edit(root, "wireless", "\toption disabled '1'\n", "")
    edit(root, "wireless", "option ssid 'OpenWrt'", "option ssid 'Attic'")
    assert call(root, "network.wireless", "status")["radio0"]["up"] is False
    call(root, "service", "event", '{"type":"config.change","data":{"package":"wireless"}}')
    radio = call(root, "network.wireless", "status")["radio0"]
    assert (radio["up"], radio["disabled"]) == (True, False)
    assert radio["interfaces"][0]["config"]["ssid"] == "Attic"
    assert "phy0-ap0" in call(root, "network.device", "status")


def test_uci_get_answers_as_rpcd(root):
    assert call(root, "uci", "get", '{"config":"system","section":"ntp","option":"enabled"}') == {"value": "1"}
    values = call(root, "uci", "get", '{"config":"network","section":"lan"}')["values"]
    assert (values[".type"], values[".anonymous"], ".index" in values) == ("interface", False, False)
    assert call(root, "uci", "get", '{"config":"network","section":"nowhere"}') is None
    assert "oasis" in call(root, "uci", "configs")["configs"]


@pytest.mark.parametrize(
    ("words", "simple", "plain"),
    [
        (["nothing", "at_all"], 4, 4),
        (["system", "fly"], 3, 253),
        (["uci", "get", '{"config":"none"}'], 4, 252),
        (["service", "list", '{"name":1}'], 2, 254),
        (["system", "board", "["], 12, 244),
        (["system", "board", "[]"], 12, 244),
        (["rc", "init", '{"name":"network","action":"fly"}'], 2, 254),
    ],
)
def test_exit_statuses_are_those_of_the_real_program(root, words, simple, plain):
    assert ubus(root, "-S", "call", *words) == (simple, "", "")
    status, out, err = ubus(root, "call", *words)
    assert (status, out) == (plain, "")
    assert err.startswith("Command failed: ubus call " + " ".join(words) + " (")


def test_missing_fixture_names_the_files_that_would_do(root):
    status, out, err = ubus(root, "-S", "call", "file", "md5", '{"path":"/etc/passwd"}')
    assert (status, out) == (4, "")
    assert "file~md5~path-_etc_passwd.json file~md5.json" in err


def test_fixtures_of_the_copy_come_first_and_may_be_a_status(root):
    for name, text in (("file~md5", '{"md5":"0"}'), ("iwinfo~devices", '{"devices":[]}'), ("dnsmasq~metrics", "6")):
        with open(os.path.join(root, "ubus", name + ".json"), "w") as file:
            file.write(text)
    assert call(root, "file", "md5", '{"path":"/etc/passwd"}') == {"md5": "0"}
    assert call(root, "iwinfo", "devices") == {"devices": []}
    assert ubus(root, "-S", "call", "dnsmasq", "metrics") == (6, "", "")


def test_replies_are_one_line_with_s_and_tabs_without(root):
    assert ubus(root, "-S", "call", "session", "access")[1] == '{"access":true}\n'
    assert ubus(root, "call", "session", "access")[1] == '{\n\t"access": true\n}\n'
    assert ubus(root, "call", "service", "list", '{"name":"none"}')[1] == "{\n\t\n}\n"
    assert ubus(root, "-S", "call", "session", "destroy") == (0, "", "")


def test_lists_by_pattern(root):
    assert ubus(root, "list", "network.interface.*")[1].split() == [
        "network.interface." + name for name in ("lan", "loopback", "wan", "wan6")
    ]
    assert ubus(root, "list", "nothing*") == (4, "", "")
    assert (
        ubus(root, "-v", "list", "rc")[1].split("\n")[1] == '\t"list":{"name":"String","skip_running_check":"Boolean"}'
    )


def test_waiting_for_an_object_ends_in_time(root):
    assert ubus(root, "wait_for", "system", "uci")[0] == 0
    assert ubus(root, "-t", "0.1", "wait_for", "nothing")[0] == 7


def test_objects_of_a_stopped_daemon_are_gone(root):
    init(root, "rpcd", "stop")
    assert ubus(root, "-S", "call", "uci", "configs")[0] == 4
    init(root, "rpcd", "start")
    assert ubus(root, "-S", "call", "uci", "configs")[0] == 0


def test_a_folder_that_was_never_started_has_no_bus(tmp_path):
    status, out, err = ubus(str(tmp_path), "call", "system", "board")
    assert (status, out) == (255, "")
    assert str(tmp_path) in err


def test_program_of_the_copy_needs_no_environment(root):
    done = subprocess.run(
        [os.path.join(root, "bin/ubus"), "-S", "call", "session", "access"], env={}, capture_output=True
    )
    assert done.stdout == b'{"access":true}\n'
