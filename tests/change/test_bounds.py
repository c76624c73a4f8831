"""Options that name a file, a folder or a server are set within their bound on this router, and by nobody beyond it."""

import os

import pytest

from oasis.change.plan import RefusedError
from oasis.errors import ApplyError, PolicyError

SQM = b"config queue 'eth1'\n\toption interface 'eth1'\n\toption script 'simple.qos'\n"
DDNS = b"config ddns 'global'\n\nconfig service 'home'\n\toption password 'correct-horse'\n"
SAMBA = b"config sambashare 'stick'\n\toption name 'stick'\n\toption path '/mnt/sda1'\n"
FSTAB = (
    b"config mount 'stick'\n\toption target '/mnt/sda1'\n\toption uuid '1234-ABCD'\n\n"
    b"config mount 'extroot'\n\toption target '/overlay'\n\toption uuid '5678-ABCD'\n"
)
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQkFD\n-----END CERTIFICATE-----\n"
KEY = CERTIFICATE.replace("CERTIFICATE", "PRIVATE KEY")
PROFILE = """\
# of the provider
client
dev tun
proto udp
remote vpn.example.org 1194
remote-cert-tls server
auth-user-pass
setenv opt block-outside-dns
setenv UV_ID me
<connection>
remote other.example.org 443 tcp
</connection>
<ca>
-----BEGIN CERTIFICATE-----
up /etc/evil.sh
-----END CERTIFICATE-----
</ca>
"""


@pytest.fixture
def here(make_kit):
    kit = make_kit(approval="none")
    for name, data in (
        ("sqm", SQM),
        ("ddns", DDNS),
        ("samba4", SAMBA),
        ("fstab", FSTAB),
        ("ksmbd", b"config share 'stick'\n"),
        ("minidlna", b"config minidlna 'config'\n"),
        ("aria2", b"config aria2 'main'\n"),
        ("nlbwmon", b"config nlbwmon\n"),
        ("transmission", b"config transmission\n"),
        ("mosquitto", b"config listener\n"),
        ("rtty", b"config rtty\n"),
        ("openvpn", b"config openvpn 'home'\n"),
    ):
        kit.write(name, data)
    os.umask(0o022)
    put(kit, "/usr/lib/sqm/piece_of_cake.qos")
    put(kit, "/usr/lib/sqm/run.sh")
    put(kit, "/usr/lib/sqm/open.qos", mode=0o666)
    put(kit, "/etc/ssl/certs/ca.crt")
    put(kit, "/etc/hosts.blocked", "0.0.0.0 ads.example.org\n")
    put(kit, "/etc/oasis-hosts/ads", "0.0.0.0 ads.example.org # one\n\n# two\n")
    put(kit, "/tmp/hosts/odhcpd", "# hosts\nfd00::1 nas\n")
    put(kit, "/etc/hosts.odd", "root:*:0:0:99999:7:::\n")
    put(kit, "/etc/shadow", "root:*:0:0:99999:7:::\n")
    put(kit, "/root/my.hosts", "192.168.1.9 nas.lan nas\n")
    put(kit, "/etc/dnsmasq.words/x.conf", "address=/a/1.2.3.4\nroot:*:0:\n")
    os.symlink(kit.root.path("/etc/shadow"), kit.root.path("/etc/hosts.link"))
    put(kit, "/etc/ssl/oasis/c.pem", CERTIFICATE)
    put(kit, "/etc/ssl/oasis/c.key", KEY, 0o600)
    put(kit, "/etc/ssl/oasis/both.pem", CERTIFICATE + KEY)
    put(kit, "/etc/openvpn/open.pem", CERTIFICATE, 0o666)
    put(kit, "/etc/dnsmasq.d/home.conf", "address=/nas.lan/192.168.1.9\n")
    put(kit, "/etc/dnsmasq.evil/x.conf", "# hello\n dhcp-script=/bin/evil\n")
    put(kit, "/etc/dnsmasq.open/x.conf", mode=0o666)
    put(kit, "/etc/oasis/hosts", "192.0.2.1 bank.example\n")
    put(kit, "/etc/openvpn/home.ovpn", PROFILE)
    put(kit, "/mnt/sda1/films/x")
    put(kit, "/tmp/log/older.log")
    os.symlink(kit.root.path("/etc"), kit.root.path("/mnt/out"))
    os.symlink(kit.root.path("/etc/passwd"), kit.root.path("/usr/lib/sqm/link.qos"))
    os.symlink(kit.root.path("/etc/passwd"), kit.root.path("/etc/ssl/link.crt"))
    os.symlink(kit.root.path("/etc/passwd"), kit.root.path("/tmp/link.log"))
    return kit


