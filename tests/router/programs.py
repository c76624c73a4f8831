"""The stock router's programs beside `ubus`, as far as tools start them; each answers as the real one on such a router.

    programs.py NAME [ARGUMENT…]     the root is OASIS_ROOT

Packages and the outside world come from packages.json and net.json beside this file; a copy's own come first. What
changed something is a line in var/log/programs.log. var/run/faults/NAME makes a program fail, as it does services:
`sleep 60`, `flood` (prints without end), `fork` (leaves a child behind that holds the output), or an exit status.
"""

import json
import os
import subprocess
import sys
import tarfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Router:
    def __init__(self, root):
        self.root = root

    def data(self, name):
        for folder in (self.root, FOLDER):
            try:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    return json.load(file)
            except FileNotFoundError:
                continue
        raise SystemExit(f"no {name}")

    def save(self, name, value):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
            json.dump(value, file)

    def put(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755 if "/init.d/" in path else 0o644)

    def log(self, *words):
        with open(os.path.join(self.root, "var/log/programs.log"), "a", encoding="utf-8") as file:
            file.write(" ".join(words) + "\n")


def ping(router, words):
    target = words[-1]
    count = int(words[words.index("-c") + 1])
    ms = router.data("net.json")["alive"].get(target)
    print(f"PING {target} ({target}): 56 data bytes")
    for number in range(count if ms is not None else 0):
        print(f"64 bytes from {target}: seq={number} ttl=57 time={ms:.3f} ms")
    got = count if ms is not None else 0
    loss = 100 - 100 * got // count
    print(f"\n--- {target} ping statistics ---")
    print(f"{count} packets transmitted, {got} packets received, {loss}% packet loss")
    if got:
        print(f"round-trip min/avg/max = {ms:.3f}/{ms + 0.4:.3f}/{ms + 1:.3f} ms")
    return 0 if got else 1


def traceroute(router, words):
    print(f"traceroute to {words[-1]} ({words[-1]}), 15 hops max, 46 byte packets")
    for number, hop in enumerate(router.data("net.json")["hops"], 1):
        print(f"{number:2d}  {hop}  {number * 2.5:.3f} ms" if hop else f"{number:2d}  *")
    return 0


def nslookup(router, words):
    print("Server:\t\t127.0.0.1\nAddress:\t127.0.0.1:53\n")
    found = router.data("net.json")["names"].get(words[0])
    if found is None:
        print(f"** server can't find {words[0]}: NXDOMAIN\n")
        return 1
    for address in found:
        print(f"Non-authoritative answer:\nName:\t{words[0]}\nAddress: {address}\n")
    return 0


def opkg(router, words):
    known = router.data("packages.json")
    is_dry = "--noaction" in words
    words = [word for word in words if not word.startswith("-")]
    command, names = words[0], words[1:]
    has_lists = os.path.isdir(os.path.join(router.root, "var/opkg-lists"))
    feed = known["feed"] if has_lists else {}
    if command == "update":
        os.makedirs(os.path.join(router.root, "var/opkg-lists"), exist_ok=True)
        open(os.path.join(router.root, "var/opkg-lists/openwrt_base"), "w").close()
        print("Updated list of available packages in /var/opkg-lists/openwrt_base")
        return 0
    if command == "find":
        wanted = names[0].strip("*").lower()
        for name, entry in feed.items():
            if wanted in name.lower() or wanted in entry["description"].lower():
                print(f"{name} - {entry['version']} - {entry['description']}")
        return 0
    if command == "list-upgradable":
        for name, version in known["installed"].items():
            if name in feed and feed[name]["version"] != version:
                print(f"{name} - {version} - {feed[name]['version']}")
        return 0
    if command == "info":
        for name in names[:1]:  # the real one looks at no further word
            if name in feed:
                entry = feed[name]
                print(f"Package: {name}\nVersion: {entry['version']}\nSize: {entry['size']}")
                print(f"Installed-Size: {entry['installed']}\nDescription:  {entry['description']}\n")
        return 0
    if command == "install":
        return _install(router, known, feed, names, is_dry)
    if command == "remove":
        return _remove(router, known, names)
    return 255


def _install(router, known, feed, names, is_dry):
    for name in names:
        if name not in feed and name not in known["installed"]:
            print(f"Unknown package '{name}'.")
            print(f"Collected errors:\n * opkg_install_cmd: Cannot install package {name}.", file=sys.stderr)
            return 255
        for needed in feed.get(name, {}).get("depends", []):
            _install(router, known, feed, [needed], is_dry)
        if name in known["installed"]:
            continue
        print(f"Installing {name} ({feed[name]['version']}) to root...")
        if not is_dry:
            known["installed"][name] = feed[name]["version"]
            router.save("packages.json", known)
            router.log("opkg install", name)
            for path, text in feed[name].get("files", {}).items():
                router.put(path, text)
            print(f"Configuring {name}.")
    return 0


def _remove(router, known, names):
    for name in names:
        if name not in known["installed"]:
            print("No packages removed.")
            return 0
        del known["installed"][name]
        for path in known["feed"].get(name, {}).get("files", {}):
            os.remove(os.path.join(router.root, path))
        print(f"Removing package {name} from root...")
        router.log("opkg remove", name)
    router.save("packages.json", known)
    return 0


def poweroff(router, words):
    router.log("poweroff")
    return 0


def sysupgrade(router, words):
    with tarfile.open(words[words.index("-b") + 1], "w:gz") as archive:
        archive.add(os.path.join(router.root, "etc/config"), "etc/config")
    return 0


def _fail(router, name):
    """Do what a fault says; return an exit status, None for no fault."""
    try:
        with open(os.path.join(router.root, "var/run/faults", name), encoding="utf-8") as file:
            fault = file.read().split()
    except FileNotFoundError:
        return None
    if fault[0] == "sleep":
        time.sleep(float(fault[1]))
    elif fault[0] == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    elif fault[0] == "fork":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        router.log("child", str(child.pid))
        time.sleep(60)
    return int(fault[0]) if fault[0].isdigit() else 0


if __name__ == "__main__":
    here = Router(os.environ["OASIS_ROOT"])
    status = _fail(here, sys.argv[1])
    sys.exit(globals()[sys.argv[1]](here, sys.argv[2:]) if status is None else status)
