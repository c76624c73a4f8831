"""Steps of a package's life on the router: install, enable, answer, upgrade, remove; and what it weighs."""

from __future__ import annotations

import json
import os
import re

from tests.qemu.router import Failed, Router, expect
from tests.qemu.suite import step

# The daemon's start on an emulated machine, with its package's bytecode compiled.
READY_S = 90
SOCKET = "/var/run/oasis/oasis.sock"
INSTALL_S = 600
MODEL_S = 120
# Of the scripted model; looked for wherever another user could read it.
KEY = "kept-to-ourselves-7"
FILES = "find /bin /etc /lib /root /sbin /usr /www \\( -type f -o -type l \\) 2>/dev/null; true"
# What changes by itself while a router runs, and what the tests themselves put there.
RESTLESS = ("/etc/dropbear/", "/root/.", "/usr/lib/opkg/status", "/usr/lib/opkg/lists/", "/lib/apk/", "/etc/apk/",
            "/etc/config/", "/overlay/", "/rom/")  # fmt: skip
BORN = "import os, time; print(time.clock_gettime(time.CLOCK_BOOTTIME) - time.time() + os.stat('%s').st_mtime)"
SUM = "awk '{ n += $1 } END { print n + 0 }'"
EACH = "for each in /proc/[0-9]*; do tr '\\0' ' ' <$each/cmdline; echo; done 2>/dev/null"


def wait_ready(router: Router) -> float:
    """Wait until the daemon answers; return the seconds since the kernel began."""
    router.until("[ -S %s ] && oasis status >/dev/null 2>&1" % SOCKET, READY_S, "oasisd answers")
    return float(router.ok('python3 -IS -c "%s"' % (BORN % SOCKET), quiet=True))


@step("the router boots and is reached through its LAN")
def boots(router: Router) -> None:
    router.ok("uname -srm; cat /etc/openwrt_release 2>/dev/null | head -n 4; free; df -k / | tail -n 1")
    router.number("boot to a shell at the console", "%.1f s" % router.boot_s)
    expect(router.is_reached(), "no SSH server answered through the LAN")
    result = router.ssh("echo reached over $SSH_CONNECTION")
    expect(result.status == 0 and "192.168.1.2" in result.text, "no login over SSH")


@step("the packages are installed and the service is enabled")
def install(router: Router) -> None:
    names = fetch(router, router.packages)
    if router.dependencies:
        router.ok(router.dependencies, INSTALL_S)
    router.before = set(router.ok(FILES, quiet=True).split("\n"))
    router.ok(router.install % " ".join("/tmp/" + name for name in names), INSTALL_S)
    router.ok("rm -f " + " ".join("/tmp/" + name for name in names), quiet=True)
    links = router.ok("ls /etc/rc.d | grep oasis")
    expect("S11oasis-restore" in links, "the hook that restores at boot is not enabled as S11")
    expect(any(line.startswith("S9") and line.endswith("oasis") for line in links.split("\n")), "oasis is not enabled")
    wait_ready(router)
    expect(bool(router.ok("oasis --version")), "no version")
    tell_processes(router, "after its start")


def fetch(router: Router, paths: list[str]) -> list[str]:
    """Have the guest download packages from this host; return their names."""
    names = [os.path.basename(path) for path in paths]
    for path, name in zip(paths, names, strict=True):
        place = "/".join((router.url, os.path.basename(os.path.dirname(path)), name))
        router.ok("wget -q -O /tmp/%s %s" % (name, place))
    return names


@step("the command line tells the state; /etc/config/oasis is as shipped")
def status(router: Router) -> None:
    router.ok("oasis status")
    router.ok("ls -l /etc/config/oasis; grep -c option /etc/config/oasis")
    told = router.oasis("services")
    expect(bool(told) and "offline" in json.dumps(told), "the built-in service is not listed")


