"""Write openwrt-feed/ from manifest.json: `python3 package/feed.py`. What it wrote is checked in; a test compares.

A feed is a folder for each source package, with a Makefile for OpenWrt's build system. `oasis` has the service and all
of its parts, compiled by python3-package.mk; `luci-app-oasis` is in the shape that luci.mk expects (htdocs, root, po),
by links into this tree.
"""

from __future__ import annotations

import os
import sys

import manifest as manifests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from manifest import Manifest

FOLDER = os.path.join(manifests.REPOSITORY, "openwrt-feed")
# In the shape of a LuCI app: where the parts of the tree are, seen from the folder of the link.
LINKS = {
    "luci-app-oasis/htdocs": "../../files/www",
    "luci-app-oasis/po": "../../po",
    "luci-app-oasis/root/usr/share/luci": "../../../../../files/usr/share/luci",
    "luci-app-oasis/root/usr/share/rpcd/acl.d/luci-app-oasis.json": (
        "../../../../../../../files/usr/share/rpcd/acl.d/luci-app-oasis.json"
    ),
}
_HEAD = """# SPDX-License-Identifier: {license}
# Written by package/feed.py from package/manifest.json: change those.

include $(TOPDIR)/rules.mk

PKG_NAME:={name}
PKG_VERSION:={version}
PKG_RELEASE:={release}

PKG_MAINTAINER:={maintainer}
PKG_LICENSE:={license}
PKG_LICENSE_FILES:={license_files}
"""
_OASIS = """
PKG_BUILD_DEPENDS:=python3/host

PYTHON3_PKG_BUILD:=0

include $(INCLUDE_DIR)/package.mk
include $(TOPDIR)/feeds/packages/lang/python/python3-package.mk

# The sources lie beside the feed in one repository, which src-git and src-link bring whole.
OASIS_SOURCE:=$(abspath $(CURDIR)/../..)

{packages}define Build/Prepare
	[ -e $(OASIS_SOURCE)/package/manifest.json ] || {{ \\
		echo "oasis: no sources in $(OASIS_SOURCE): the feed needs the whole repository" >&2; exit 1; }}
	$(INSTALL_DIR) $(PKG_BUILD_DIR)
	$(CP) $(OASIS_SOURCE)/{license_files} $(OASIS_SOURCE)/files $(OASIS_SOURCE)/oasis $(PKG_BUILD_DIR)/
	$(FIND) $(PKG_BUILD_DIR) {left_out} -delete
endef

define Build/Compile
endef

# As python3-package.mk has it, but for the first line of the launcher, which keeps its options -IS, and the sources,
# which are all in oasis-src.
define OasisCompile
	$(call Python3/CompileAll,$(1))
	$(call Python3/DeleteSourceFiles,$(1))
	$(call Python3/DeleteEmptyDirs,$(1))
endef

{installs}{calls}
"""
_LUCI = """
LUCI_TITLE:={title}
LUCI_DESCRIPTION:={description}
LUCI_DEPENDS:={depends}
LUCI_EXTRA_DEPENDS:={exactly}
LUCI_PKGARCH:=all
LUCI_MAINTAINER:=$(PKG_MAINTAINER)
LUCI_URL:=
PKG_PO_VERSION:=$(PKG_VERSION)-r$(PKG_RELEASE)

# root/ holds links into the tree; what is packed are the files.
define Build/Prepare/luci-app-oasis
	rm -rf $(PKG_BUILD_DIR)/root
	cp -RL $(CURDIR)/root $(PKG_BUILD_DIR)/root
endef
{scripts}
include $(TOPDIR)/feeds/luci/luci.mk

# call BuildPackage - OpenWrt buildroot signature
"""


def words(names: list[str], mark: str) -> str:
    return " ".join(mark + name for name in names)


def exactly(manifest: Manifest, what: Manifest) -> str:
    """Return which packages of ours a package needs in its own version, so that an upgrade takes them along."""
    return ", ".join(
        f"{one} (=$(PKG_VERSION)-r$(PKG_RELEASE))" for one in what["depends"] if one in manifest["packages"]
    )


def package(manifest: Manifest, name: str, first: dict[tuple[str, str], str]) -> str:
    """Return the metadata, the text files and the scripts of a package as make's definitions; `first` see scripts."""
    what = manifest["packages"][name]
    lines = [
        f"SECTION:={what['section']}",
        f"CATEGORY:={what['category']}",
        f"TITLE:={what['title']}",
        f"DEPENDS:={words(what['depends'], '+')}",
        f"EXTRA_DEPENDS:={exactly(manifest, what)}",
        f"CONFLICTS:={' '.join(what.get('conflicts', []))}",
        f"USERID:={manifests.users(what)}",
        "PKGARCH:=all",
    ]
    kept = [line for line in lines if not line.endswith(":=")]
    text = definition(f"Package/{name}", kept) + definition(f"Package/{name}/description", what["description"])
    if what.get("conffiles"):
        text += definition(f"Package/{name}/conffiles", what["conffiles"], "")
    return text + scripts(name, what, first)