def put(kit, path, text="x\n", mode=0o644):
    path = kit.root.path(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as handle:
        handle.write(text)
    os.chmod(path, mode)


URL = "http://[USERNAME]:[PASSWORD]@dyn.example.org/nic/update?hostname=[DOMAIN]&myip=[IP]"
WITHIN = [
    ("sqm.eth1.script=piece_of_cake.qos", "script names one of the scripts"),
    ("ddns.home.cacert=/etc/ssl/certs/ca.crt", "cacert names a file or folder"),
    ("ddns.global.cacert=/etc/ssl/certs", "cacert names a file or folder"),
    ("ddns.home.update_url=" + URL, "password to http://dyn.example.org, not encrypted"),
    ("ddns.home.update_url=https://[2001:db8::1]:8443/a", "password to https://[2001:db8::1]"),
    ("samba4.stick.path=/mnt/sda1/films", "path names a folder under /mnt"),
    ("samba4.stick.path=/mnt/not-there-yet", "path names a folder under /mnt"),
    ("fstab.stick.target=/mnt/films", "target names a folder under /mnt"),
    ("fstab.stick.options=ro,noatime,umask=022", "options is yours to set, and within bounds"),
    ("dhcp.@dnsmasq[0].addnhosts=/etc/hosts.blocked", "addnhosts names a file or folder"),
    ("dhcp.@dnsmasq[0].confdir=/etc/dnsmasq.d", "confdir names a folder"),
    ("system.@system[0].log_file=/tmp/router.log", "log_file names a file in /tmp"),
    ("system.@system[0].log_file=/tmp/log/older.log", "log_file names a file in /tmp"),
    ("system.@system[0].log_file=/mnt/sda1/log/messages", "log_file names a file in /tmp"),
    ("openvpn.home.config=/etc/openvpn/home.ovpn", "config names a file /etc/openvpn/NAME.ovpn"),
    ("dhcp.@dnsmasq[0].addnhosts=/etc/oasis-hosts/ads", "addnhosts names a file or folder"),
    ("dhcp.@dnsmasq[0].addnhosts=/etc/oasis-hosts", "with lines of an address and names"),
    ("dhcp.@dnsmasq[0].addnhosts=/tmp/hosts", "addnhosts names a file or folder"),
    ("dhcp.@dnsmasq[0].addnhosts=/root/my.hosts", "called hosts or *.hosts"),
    ("ksmbd.stick.path=/mnt/sda1/films", "path names a folder under /mnt"),
    ("minidlna.config.media_dir=V,/mnt/sda1/films", "media_dir names a folder under /mnt"),
    ("aria2.main.dir=/mnt/sda1", "dir names a folder under /mnt"),
    ("nlbwmon.@nlbwmon[0].database_directory=/tmp/nlbwmon", "database_directory names a folder under /mnt"),
    ("transmission.@transmission[0].download_dir=/mnt/sda1/films", "download_dir names a folder under /mnt"),
    ("openvpn.home.log=/tmp/openvpn.log", "log names a file in /tmp"),
    ("openvpn.home.ca=/etc/ssl/oasis/c.pem", "certificates in PEM form"),
    ("openvpn.home.key=/etc/ssl/oasis/c.key", "one private key in PEM form"),
    ("mosquitto.@listener[0].cafile=/etc/ssl/oasis/c.pem", "certificates in PEM form"),
    ("rtty.@rtty[0].cacert=/etc/ssl/oasis/c.pem", "certificates in PEM form"),
    ("wireless.default_radio0.ca_cert=/etc/ssl/oasis/c.pem", "certificates in PEM form"),
    ("uhttpd.main.cert=/etc/ssl/oasis/c.pem", "certificates in PEM form"),
]
BEYOND = [
    *("sqm.eth1.script=" + one for one in ("gone.qos", "open.qos", "link.qos", "../x.qos",
                                          "/usr/lib/sqm/piece_of_cake.qos",
                                          "run.sh", "a;b.qos", "-x.qos", ".qos")),
    *("ddns.home.cacert=" + one for one in ("/etc/ssl", "/etc/ssl/gone.crt", "/etc/passwd", "/etc/ssl/../passwd",
                                           "/etc/ssl/link.crt", "IGNORE", "/etc/ssl/certs/ca.crt;reboot")),
    *("ddns.home.update_url=" + one for one in (
        "ftp://a.example/", "https://", "https://a.example/$(reboot)", "https://a.example/`x`", "https://a.example/'x",
        "https://a.example/;x", "https://a.example/|x", "https://a.example/ x", "https://a.example/\\x",
        "https://good.example@bad.example/", "https://[USERNAME]@bad.example/", "https://[DOMAIN]/", "https://a.example:99999/",
        "https://a.example/[OTHER]", "https://a.example/#x", "https://a.example/*", "file:///etc/shadow")),
    *("samba4.stick.path=" + one for one in ("/", "/mnt", "/mnt/", "/etc", "/mnt/../etc", "/mnt/out", "/mnt/out/oasis",
                                            "/mnt/./x", "/mnt//x", "/mntx/a", "/mnt/a b")),
    *("fstab.stick.target=" + one for one in ("/", "/overlay", "/mnt", "/mnt/../etc", "/mnt/out", "/etc")),
    "fstab.stick.device=/dev/mtdblock3", "fstab.stick.options=bind", "fstab.stick.options=rw,suid",
    "fstab.stick.is_rootfs=1",
    "fstab.stick.fstype=nfs", "fstab.stick.other=1", "fstab.extroot.enabled=0", "fstab.extroot.target=/mnt/x",
    *("dhcp.@dnsmasq[0].addnhosts=" + one for one in ("/etc/gone", "/etc/oasis/hosts", "/etc/oasis", "etc/hosts",
                                                     "/etc/hosts.blocked /etc/gone")),
    *("dhcp.@dnsmasq[0].addnhosts=" + one for one in ("/etc/shadow", "/etc", "/tmp", "/etc/hosts.odd",
                                                     "/etc/hosts.link", "/root", "/etc/openvpn", "/tmp/resolv.conf")),
    *("dhcp.@dnsmasq[0].confdir=" + one for one in ("/etc", "/root", "/etc/dnsmasq.words", "/tmp")),
    *("aria2.main.dir=" + one for one in ("/mnt", "/tmp", "/tmp/dnsmasq.d", "/etc", "/mnt/out", "/tmp/aria2x",
                                          "/tmp/aria2/../dnsmasq.d")),
    "minidlna.config.media_dir=V,/etc", "minidlna.config.media_dir=X,/mnt/sda1", "ksmbd.stick.path=/etc",
    *("openvpn.home.ca=" + one for one in ("/etc/ssl/oasis/c.key", "/etc/ssl/oasis/gone.pem", "/etc/shadow",
                                           "/etc/openvpn/open.pem", "/etc/ssl/oasis/both.pem",
                                           "/etc/ssl/oasis/../certs/ca.crt", "/etc/openvpn/home.ovpn")),
    *("openvpn.home.key=" + one for one in ("/etc/ssl/oasis/c.pem", "/etc/ssl/oasis/both.pem", "/etc/shadow")),
    "openvpn.home.log=/etc/openvpn.log",
    *("dhcp.@dnsmasq[0].confdir=" + one for one in ("/etc/dnsmasq.evil", "/etc/dnsmasq.open", "/etc/hosts.blocked",
                                                   "/etc/dnsmasq.gone", "/etc/oasis", "/etc/dnsmasq.d,*.conf")),
    *("system.@system[0].log_file=" + one for one in (
        "/etc/router.log", "/tmp/link.log", "/tmp/resolv.conf", "/tmp/dnsmasq.d/x.log", "/tmp/../etc/x.log",
        "/mnt/out/x.log",
        "/tmp/log", "/tmp/router.log;x")),
    *("openvpn.home.config=" + one for one in ("/etc/openvpn/gone.ovpn", "/etc/passwd", "/etc/openvpn/../passwd",
                                              "/tmp/home.ovpn", "home.ovpn", "/etc/openvpn/home.conf")),
]  # fmt: skip


@pytest.mark.parametrize("what, told", WITHIN)
def test_a_value_within_its_bound_waits_for_the_owner_and_is_explained(here, what, told):
    plan = here.plan("uci set '%s'" % what if "&" in what else "uci set " + what)
    assert plan["risk"] == "risky" and plan["needs_approval"] and not plan["forces"]  # under approval none
    assert any(told in reason for reason in plan["reasons"]), plan["reasons"]


@pytest.mark.parametrize("what", BEYOND)
def test_everything_beyond_is_refused_as_before_with_the_bound_in_words(here, what):
    with pytest.raises(RefusedError) as caught:
        here.plan('uci set "%s"' % what if "'" in what else "uci set '%s'" % what)
    assert "exec" in caught.value.forces and "owner" in caught.value.message
    if ".key=" in what:
        assert "cannot be" not in caught.value.message  # a path is none, but a key itself may have been given
    if ".other" not in what and "extroot" not in what and "is_rootfs" not in what:
        assert "must be " in caught.value.message


@pytest.mark.parametrize("line", [
    "script-security 2", "up /etc/x.sh", "--up /etc/x.sh", "down x", "plugin /tmp/x.so", "route-up x", "tls-verify x",
    "config other.conf", "log /etc/passwd", "status /etc/x", "writepid /etc/x", "management 0.0.0.0 7505", "cd /tmp",
    "engine x", "setenv opt up /x", "setenv LD_PRELOAD /x", "auth-user-pass /etc/shadow", "ca /etc/passwd",
    "iproute /x",
    '"up" /x', "u\\p /x", "</ca>", "<up>\n/x\n</up>", "<ca>\nno end", "ipchange x", "unheard-of 1",
    "# " + 300 * "x" + "up /x",
])  # fmt: skip
def test_a_profile_that_runs_code_or_touches_files_is_refused_with_its_line(here, line):
    put(here, "/etc/openvpn/evil.ovpn", "client\n" + line + "\n")
    with pytest.raises(RefusedError) as caught:
        here.plan("uci set openvpn.home.config=/etc/openvpn/evil.ovpn")
    assert "line " in caught.value.message and "must be a file /etc/openvpn/NAME.ovpn" in caught.value.message


def test_a_profile_that_others_can_write_is_refused(here):
    os.chmod(here.root.path("/etc/openvpn/home.ovpn"), 0o666)
    with pytest.raises(RefusedError):
        here.plan("uci set openvpn.home.config=/etc/openvpn/home.ovpn")
    os.chmod(here.root.path("/etc/openvpn/home.ovpn"), 0o644)
    os.chmod(here.root.path("/etc/openvpn"), 0o777)  # whoever may write there puts another one in its place
    with pytest.raises(RefusedError):
        here.plan("uci set openvpn.home.config=/etc/openvpn/home.ovpn")


def test_what_was_looked_at_is_looked_at_again_when_it_is_applied(here):
    plan = here.plan("uci set openvpn.home.config=/etc/openvpn/home.ovpn")
    here.planner.check_current(plan)
    put(here, "/etc/openvpn/home.ovpn", PROFILE + "up /etc/x.sh\n")
    with pytest.raises(ApplyError, match="changed since the plan was made"):
        here.transaction.apply(plan)


def test_a_line_that_runs_code_in_a_folder_of_dnsmasq_is_named(here):
    with pytest.raises(RefusedError, match=r"x[.]conf, line 2: dhcp-script"):
        here.plan("uci set dhcp.@dnsmasq[0].confdir=/etc/dnsmasq.evil")


@pytest.mark.parametrize("lines, is_good", [
    (["set dhcp.pxe=boot", "set dhcp.pxe.filename=efi64/grub.efi", "set dhcp.pxe.serveraddress=192.168.1.9",
      "set dhcp.pxe.servername=nas"], True),
    (["set dhcp.pxe=boot", "set dhcp.pxe.filename=../x"], False),
    (["set dhcp.pxe=boot", "set dhcp.pxe.filename=/x"], False),
    (["set dhcp.pxe=boot", "set dhcp.pxe.filename='x,y'"], False),
    (["set dhcp.pxe=boot", "set dhcp.pxe.filename=x", "set dhcp.pxe.serveraddress=evil"], False),
    (["set dhcp.pxe=boot", "set dhcp.pxe.filename=x", "set dhcp.pxe.servername='a b'"], False),
    (["set dhcp.pxe=boot", "set dhcp.pxe.filename=x", "add_list dhcp.pxe.dhcp_option=3,1.2.3.4"], False),
    (["set dhcp.six=boot6", "set dhcp.six.url=tftp://a/b"], False),
    (["add fstab mount", "set fstab.@mount[-1].target=/mnt/usb", "set fstab.@mount[-1].device=/dev/sda1",
      "set fstab.@mount[-1].fstype=ext4", "set fstab.@mount[-1].enabled=1"], True),
    (["add fstab mount", "set fstab.@mount[-1].target=/overlay", "set fstab.@mount[-1].device=/dev/sda1"], False),
    (["add fstab mount", "set fstab.@mount[-1].device=/dev/sda1"], False),  # without a folder
    (["add fstab swap", "set fstab.@swap[-1].device=/dev/sda2"], False),
    (["delete fstab.extroot.target"], False),
    (["delete fstab.stick.uuid", "set fstab.stick.label=films"], True),
    (["rename fstab.stick.uuid=is_rootfs"], False),
    (["set sqm.eth1.other=x", "rename sqm.eth1.other=script"], False),
    (["add_list dhcp.@dnsmasq[0].addnhosts=/etc/hosts.blocked"], True),
    (["del_list dhcp.@dnsmasq[0].addnhosts=/etc/hosts.blocked"], True),
])  # fmt: skip
def test_sections_of_which_every_option_is_bounded(here, lines, is_good):
    text = "\n".join("uci " + line for line in lines)
    if not is_good:
        with pytest.raises(PolicyError):
            here.plan(text)
        return
    plan = here.plan(text)
    assert plan is None or plan["needs_approval"]


def test_an_undo_of_a_bounded_change_needs_nobody_to_force_it(here):
    before = here.config("sqm")
    record = here.transaction.apply(here.plan("uci set sqm.eth1.script=piece_of_cake.qos"))
    here.transaction.confirm(record["id"])
    old, new = here.config("sqm"), before
    plan = here.planner.restore({"sqm": (old, new)}, [], "run1", "chat1", "undo", record["id"])
    assert plan["needs_approval"] and plan["risk"] == "risky"


def test_what_makes_a_whole_section_the_owners_is_named(here):
    with pytest.raises(RefusedError, match="as long as target of the section is what it is"):
        here.plan("uci set fstab.extroot.enabled=0")
    with pytest.raises(RefusedError, match=r"fstab[.]stick[.]uuid cannot be 'zzz' [(]must be the UUID"):
        here.plan("uci set fstab.stick.uuid=zzz")


def test_a_mount_within_its_bounds_starts_no_code(here):
    here.write("fstab", FSTAB.replace(b"uuid '1234-ABCD'\n", b"uuid '1234-ABCD'\n\toption enabled '0'\n"))
    plan = here.plan("uci set fstab.stick.enabled=1")
    assert plan["needs_approval"] and "starts code" not in "; ".join(plan["reasons"])