@step("a chat by the command line, without a model")
def chat_cli(router: Router) -> None:
    result = router.ssh("oasis prompt 'what can you do?'")
    expect(result.status == 0 and len(result.text) > 50, "no answer")
    chats = router.oasis("list")
    expect(bool(chats) and "item" in json.dumps(chats), "the chat is not listed")


@step("a chat through a model on this host: its worker is another user, and nobody is shown the key")
def chat_model(router: Router) -> None:
    router.ok("echo %s | oasis add --key compatible %s --model scripted" % (KEY, router.model.url))
    answer = router.ok("oasis prompt --service compatible 'say hello'", MODEL_S)
    expect("Hello from the model." in answer, "the model's answer is not shown")
    expect("Bearer " + KEY in router.model.keys, "the key did not reach the model")
    worker = "$(grep -l '[w]orker/__main__' /proc/[0-9]*/cmdline 2>/dev/null | head -n 1 | cut -d/ -f3)"
    told = router.ok("pid=%s; grep -E '^(Name|Uid|CapEff|NoNewPrivs)' /proc/$pid/status; ls -l /proc/$pid/fd" % worker)
    expect("Uid:\t0" not in told, "the worker is root")
    tell_processes(router, "after a model's answer")
    pattern = KEY[:-1] + "[%s]" % KEY[-1]  # which is not what it finds
    shown = router.run("grep -la '%s' /proc/[0-9]*/cmdline /proc/[0-9]*/environ /etc/config/*" % pattern)
    expect(shown.status == 1 or not shown.text, "the key is shown in " + shown.text)
    router.run("nft list table inet oasis_worker")
    router.ok("oasis remove compatible")


@step("a chat over ubus", "bus")
def chat_bus(router: Router) -> None:
    router.ok("ubus list | grep oasis")
    router.ok("ubus call oasis info")
    started = json.loads(router.ok('ubus call oasis.run start \'{"message":"what can you do?"}\''))
    run, since, text, state = started["run"], 0, "", ""
    for _ in range(10):
        call = json.dumps({"run": run, "since": since, "wait_ms": 10000})
        polled = json.loads(router.ok("ubus call oasis.run poll '%s'" % call))
        since, state = polled["next"], polled["state"]
        text += "".join(event.get("text", "") for event in polled["events"] if event["type"] == "delta")
        if state in ("done", "error", "cancelled"):
            break
    expect(state == "done" and len(text) > 50, "the run ended as %r with %r" % (state, text))


@step("what it weighs")
def weighs(router: Router) -> None:
    for path in router.packages:
        router.number("package " + os.path.basename(path), "%d bytes" % os.path.getsize(path))
    listed = "sed 's,^[^/],/&,' %s/oasis.list" % router.info
    total = router.ok("%s | xargs du -k 2>/dev/null | %s" % (listed, SUM), quiet=True)
    router.number("installed, package oasis", total + " KiB in its own files")
    compiled = router.ok("find /usr/lib/oasis -name '*.pyc' | xargs du -k | " + SUM, quiet=True)
    router.number("installed, bytecode", compiled + " KiB")
    python = router.ok("python3 -IS -c 'import os; print(open(\"/proc/self/status\").read())' | grep VmRSS", quiet=True)
    router.number("python3 -I -S, bare", " ".join(python.split()[1:]))
    tell_processes(router, "after the chats")


def tell_processes(router: Router, when: str) -> None:
    for name, line in processes(router):
        router.number("%s, %s" % (name, when), line)


def processes(router: Router) -> list[tuple[str, str]]:
    """Return what each process of ours takes: (name, "RSS … kB, private dirty … kB")."""
    script = """for each in /proc/[0-9]*; do
  words=$(tr '\\0' ' ' <$each/cmdline 2>/dev/null) || continue
  case $words in *python3*oasis*) ;; *) continue ;; esac
  rss=$(sed -n 's/^VmRSS:[^0-9]*//p' $each/status)
  dirty=$(awk '/^Private_Dirty/ { n += $2 } END { print n }' $each/smaps_rollup 2>/dev/null)
  echo "$words|RSS $rss, private dirty ${dirty:-unknown} kB"
done"""
    found = []
    for line in router.ok(script, quiet=True).split("\n"):
        words, _, told = line.partition("|")
        if told:
            found.append((_process(words), told))
    return found