def scripts(name: str, what: Manifest, first: dict[tuple[str, str], str]) -> str:
    """Return the scripts of a package as make's definitions.

    `first` is {(script, text): the package that has it first}: such a text is written once, and named by the others.
    """
    parts = []
    for script, text in manifests.scripts(what).items():
        owner = first.setdefault((script, text), name)
        if owner == name:
            lines = text.rstrip("\n").replace("$", "$$").split("\n")
            parts.append(definition(f"Package/{name}/{script}", lines, ""))
        else:
            parts.append(f"Package/{name}/{script} = $(Package/{owner}/{script})\n\n")
    return "".join(parts)


def definition(name: str, lines: list[str], indent: str = "  ") -> str:
    return f"define {name}\n" + "".join((indent + line).rstrip() + "\n" for line in lines) + "endef\n\n"


def install(manifest: Manifest, name: str) -> str:
    """Return the recipe of a package: it lays out the files, without those of other packages, and compiles."""
    what, lines = manifest["packages"][name], []
    if not what["files"]:
        return f"Package/{name}/install:=:\n\n"
    for target, source in what["files"].items():
        if os.path.isfile(os.path.join(manifests.REPOSITORY, source)):
            lines += [f"$(INSTALL_DIR) $(1){os.path.dirname(target)}", f"$(CP) $(PKG_BUILD_DIR)/{source} $(1){target}"]
        else:
            lines += [f"$(INSTALL_DIR) $(1){target}", f"$(CP) $(PKG_BUILD_DIR)/{source}/. $(1){target}/"]
            theirs = [one for one in sorted(manifests.others(manifest, what)) if one.startswith(source + "/")]
            lines += [f"rm -rf $(1){target}{one[len(source) :]}" for one in theirs]
    if "only" in what:
        lines.append(f"$(FIND) $(1) -type f ! -name '{what['only']}' -delete")
        lines.append("$(call Python3/DeleteEmptyDirs,$(1))")
    for condition, mode in (("", "0755"), ("!", "0644")):
        test = f"{condition} -perm -u+x".strip()
        lines.append(f"$(FIND) $(1) -type f {test} -exec chmod {mode} {{}} +")
    lines += [f"chmod {mode} $(1){target}" for target, mode in what.get("modes", {}).items()]
    if "only" not in what:
        lines.append("$(call OasisCompile,$(1))")
    return definition(f"Package/{name}/install", lines, "\t")


def left_out(patterns: list[str]) -> str:
    """Return find's words for what is in no package; folders come after their content."""
    names = [
        *(f"-name '{pattern}'" for pattern in patterns if not pattern.startswith("__")),
        *(f"-path '*/{pattern}*'" for pattern in patterns if pattern.startswith("__")),
    ]
    return "-depth -mindepth 1 \\( " + " -o ".join(names) + " \\)"


def texts(manifest: Manifest) -> dict[str, str]:
    """Return {path in the feed: text} of every file that is written."""
    every = manifest["packages"]
    luci = every["luci-app-oasis"]
    head = {key: manifest[key] for key in ("version", "release", "maintainer", "license", "license_files")}
    ours = manifest["homes"]["oasis"]
    first: dict[tuple[str, str], str] = {}
    mine = "".join(package(manifest, name, first) for name in ours)
    pages = _LUCI.format(
        title=luci["title"],
        description=" ".join(luci["description"]),
        depends=words(luci["depends"], "+"),
        exactly=exactly(manifest, luci),
        scripts="\n" + scripts("luci-app-oasis", luci, {}).rstrip("\n") + "\n",
    )
    inside = {
        "packages": mine,
        "installs": "".join(install(manifest, name) for name in ours),
        "calls": "\n".join(f"$(eval $(call BuildPackage,{name}))" for name in ours),
        "left_out": left_out(manifest["leave_out"]),
    }
    return {
        "oasis/Makefile": (_HEAD + _OASIS).format(name="oasis", **inside, **head),
        "luci-app-oasis/Makefile": _HEAD.format(name="luci-app-oasis", **head) + pages,
    }


def main() -> int:
    for path, text in texts(manifests.load()).items():
        os.makedirs(os.path.dirname(os.path.join(FOLDER, path)), exist_ok=True)
        with open(os.path.join(FOLDER, path), "w", encoding="utf-8") as file:
            file.write(text)
    for path, target in LINKS.items():
        link = os.path.join(FOLDER, path)
        os.makedirs(os.path.dirname(link), exist_ok=True)
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(target, link)
    return 0


if __name__ == "__main__":
    sys.exit(main())
