"""By which connection somebody came: told by the kernel and the web server, never by who asks."""

from oasis.change.apply.proof_of_life import KEEP_S, Origins
from oasis.system.connections import connection

PAGE = connection("192.168.1.1", "80", "192.168.1.142", "50000")
SSH = connection("192.168.1.1", "22", "192.168.1.142", "50001")
TUNNEL = connection("127.0.0.1", "80", "127.0.0.1", "50002")
OWN = connection("192.168.1.1", "80", "192.168.1.1", "50003")
OWNERS = "a" * 32


class Clock:
    now_s = 0.0


def origins(clock=Clock, known=(PAGE, SSH, TUNNEL, OWN)):
    return Origins(
        lambda: dict.fromkeys(known, 1), OWNERS.__eq__, lambda pid: [SSH] if pid == 7 else [], lambda: clock.now_s
    )


def test_a_page_is_known_by_its_session():
    one = origins()
    assert one.seen(OWNERS, PAGE) == "seen"
    assert one.of({"name": "owner", "session": OWNERS}) == [PAGE]
    assert one.of({"name": "owner", "session": "b" * 32, "pid": 7}) == []


def test_a_login_is_known_by_its_process():
    assert origins().of({"name": "owner", "terminal": True, "pid": 7}) == [SSH]
    assert origins().of({"name": "owner", "terminal": True, "pid": 8}) == []
    assert origins().of({"name": "schedule", "terminal": False}) == []


def test_what_the_kernel_does_not_list_is_no_way():
    one = origins(known=(SSH,))
    assert one.seen(OWNERS, PAGE) == "stranger"
    assert one.of({"session": OWNERS}) == []


def test_a_tunnels_end_is_no_way():
    assert origins().seen(OWNERS, TUNNEL) == "loopback"
    assert origins().seen(OWNERS, OWN) == "loopback"


def test_a_session_that_is_no_owners_is_not_remembered():
    one = origins()
    assert one.seen("b" * 32, PAGE) == "denied"
    assert one.of({"session": "b" * 32}) == []


def test_a_page_that_is_not_loaded_again_is_forgotten():
    clock = Clock()
    one = origins(clock)
    one.seen(OWNERS, PAGE)
    clock.now_s = KEEP_S + 1.0
    assert one.of({"session": OWNERS}) == []


def test_the_oldest_sessions_give_way():
    one = Origins(lambda: {PAGE: 1}, lambda session: True, lambda pid: [], lambda: 0.0)
    for number in range(40):
        one.seen(str(number), PAGE)
    assert one.of({"session": "0"}) == []
    assert one.of({"session": "39"}) == [PAGE]
