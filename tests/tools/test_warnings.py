"""What a change would leave unusable: said where the change does it, and nowhere else."""

import pytest

from oasis.system.files import Files
from oasis.system.root import Root
from oasis.tools.warnings import warnings
from oasis.uci import model
from tests.daemon.test_wiring import follow, of_type
from tests.oasisd import start_daemon
from tests.router.copy import copy_root

GUEST = """
set network.guest=interface
set network.guest.proto=static
set network.guest.ipaddr=192.168.%d.1
set network.guest.netmask=255.255.255.0
"""


def steps(text):
    found = []
    for line in text.strip().splitlines():
        verb, _, rest = line.partition(" ")
        place, _, value = rest.partition("=")
        package, section, *option = place.split(".")
        step = {"op": verb, "package": package, "section": section}
        if option:
            step["option"] = option[0]
        if value:
            step["value" if option else "type"] = value
        found.append(step)
    return found


class Box:
    """A stock router in a folder, with some more files."""

    def __init__(self, folder, files=None):
        self.root, self.files = Root(copy_root(str(folder / "router"))), Files()
        for path, text in (files or {}).items():
            self.files.folder(self.root.path(path.rpartition("/")[0]))
            self.files.replace(self.root.path(path), text.encode())

    def warned(self, text, brings_packages=False):
        changes = steps(text)
        names = {one["package"] for one in changes}
        before = {name: self.files.read(f"{self.root.confdir}/{name}") or b"" for name in names}
        after = model.preview(before, changes)
        return warnings({name: (before[name], after[name]) for name in names}, self.root, self.files, brings_packages)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GUEST % 7, "guest is in no firewall zone. Put it into the zone that it belongs to."),
        (GUEST % 7 + "add_list firewall.@zone[0].network=guest", ""),
        (GUEST % 1 + "add_list firewall.@zone[0].network=guest", "have overlapping networks (192.168.1.0/24)"),
        ("set wireless.radio0.disabled=0", "radio0 does not know its country"),
        ("set wireless.radio0.country=DE", ""),
        ("set dhcp.nas=host\nset dhcp.nas.mac=02:00:00:00:00:09\nset dhcp.nas.ip=10.1.1.1", "10.1.1.1 is in none of"),
        ("set dhcp.nas=host\nset dhcp.nas.mac=02:00:00:00:00:09\nset dhcp.nas.ip=192.168.1.9", ""),
        ("set dhcp.lan.ignore=1", "Devices in lan get no address from this router"),
        ("set system.@system[0].hostname=Attic", ""),
        ("set network.lan.ipaddr=192.168.77.1", ""),
    ],
)  # fmt: skip
def test_what_the_doctor_would_find_afterwards_is_a_warning(tmp_path, text, said):
    found = Box(tmp_path).warned(text)
    assert len(found) == bool(said) and all(one.startswith("warning: ") and said in one for one in found)


def test_what_is_wrong_already_is_no_warning_of_another_change(tmp_path):
    box = Box(tmp_path)
    network = box.files.read(box.root.confdir + "/network")
    box.files.replace(box.root.confdir + "/network", network + b"\nconfig interface 'old'\n\toption proto 'dhcp'\n")
    assert box.warned("set network.lan.ip6assign=64") == []


HANDLERS = {
    "/lib/netifd/proto/ppp.sh": "add_protocol ppp\n[ -f x ] && add_protocol pppoe\n",
    "/lib/netifd/proto/dhcp.sh": "",
}


@pytest.mark.parametrize(
    ("proto", "package"),
    [("openconnect", "openconnect"), ("wireguard", "wireguard-tools"), ("pppoe", ""), ("dhcp", ""), ("static", "")],
)
def test_a_protocol_without_a_handler_names_its_package(tmp_path, proto, package):
    text = f"set network.wan.proto={proto}"
    told = [one for one in Box(tmp_path, HANDLERS).warned(text) if "protocol" in one]
    if not package:
        assert told == []
        return
    assert told == [
        f"warning: wan stays down: the protocol {proto} needs the package {package}, which is not installed"
    ]
    box = Box(tmp_path / "other", HANDLERS)
    assert not [one for one in box.warned(text, brings_packages=True) if "protocol" in one], "it comes with the change"
    assert not [one for one in Box(tmp_path / "unknown").warned(text) if "protocol" in one], "nobody can tell"


MOUNTS = {"/proc/self/mounts": "/dev/root / squashfs ro 0 0\n/dev/sda1 /mnt/usb ext4 rw 0 0\n"}


@pytest.mark.parametrize(
    ("path", "is_warned"), [("/mnt/usb/log/system.log", False), ("/mnt/usb2/x.log", True), ("/tmp/x.log", False)]
)
def test_a_folder_on_no_drive_is_a_warning(tmp_path, path, is_warned):
    text = f"set system.@system[0].log_file={path}"
    told = Box(tmp_path, MOUNTS).warned(text)
    says = f"warning: nothing is mounted at {path} now: what is put there takes the router's own flash"
    assert told == ([says] if is_warned else [])
    assert Box(tmp_path / "unknown").warned(text) == []


def test_a_drive_that_the_same_change_mounts_is_no_warning(tmp_path):
    box = Box(tmp_path, {**MOUNTS, "/etc/config/fstab": ""})
    mount = "set fstab.usb2=mount\nset fstab.usb2.target=/mnt/usb2\nset fstab.usb2.enabled=1\n"
    assert box.warned(mount + "set system.@system[0].log_file=/mnt/usb2/x.log") == []


def test_many_warnings_are_counted(tmp_path):
    text = "".join(f"set network.n{one}=interface\nset network.n{one}.proto=dhcp\n" for one in range(9))
    found = Box(tmp_path).warned(text)
    assert len(found) == 6 and found[-1] == "warning: 4 more of this kind"


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (["set network.guest=interface", "set network.guest.proto=dhcp"], "warning: guest is in no firewall zone"),
        (
            ["set system.@system[0].log_file=/mnt/usb2/system.log"],
            "warning: nothing is mounted at /mnt/usb2/system.log",
        ),
    ],
)
def test_a_card_of_the_daemon_has_them(tmp_path, commands, said):
    box = Box(tmp_path, MOUNTS)
    daemon = start_daemon(box.root.path("/"))
    try:
        started = daemon.call("plan.propose", commands=["uci " + one for one in commands])
        plan = of_type(follow(daemon, started, ("plan",)), "plan")[-1]["plan"]
        assert any(one.startswith(said) for one in plan["words"]), plan["words"]
        daemon.call("run.cancel", run=started["run"])
    finally:
        daemon.stop()
