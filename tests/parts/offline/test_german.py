"""German sentences, by the same rules as the English ones."""

from tests.parts.offline.stock import GUEST, HOME, Router, calls_of, text_of
from tests.parts.offline.test_english_changes import (
    DNS,
    KEYS,
    NAME,
    OFF,
    ON,
    SSIDS,
    block,
    forward,
    guest,
    key,
    lease,
    zone,
)

STOCK = {
    "nenne den Router attic": {NAME: "attic"},
    "Bitte benenne den Router in attic um": {NAME: "attic"},
    "der Router soll attic heißen": {NAME: "attic"},
    "ändere den Hostnamen auf attic": {NAME: "attic"},
    "Kannst du den Router attic nennen?": {NAME: "attic"},
    "benene den Ruoter um in attic": {NAME: "attic"},
    "nenne das WLAN Attic": SSIDS,
    "setze den WLAN-Namen auf Attic": SSIDS,
    "das WLAN soll Attic heißen": SSIDS,
    "Ändere bitte die SSID auf Attic": SSIDS,
    "setze das WLAN-Passwort auf hunter2hunter": KEYS,
    "Ändere bitte das WLAN Passwort in hunter2hunter": KEYS,
    "Könntest du das WLAN-Passwort auf hunter2hunter setzen?": KEYS,
    "ändere das Passwort vom WLAN auf hunter2hunter": KEYS,
    "setze das WLAN-Passwort auf „korrektes Pferd 7“": key("korrektes Pferd 7"),
    "aendere das WLAN-Passwort auf hunter2hunter": KEYS,
    "setze den WLAN-Namen auf Attic und das Passwort auf hunter2hunter": {**SSIDS, **KEYS},
    "schalte das WLAN ein": ON,
    "mach das WLAN an": ON,
    "aktiviere das WLAN": ON,
    "schalte das 5-GHz-WLAN ein": {"wireless.radio1.disabled": "0"},
    "schalte das WLAN auf 2,4 GHz ein": {"wireless.radio0.disabled": "0"},
    "richte ein Gäste-WLAN namens Besuch mit dem Passwort welcome123 ein": guest("Besuch", "welcome123"),
    "erstelle ein Gastnetz namens Besuch ohne Passwort": guest("Besuch", "", encryption="none"),
    "ändere die LAN-Adresse auf 192.168.2.1": {"network.lan.ipaddr": "192.168.2.1"},
    "gib dem HP-Printer immer 192.168.1.50": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "reserviere 192.168.1.50 für hp-printer": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "leite Port 443 an nas weiter": forward("443", "192.168.1.105", "nas"),
    "öffne TCP Port 443 für nas": forward("443", "192.168.1.105", "nas", proto=("tcp",)),
    "richte eine Portweiterleitung für 443 an nas ein": forward("443", "192.168.1.105", "nas"),
    "nimm 1.1.1.1 und 9.9.9.9 als DNS-Server": DNS,
    "stelle die DNS-Server auf 1.1.1.1 und 9.9.9.9": DNS,
    "stelle die Zeitzone auf München": zone("Europe/Berlin"),
    "Der Router steht in Berlin": zone("Europe/Berlin"),
    "sperre die Xbox": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "kein Internet für die Xbox": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "sperre die Xbox und nas": {**block(1, "aa:bb:cc:00:00:04", "xbox"), **block(2, "aa:bb:cc:00:00:05", "nas")},
    "nenne den Router attic und schalte das WLAN ein": {NAME: "attic", **ON},
}
AT_HOME = {
    "schalte das WLAN aus": OFF,
    "mach das WLAN aus": OFF,
    "nimm wieder die DNS-Server des Anbieters": {"network.wan.peerdns": None, "network.wan.dns": None},
}
CALLS = {
    "zeige den Status": ("status", {"what": "overview"}),
    "Funktioniert das Internet?": ("status", {"what": "wan"}),
    "starte den Router neu": ("power", {"action": "reboot"}),
    "wie lautet meine IP-Adresse?": ("status", {"what": "addresses"}),
    "Welche Geräte sind im WLAN?": ("status", {"what": "devices"}),
    "wer ist online?": ("status", {"what": "devices"}),
    "ist das WLAN an?": ("status", {"what": "wifi"}),
    "zeige die Dienste": ("status", {"what": "services"}),
    "wie viel Speicherplatz ist noch frei?": ("status", {"what": "storage"}),
    "zeige die Firewall-Konfiguration": ("read_config", {"package": "firewall"}),
    "starte dnsmasq neu": ("service", {"name": "dnsmasq", "action": "restart"}),
    "Könntest du bitte den DNS-Server neu starten?": ("service", {"name": "dnsmasq", "action": "restart"}),
    "mach das rückgängig": ("undo", {}),
    "nimm die letzte Änderung zurück": ("undo", {}),
}
WORDS = {
    "ändere das WLAN-Passwort": "Wie soll das neue Passwort lauten?",
    "Wie ändere ich das WLAN-Passwort?": "zum Beispiel schreiben: setze das WLAN-Passwort auf",
    "was ist eine Portweiterleitung?": "Eine Portweiterleitung lässt das Internet",
    "kann ich die Xbox sperren?": "Ein gesperrtes Gerät bleibt",
    "soll ich das WLAN ausschalten?": "schalte das WLAN ein",
    "schalte das WLAN nicht aus": "Das habe ich nicht verstanden",
    "sperre die Xbox nicht": "Das habe ich nicht verstanden",
    "erzähl mir einen Witz": "Das habe ich nicht verstanden",
    "mach das Licht aus": "Das habe ich nicht verstanden",
    "setze das WLAN-Passwort auf kurz": "dieses hat 4",
    "sperre das iphone": "passt mehr als ein Gerät",
    "wie lautet das WLAN-Passwort?": "Passwörter zeige ich nie",
    "nenne den Router Wohn Zimmer": "Vielleicht Wohn-Zimmer?",
    "Hilfe": "nenne den Router dachboden",
    "danke": "Gern geschehen",
    "ja": "Das kann nur der Eigentümer",
}


def test_unblocking_takes_the_own_rule_away():
    events = Router(HOME).ask("entsperre die Xbox")
    assert calls_of(events)[0][1]["commands"] == ["uci delete firewall.oasis_block_1"]


def test_guest_network_is_switched_and_removed():
    router = Router(HOME + GUEST)
    assert router.changes(router.ask("schalte das Gäste-WLAN aus")) == {"wireless.guest.disabled": "1"}
    assert router.changes(router.ask("entferne das Gäste-WLAN"))["network.guest"] is None


def test_question_and_answer_stay_in_their_language():
    router = Router(HOME)
    assert "dieses hat 4" in text_of(router.ask("ändere das WLAN-Passwort", "kurz"))
    changes = router.changes(router.ask("ändere das WLAN-Passwort", "kurz", "es lautet hunter2hunter"))
    assert changes == {path: value for path, value in KEYS.items() if path.endswith("key")}
