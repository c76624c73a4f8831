"""The official client of the protocol's makers against `oasis mcp`, in both ways and over both transports."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib.util
import json

import pytest

from tests.parts.mcp.peer import command, environment
from tests.parts.mcp.test_http import served  # noqa: F401  (a fixture)

if importlib.util.find_spec("mcp") is None or importlib.util.find_spec("mcp_types") is None:
    pytest.skip("NOT RUN: no mcp 2 (pip install mcp)", allow_module_level=True)


def run(work):
    """Run a coroutine in a thread of its own: in this one a browser's loop may be running."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def used(client):
    """Return what a client sees of the router."""
    async with client:
        tools = (await client.list_tools()).tools
        good = await client.call_tool("status", {"what": "overview"})
        bad = await client.call_tool("status", {"what": "nonsense"})
        resources = (await client.list_resources()).resources
        read = await client.read_resource("oasis://config/system")
    assert {"status", "configure", "diagnose"} <= {one.name for one in tools}
    assert not good.is_error and json.loads(good.content[0].text)["hostname"] == "OpenWrt"
    assert bad.is_error and "nonsense" in bad.content[0].text
    assert "oasis://doctor" in {str(one.uri) for one in resources}
    assert "hostname" in read.contents[0].text
    return client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_standard_input_and_output(daemon, mode):
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    argv = command("mcp")
    parameters = StdioServerParameters(command=argv[0], args=argv[1:], env=environment(daemon.root))
    run(used(Client(stdio_client(parameters), mode=mode)))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_http(served, mode):  # noqa: F811  (a fixture)
    import httpx2
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    async def work():
        headers = {"Authorization": "Bearer " + served.token}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            url = f"http://127.0.0.1:{served.port}/mcp"
            await used(Client(streamable_http_client(url, http_client=http), mode=mode))

    run(work())
