"""Spanish sentences, by the same rules as the English ones; with and without accents, as in Spain and in America."""

import pytest

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
    "llama attic al router": {NAME: "attic"},
    "Por favor, cambia el nombre del router a attic": {NAME: "attic"},
    "que el router se llame attic": {NAME: "attic"},
    "¿Puedes renombrar el router como attic?": {NAME: "attic"},
    "renombra el ruter como attic": {NAME: "attic"},
    "cambia el nombre del wifi a Attic": SSIDS,
    "quiero que el wifi se llame Attic": SSIDS,
    "che, cambiale el nombre a la red wifi por Attic": SSIDS,
    "cambia la contraseña del wifi a hunter2hunter": KEYS,
    "cambia la contrasena del wifi a hunter2hunter": KEYS,
    "ponele la clave hunter2hunter al wifi": KEYS,
    "¿Podría poner hunter2hunter como contraseña del wifi?": KEYS,
    "la nueva clave del wifi es hunter2hunter": KEYS,
    "pon la contraseña del wifi «caballo correcto 7»": key("caballo correcto 7"),
    "cambia el nombre del wifi a Attic y la contraseña a hunter2hunter": {**SSIDS, **KEYS},
    "enciende el wifi": ON,
    "prendé el wifi": ON,
    "¿me activas el wifi?": ON,
    "activa la wifi de 5 GHz": {"wireless.radio1.disabled": "0"},
    "prende la banda de 2,4": {"wireless.radio0.disabled": "0"},
    "crea un wifi de invitados llamado Cabaña con contraseña welcome123": guest("Cabaña", "welcome123"),
    "monta una red de invitados abierta que se llame Terraza": guest("Terraza", "", encryption="none"),
    "cambia la dirección LAN a 192.168.2.1": {"network.lan.ipaddr": "192.168.2.1"},
    "dale siempre a la HP-Printer la 192.168.1.50": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "reserva 192.168.1.50 para la impresora": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "redirige el puerto 443 al nas": forward("443", "192.168.1.105", "nas"),
    "abrí el puerto 443 tcp para el nas": forward("443", "192.168.1.105", "nas", proto=("tcp",)),
    "usa 1.1.1.1 y 9.9.9.9 como servidores DNS": DNS,
    "pon la zona horaria de Berlín": zone("Europe/Berlin"),
    "el router está en Múnich": zone("Europe/Berlin"),
    "bloquea la xbox": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "que la Xbox no tenga internet": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "bloquea el iphone de Anna": block(1, "aa:bb:cc:00:00:01", "annas-iphone"),
    "córtale internet a la tele del salón": block(1, "aa:bb:cc:00:00:02", "living-room-tv"),
    "llama attic al router y enciende el wifi": {NAME: "attic", **ON},
}
AT_HOME = {
    "apaga el wifi": OFF,
    "desactivá el wifi": OFF,
    "vuelve a usar los dns del proveedor": {"network.wan.peerdns": None, "network.wan.dns": None},
}
CALLS = {
    "¿cómo está el router?": ("status", {"what": "overview"}),
    "¿cuál es mi IP pública?": ("status", {"what": "addresses"}),
    "¿quién está usando mi wifi?": ("status", {"what": "devices"}),
    "muestra los servicios": ("status", {"what": "services"}),
    "¿cuánto espacio libre queda?": ("status", {"what": "storage"}),
    "muestra la configuración del firewall": ("read_config", {"package": "firewall"}),
    "reinicia dnsmasq": ("service", {"name": "dnsmasq", "action": "restart"}),
    "¿podrías recargar el cortafuegos?": ("service", {"name": "firewall", "action": "reload"}),
    "deshaz el último cambio": ("undo", {}),
    "déjalo como estaba": ("undo", {}),
}
NOT_UNDERSTOOD = "no lo he entendido"
WORDS = {
    "cambia la contraseña del wifi": "¿Cuál debe ser la nueva contraseña?",
    "apaga la luz de la cocina": NOT_UNDERSTOOD,
    "cuéntame un chiste": NOT_UNDERSTOOD,
    "cambia la contraseña del wifi a breve": "esta tiene 5",
    "¿cuál es la clave del wifi?": "Nunca muestro contraseñas",
    "ayuda": "llama al router attic",
    "muchas gracias": "De nada",
    "olvídalo": "no se cambió nada",
}
# Denied, asked about, supposed, told of the past or of others: nothing may be called.
NEVER = [
    "no apagues el wifi", "no bloquees la xbox", "¿qué pasa si apago el wifi?", "¿cómo bloqueo la xbox?",
    "¿debería cambiar la contraseña del wifi?", "ayer apagué el wifi", "ya bloqueé la xbox",
    "cuando llegue a casa, enciende el wifi", "mi vecina cambió el nombre de su wifi", "si bloqueara la xbox",
    "apaga el wifi todas las noches a las 11", "ni se te ocurra abrir el puerto 22",
]  # fmt: skip


@pytest.mark.parametrize("sentence", NEVER)
def test_what_is_not_wished_changes_nothing(sentence):
    called = [name for name, _ in calls_of(Router(HOME).ask(sentence))]
    assert not {"configure", "service", "undo"} & set(called)


def test_unblocking_takes_the_own_rule_away():
    events = Router(HOME).ask("desbloquea la xbox")
    assert calls_of(events)[0][1]["commands"] == ["uci delete firewall.oasis_block_1"]


def test_guest_network_is_switched_and_removed():
    router = Router(HOME + GUEST)
    assert router.changes(router.ask("apaga el wifi de invitados")) == {"wireless.guest.disabled": "1"}
    assert router.changes(router.ask("elimina la red de invitados"))["network.guest"] is None


@pytest.mark.parametrize(
    ("said", "start", "stop"),
    [
        ("sin internet para la xbox de 21:00 a 22:30", "21:00", "22:30"),
        ("sin internet para la xbox de las 21:00h a las 22:30h", "21:00", "22:30"),
        (
            "bloquea la xbox de ocho y media de la noche a once menos cuarto de la noche",
            "20:30",
            "22:45",
        ),
        ("corta internet a la xbox de 2 de la tarde a 5 de la tarde", "14:00", "17:00"),
    ],
)
def test_times_of_day_in_words(said, start, stop):
    router = Router()
    changes = router.changes(router.ask(said))
    times = {path.rpartition(".")[2]: value for path, value in changes.items()}
    assert (times["start_time"][:5], times["stop_time"][:5]) == (start, stop)


def test_question_and_answer_stay_in_their_language():
    router = Router(HOME)
    assert "esta tiene 5" in text_of(router.ask("cambia la contraseña del wifi", "corta"))
    changes = router.changes(router.ask("cambia la contraseña del wifi", "que sea hunter2hunter"))
    assert changes == {path: value for path, value in KEYS.items() if path.endswith("key")}


def test_a_request_goes_on_from_the_one_before():
    router = Router(HOME)
    changes = router.changes(router.ask("apaga el wifi de 5 GHz", "y la otra banda también"))
    assert changes == {"wireless.radio0.disabled": "1"}
