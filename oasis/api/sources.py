"""The sources of tools that are not built in: MCP servers, plugins, what the owner sets up.

Each is made, and its modules loaded, with its first use: where the settings name none, listing the tools loads nothing.
"""

from __future__ import annotations

import os
import threading

from oasis.parts.lua import FOLDER
from oasis.ubus.objects import Ubus, opener

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oasis.config.settings import Settings
    from oasis.parts.lua.plugin_shelf import Plugins
    from oasis.parts.mcp.servers import Servers
    from oasis.system.executor import Executor
    from oasis.system.files import Files
    from oasis.system.root import Root
    from oasis.tools.registry import Registry
    from oasis.tools.workspace.source import Seed
    from oasis.uci.cursor import Cursor

# Sections by which servers and plugins are told of; of the last also those in which the owner only set something.
_SERVERS = ("mcp_server", "remote_mcp_server")
_PLUGINS = ("plugin", "tool")


class Sources:
    """The sources of one daemon, which join a registry; `models` reaches MCP servers and the web."""

    def __init__(
        self, registry: Registry, settings: Settings, files: Files, root: Root, models: Any, executor: Executor,
        cursor: Callable[[], Cursor], now_s: Callable[[], float],
    ) -> None:  # fmt: skip
        self._registry = registry
        self._settings = settings
        self._files = files
        self._root = root
        self._models = models
        self._executor = executor
        self._cursor = cursor
        self._now_s = now_s
        self._lock = threading.RLock()
        self._servers: Servers | None = None
        self._plugins: Plugins | None = None
        self._seed: Seed | None = None
        registry.add(lambda: self.servers().sources() if self._servers or self._has(_SERVERS) else [])
        registry.add(lambda: self.plugins().sources() if self._plugins or self._has_plugins() else [])
        registry.add(lambda: [self.seed()])

    def _has(self, types: tuple[str, ...]) -> bool:
        return any(section.type in types for section in self._settings.sections())

    def _has_plugins(self) -> bool:
        return bool(self._files.names(self._root.path(FOLDER))) or self._has(_PLUGINS)

    def servers(self) -> Servers:
        """Return the MCP servers."""
        with self._lock:
            if self._servers is None:
                from oasis.parts.mcp.kept import Keep
                from oasis.parts.mcp.servers import Servers
                from oasis.parts.mcp.stdio import USER

                settings, models = self._settings, self._models
                keep = Keep(self._files, self._root.state_folder + "/mcp")
                user = USER if self._root.folder == "/" else ""
                token = lambda name: settings.key("mcp:" + name)  # noqa: E731
                self._servers = Servers(settings.sections, keep, token, lambda: models.post, user, {}, self._cursor)
            return self._servers

    def plugins(self) -> Plugins:
        """Return the plugins of rpcd."""
        with self._lock:
            if self._plugins is None:
                from oasis.parts.lua.plugin_shelf import Plugins

                root = self._root
                bus = Ubus(self._executor, root.program("ubus"), opener(root.bus_socket), root.folder == "/")
                self._plugins = Plugins(
                    root, self._files, self._settings.uci_sections, self._cursor, bus.call, self._registry.call,
                    self._now_s,
                )  # fmt: skip
            return self._plugins

    def seed(self) -> Seed:
        """Return the tools of the workspace and the web."""
        with self._lock:
            if self._seed is None:
                from oasis.tools.workspace.programs import USER
                from oasis.tools.workspace.source import Seed
                from oasis.tools.workspace.web import BRAVE, Net

                settings, models = self._settings, self._models
                net = Net(lambda *asked: models.web(*asked), settings.uci_sections, lambda: settings.key(BRAVE))
                self._seed = Seed(self._root, settings.uci_sections, USER if os.geteuid() == 0 else "", net)
            return self._seed

    def close(self) -> None:
        """End the servers that were started."""
        if self._servers is not None:
            self._servers.close()
