"""The real fw4, where its parts are: renders a firewall package as `fw4 print` does, from values instead of a router.

Needs the program `ucode` on PATH and firewall4's files under $FIREWALL4 (the folder that holds share/ucode/fw4.uc or
usr/share/ucode/fw4.uc) or /usr; its modules `uci` and `ubus` are replaced by values, as firewall4's own tests do it.
"""

import json
import os
import shutil
import subprocess

_UCI = """
let fs = require("fs");
let data = json(fs.readfile(getenv("FW4_DATA")));
return {
	cursor: () => ({
		load: () => true,
		foreach: (config, type, call) => {
			for (let one in (config == "firewall" ? data.firewall : []))
				if (one[".type"] == type && call(one) === false)
					break;
		},
		get_all: (config, name) => filter(data.firewall, one => one[".name"] == name)[0],
		get: (config, name, option) => filter(data.firewall, one => one[".name"] == name)[0]?.[option],
	}),
};
"""
_UBUS = """
let fs = require("fs");
let data = json(fs.readfile(getenv("FW4_DATA")));
return {
	connect: () => ({
		call: (object, method) => (object == "network.interface" && method == "dump") ? data.interfaces : {},
		disconnect: () => true,
	}),
};
"""


def _share():
    for folder in (os.environ.get("FIREWALL4", ""), "/usr"):
        for middle in ("/share", "/usr/share"):
            if folder and os.path.exists(folder + middle + "/ucode/fw4.uc"):
                return folder + middle
    return ""


def missing():
    if not shutil.which("ucode"):
        return "ucode (build it from OpenWrt's sources)"
    return "" if _share() else "firewall4 (its root/ folder in $FIREWALL4)"


def render(firewall, interfaces, folder):
    """Return what `fw4 print` prints, and its warnings.

    Shape: `firewall` the sections as oasis.uci.model gives them, `interfaces` the reply of `network.interface dump`;
    `folder` a scratch folder.
    """
    kept = []
    for section in firewall.values():
        kept.append({key: value for key, value in section.items() if key != ".index"})
    for name, text in (("uci.uc", _UCI), ("ubus.uc", _UBUS)):
        with open(f"{folder}/{name}", "w") as handle:
            handle.write(text)
    with open(f"{folder}/data.json", "w") as handle:
        json.dump({"firewall": kept, "interfaces": interfaces}, handle)
    share = _share()
    told = subprocess.run(
        ["ucode", "-S", "-T", "-L", f"{folder}/*.uc", "-L", f"{share}/ucode/*.uc", f"{share}/firewall4/main.uc"],
        env={**os.environ, "ACTION": "print", "FW4_DATA": f"{folder}/data.json"}, capture_output=True, text=True,
    )  # fmt: skip
    return told.stdout, told.stderr
