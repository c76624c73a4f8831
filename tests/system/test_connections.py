"""Connections as the kernel lists them, in both byte orders of its numbers, and as a web server names them."""

import os
import socket
import sys

import pytest

from oasis.errors import UsageError
from oasis.system.connections import OPEN, connection, connections, is_loopback, mirrored, of_processes

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def word(address, family=socket.AF_INET):
    """Return an address as this host's kernel prints it."""
    packed = socket.inet_pton(family, address)
    parts = [packed[at : at + 4] for at in range(0, len(packed), 4)]
    return "".join(f"{int.from_bytes(part, sys.byteorder):08X}" for part in parts)


def table(folder, name, *rows, family=socket.AF_INET):
    lines = [
        f"   {n}: {word(local, family)}:{lport:04X} {word(remote, family)}:{rport:04X} {state:02X} 00000000:00000000\n"
        for n, (local, lport, remote, rport, state) in enumerate(rows)
    ]
    (folder / name).write_text(HEAD + "".join(lines))


def test_connections_are_read_and_listeners_left_out(tmp_path):
    rows = [("192.168.1.1", 80, "192.168.1.142", 52814, 1), ("0.0.0.0", 80, "0.0.0.0", 0, 10)]
    table(tmp_path, "tcp", *rows, ("192.168.1.1", 22, "192.168.1.142", 40000, 6))
    found = connections(str(tmp_path))
    assert found[connection("192.168.1.1", "80", "192.168.1.142", "52814")] in OPEN
    assert found[connection("192.168.1.1", "22", "192.168.1.142", "40000")] not in OPEN
    assert len(found) == 2


def test_an_ipv4_address_in_an_ipv6_socket_is_the_same_connection(tmp_path):
    table(tmp_path, "tcp")
    row = ("::ffff:192.168.1.1", 80, "::ffff:192.168.1.142", 52814, 1)
    table(tmp_path, "tcp6", row, ("fd00::1", 80, "fd00::2", 5, 1), family=socket.AF_INET6)
    found = connections(str(tmp_path))
    assert connection("192.168.1.1", "80", "192.168.1.142", "52814") in found
    assert connection("::ffff:192.168.1.1", "80", "::ffff:192.168.1.142", "52814") in found
    assert connection("fd00::1", "80", "fd00::2", "5") in found


def test_a_real_connection_of_this_host_is_found_from_both_ends():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            here, there = server.getsockname(), client.getsockname()
            one = connection(here[0], str(here[1]), there[0], str(there[1]))
            found = connections()
            assert found[one] in OPEN
            assert mirrored(one) in found


@pytest.mark.parametrize(
    "address, answer",
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("::ffff:127.0.0.1", True), ("128.0.0.1", False),
     ("192.168.1.1", False), ("fe80::1", False), ("::2", False)],
)  # fmt: skip
def test_loopback(address, answer):
    assert is_loopback(connection(address, "1", "10.0.0.1", "2")[0]) is answer


@pytest.mark.parametrize(
    "words", [("", "80"), ("router", "80"), ("1.2.3", "80"), ("1.2.3.4", ""), ("1.2.3.4", "-1"), ("1.2.3.4", "65536")]
)
def test_what_is_no_address_is_refused(words):
    with pytest.raises(UsageError):
        connection(*words, "10.0.0.1", "1")


def test_a_kernel_without_ipv6_has_no_second_table(tmp_path):
    table(tmp_path, "tcp", ("192.168.1.1", 80, "192.168.1.142", 52814, 1))
    assert len(connections(str(tmp_path))) == 1


def test_the_connections_of_a_process_are_found_by_its_sockets():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        here, there = client.getsockname(), server.getsockname()
        one = connection(here[0], str(here[1]), there[0], str(there[1]))
        assert one in of_processes([os.getpid()])
        assert one not in of_processes([1])
    assert of_processes([]) == []


def test_a_process_that_is_gone_holds_nothing(tmp_path):
    (tmp_path / "net").mkdir()
    table(tmp_path / "net", "tcp", ("192.168.1.1", 22, "192.168.1.142", 40000, 1))
    assert of_processes([4242], str(tmp_path)) == []
