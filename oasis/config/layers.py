"""Settings on a host that is no router: a file oasis.toml and the environment above UCI. A router has UCI alone."""

from __future__ import annotations

import os

if False:  # annotations only
    from collections.abc import MutableMapping

    from oasis.config.host import Layers
    from oasis.core.shapes import Any, Callable
    from oasis.system.files import Files

# What can hold a setting or a key; without one of these, and without the file, nothing is loaded.
_OURS, _KEYS = "OASIS_", ("_API_KEY", "_TOKEN")


def found(
    files: Files, folder: str, environment: MutableMapping[str, str], profiles: Callable[[], dict[str, dict[str, Any]]]
) -> Layers | None:
    """Return the layers of a router root, None for a router and where there are none; see host.py.

    Raises: SettingsError for what nobody knows or what is no value.
    """
    words = [name for name in environment if name.startswith(_OURS) or name.endswith(_KEYS)]
    if folder == "/" or (words in ([], ["OASIS_ROOT"]) and not os.path.exists(folder + "/oasis.toml")):
        return None
    from oasis.config import host

    return host.load(files, folder, environment, profiles)
