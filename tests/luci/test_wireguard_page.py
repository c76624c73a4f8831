"""The page of WireGuard with the real daemon: a server, a device and its QR code, which a reader reads back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.luci.expecting import expect
from tests.luci.furnished import find_barriers
from tests.luci.test_services_page import closed, dialog, press
from tests.oasisd import start_daemon

pytestmark = [pytest.mark.browser, pytest.mark.part("admin")]

NAME = "Anna's 漢字 phone"


@pytest.fixture
def served(tmp_path: Any, start: Any) -> Iterator[Callable[..., tuple[Any, str]]]:
    from tests.parts.admin.world import router

    daemon = start_daemon(router(tmp_path / "router"))
    _, url = start("server.py", "--root", daemon.root, "--viewer", "any")
    yield daemon, url
    daemon.stop()


def approved(page: Any, title: str) -> None:
    """Approve the plan of a run, and keep what comes of it."""
    box = page.locator(".oasis-run", has_text=title)
    press(box, "Approve")
    press(page, "Keep")
    press(page, "Keep without a proof")  # the loopback proves nothing
    expect(page.locator(".oasis-pending")).to_be_hidden()


def read(page: Any) -> list[str]:
    """Return what a reader of QR codes sees on the page."""
    zxingcpp = pytest.importorskip("zxingcpp", reason="pip install zxing-cpp")
    width, height, data = page.locator("canvas.oasis-qr").evaluate("""node => {
        const pixels = node.getContext('2d').getImageData(0, 0, node.width, node.height).data;
        return [ node.width, node.height, Array.from(pixels).filter((_, at) => !(at % 4)) ];
    }""")
    picture = memoryview(bytes(data)).cast("B", (height, width))
    return [one.text for one in zxingcpp.read_barcodes(picture)]


def test_a_server_is_made_and_a_device_gets_its_code(served: Any, visit: Any) -> None:
    daemon, url = served
    page = visit(url, where="wireguard")
    expect(page.locator(".oasis-nothing")).to_have_text("There is no WireGuard server here yet.")
    press(page, "Make a server")
    approved(page, "Make a server")
    expect(page.get_by_role("heading", name="wg0", exact=True)).to_be_visible()
    press(page, "Add a device")
    dialog(page).get_by_label("Name").fill(NAME)
    press(dialog(page), "Save")
    closed(page)
    approved(page, f"Add {NAME}")
    row = page.get_by_role("row").filter(has_text=NAME)
    expect(row).to_contain_text("10.14.0.2/32")
    find_barriers(page)

    press(page, "Change")
    dialog(page).get_by_label("Name or address").fill("vpn.example.org")
    press(dialog(page), "Save")
    closed(page)
    expect(page.get_by_text("Devices find the router at vpn.example.org.")).to_be_visible()
    press(row, "QR code")
    expect(dialog(page).get_by_role("img", name=f"QR code of {NAME}")).to_be_visible()
    find_barriers(page)
    (whole,) = read(page)
    assert "Endpoint = vpn.example.org:51820" in whole and "AllowedIPs = 0.0.0.0/0" in whole
    private = whole.partition("PrivateKey = ")[2].partition("\n")[0]
    assert private not in page.content()
    before = page.locator("canvas.oasis-qr").evaluate("node => node.toDataURL()")
    dialog(page).get_by_label("Through the tunnel goes").select_option("1")
    page.wait_for_function("old => document.querySelector('canvas.oasis-qr')?.toDataURL() != old", arg=before)
    (home,) = read(page)
    assert "AllowedIPs = 10.14.0.0/24, 192.168.1.0/24" in home
    press(dialog(page), "Close")
    closed(page)
    expect(page.locator("canvas")).to_have_count(0)

    press(row, "Remove")
    approved(page, f"Remove {NAME}")
    expect(page.get_by_text("No device yet.")).to_be_visible()
    assert daemon.call("wireguard.list")["interfaces"][0]["peers"] == []


def test_who_may_only_look_makes_nothing_and_sees_no_code(served: Any, visit: Any) -> None:
    _, url = served
    page = visit(url, user="viewer", where="wireguard")
    expect(page.get_by_role("alert")).to_contain_text("Log in again, as a user with write access to Oasis.")
    assert page.locator(".oasis-page button:enabled").all_inner_texts() == ["Try again"]