def _process(words: str) -> str:
    for sign, name in (("oasisd", "oasisd"), ("offline", "built-in provider"), ("worker", "worker")):
        if sign in words:
            return name
    return words.strip()


@step("the service ends in time, starts again, and is started again when it dies")
def service(router: Router) -> None:
    router.ok("/etc/init.d/oasis stop; ! [ -S %s ]" % SOCKET, 120)
    result = router.run("oasis status")
    expect(result.status == 69, "without a daemon the status of `oasis status` is 69, not %d" % result.status)
    router.ok("/etc/init.d/oasis start", 120)
    wait_ready(router)
    pid = router.ok("cat /var/run/oasis/lock")
    router.ok("kill -9 %s; sleep 1" % pid)
    router.until(
        '[ "$(cat /var/run/oasis/lock)" != %s ] && oasis status >/dev/null 2>&1' % pid, READY_S, "a new oasisd answers"
    )


@step("an upgrade keeps chats, history, keys and settings")
def upgrade(router: Router) -> None:
    router.ok("sed -i \"s/worker_idle_s .*/worker_idle_s '61'/\" /etc/config/oasis")
    kept = "find /etc/oasis -type f ! -name 'usage.json' | sort | xargs sha256sum"
    before, chats = router.ok(kept, quiet=True), router.oasis("list")
    names = fetch(router, router.newer)
    router.ok(router.upgrade % " ".join("/tmp/" + name for name in names), INSTALL_S)
    router.ok("rm -f " + " ".join("/tmp/" + name for name in names), quiet=True)
    router.ok(router.listed + " | grep oasis")
    wait_ready(router)
    after = router.ok(kept, quiet=True)
    lost = set(before.split("\n")) - set(after.split("\n"))
    expect(not lost, "changed or lost by the upgrade: %s" % sorted(lost))
    router.log.line("  as before to the byte: %d files of /etc/oasis" % len(before.split("\n")))
    expect(router.oasis("list") == chats, "the chats are not the same")
    router.ok("grep \"worker_idle_s '61'\" /etc/config/oasis")


@step("a backup for sysupgrade holds configuration, keys and history, and no program", "sysupgrade")
def backup(router: Router) -> None:
    listed = router.ok("sysupgrade -l", 120)
    expect("/etc/config/oasis" in listed, "the backup has no /etc/config/oasis")
    expect("/etc/oasis/" in listed, "the backup has nothing of /etc/oasis")
    expect("/usr/lib/oasis" not in listed, "the backup holds programs")


@step("removal leaves nothing running and nothing but the owner's own")
def removal(router: Router) -> None:
    names = [re.split("_|-[0-9]", os.path.basename(path))[0] for path in reversed(router.packages)]
    router.ok(router.remove % " ".join(names), INSTALL_S)
    left = router.run(EACH + " | grep -E '[o]asisd|[u]sr/lib/oasis'").text
    expect(not left, "still running: " + left)
    after = set(router.ok(FILES, quiet=True).split("\n"))
    more = sorted(path for path in after - router.before if not path.startswith(RESTLESS))
    owners = [path for path in more if path.startswith("/etc/oasis/")]
    router.log.line("  left of the owner's: %d files in /etc/oasis" % len(owners))
    others = [path for path in more if path not in owners]
    if others:
        raise Failed("left behind: " + " ".join(others[:20]))
    router.run("ls -l /etc/config/oasis* /etc/oasis; nft list tables 2>/dev/null | grep oasis; ls /var/run/oasis")
    expect(router.run("ls /etc/rc.d | grep oasis", quiet=True).status != 0, "links in /etc/rc.d are left")
