"""What nobody should say and somebody will: a clear sentence in bounded time, and no change."""

import time

import pytest

from tests.parts.offline.stock import GUEST, HOME, LEASES, NOW_S, Router, calls_of, reply, steps_of, text_of

READS = {"status", "wifi_scan", "logs", "probe", "diagnose", "read_config", "history"}
PIECES = (
    "block the xbox and ",
    "wifi ",
    "“",
    "屏蔽",
    "ブロックして",
    "a",
    "8.8.8.8 ",
    "-",
    "\u200b",
    "«secret:",
    "до ",
    "🦀",
)


def is_quiet(events):
    """Tell whether an answer has words and no call that does anything."""
    return bool(text_of(events).strip()) and not {name for name, _ in calls_of(events)} - READS


def seconds(sentence):
    best = 60.0
    for _ in range(3):
        start = time.perf_counter()
        Router(HOME).ask(sentence)
        best = min(best, time.perf_counter() - start)
    return best


@pytest.mark.parametrize("piece", PIECES)
def test_a_hundred_kilobytes_are_answered_as_fast_as_a_sentence(piece):
    long = piece * (100_000 // len(piece))
    assert is_quiet(Router(HOME).ask(long))
    usual = seconds("please block the xbox and the nas until ten and then turn off the wifi, the leds and the vpn")
    assert seconds(long) < 25 * usual  # what is read of it is no longer than a sentence may be


@pytest.mark.parametrize("piece", PIECES)
def test_a_sentence_as_long_as_one_may_be_takes_no_time_of_its_own(piece):
    usual = seconds("please block the xbox and the nas until ten and then turn off the wifi, the leds and the vpn")
    for size in (80, 590):
        assert seconds((piece * size)[:size]) < 60 * usual


MIXED = (
    "bloсk the xbox",  # a Cyrillic с
    "屏蔽 the xbox ブロック bitte 192.168.1.x",
    "turn оff the wifi",
    "xboxをblockしないで",
    "включи wifi",
    "أوقف الواي فاي",
    "🚫📶",
    "ｂｌｏｃｋ？？？",
    "t u r n o f f t h e w i f i",
    "wifiwifiwifiwifiwifi",
)
NUMBERS = (
    "set the wifi channel to 99 on 5 GHz",
    "set the 2.4 GHz wifi to channel 36",
    "use channel -1",
    "forward port 70000 to nas",
    "forward port 0 to nas",
    "forward ports 9000-8000 to nas",
    "leite port 70000 an nas weiter",
    "redirige el puerto 70000 al nas",
    "70000番ポートをnasに転送して",
    "把70000端口转发到nas",
    "block the xbox until 25:00",
    "sperre die xbox bis 25:00",
    "bloquea la xbox hasta las 25:00",
    "xboxを25:00までブロックして",
    "屏蔽xbox到25:00",
    "no internet for the nas from 25:00 to 26:00",
    "set the transmit power to 300 dBm",
    "set the transmit power to 300",
    "set the channel width to 33 MHz",
    "set the dhcp lease time to 0 minutes",
    "limit the download to 0 mbit",
    "set the wifi country to XX",
    "set the wifi country to Mordor",
)
ADDRESSES = (
    "always give nas 10.9.8.7",
    "always give nas 8.8.8.8",
    "gib dem nas immer 10.9.8.7",
    "dale siempre al nas la IP 10.9.8.7",
    "nasにいつも10.9.8.7を割り当てて",
    "总是给nas分配10.9.8.7",
    "forward port 443 to 8.8.8.8",
    "set the dhcp range from 10.0.0.1 to 10.0.0.9",
    "set the dhcp range from 192.168.1.200 to 192.168.1.100",
    "change the lan address to 300.1.1.1",
    "let media.lan resolve to 999.1.1.1",
)
CONTRADICTIONS = (
    "set the 2.4 GHz wifi to channel 36",
    "stelle das 2,4 GHz wlan auf kanal 36",
    "pon el wifi de 2,4 GHz en el canal 36",
    "2.4GHzのwifiをチャンネル36にして",
    "把2.4GHz的wifi改成信道36",
    "no internet for the nas from 9:00 to 9:00",
    "kein internet für das nas von 9:00 bis 9:00",
    "nas sin internet de 9:00 a 9:00",
    "turn the wifi on off",
    "turn off the wifi until 22:00 and the leds until 23:00",
    "block and unblock the nas",
)
UNSEEN = (
    "block the xb\u0000ox",
    "block\u200bthe\u200bnas",
    "turn off\u202e the wifi",
    "set the wifi name to \u0007bell",
    'set the wifi name to "Attic\u200b"',
    "call this router at\u0000tic",
    "\x1b[31mturn off\x1b[0m the wifi",
    "\u200b",
    "\n\n\t",
)


@pytest.mark.parametrize("sentence", [*MIXED, *NUMBERS, *ADDRESSES, *CONTRADICTIONS, *UNSEEN])
def test_a_clear_sentence_and_no_change(sentence):
    assert is_quiet(Router(HOME + GUEST).ask(sentence))


NAMES = (
    "x;reboot",
    "$(reboot)",
    "a'b",
    '{"cmd":"reboot"}',
    "set,wireless.radio0.disabled=1",
    "block",
    "and",
    "the",
    "../../etc/passwd",
    "%s%n",
    "«secret:0»",
    "x\u200by",
    "{device}",
    "[x]",
    "a" * 5000,
)
LINE = "1795300000 aa:bb:cc:00:00:66 192.168.1.166 %s *\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_the_leases_is_never_more_than_a_name(name):
    router = Router(HOME, leases=LEASES + LINE % name)
    for sentence in ("block 192.168.1.166", "always give 192.168.1.166 the address 192.168.1.66", "block " + name):
        events = router.ask(sentence)
        for step in steps_of(events):
            assert step["package"] in ("firewall", "dhcp"), step
        if steps_of(events):
            router.changes(events)  # it is a plan that can be carried out


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_the_leases_turns_no_sentence_into_another(name):
    plain, named = Router(HOME), Router(HOME, leases=LEASES + LINE % name)
    for sentence in ("turn off the wifi", "block the nas", "forward port 443 to nas", "set the wifi name to Attic"):
        assert calls_of(named.ask(sentence)) == calls_of(plain.ask(sentence))


def test_an_empty_message_and_a_message_without_text_are_answered():
    for content in ("", " ", [], [{"type": "text", "text": ""}], [{"type": "image"}]):
        assert is_quiet(reply([{"role": "user", "content": content}], Router().facts, NOW_S))
