"""Japanese sentences, by the same rules as the English ones."""

from tests.parts.offline.stock import GUEST, HOME, Router, calls_of, text_of
from tests.parts.offline.test_english_changes import DNS, KEYS, NAME, OFF, ON, SSIDS, block, forward, guest, key, lease

STOCK = {
    "ルーターの名前をatticにして": {NAME: "attic"},
    "ホスト名をatticに変更してください": {NAME: "attic"},
    "このルーターをatticと名付けてもらえますか？": {NAME: "attic"},
    "Wi-Fiの名前をAtticにして": SSIDS,
    "ＳＳＩＤをＡｔｔｉｃに変更": SSIDS,
    "無線LANのパスワードをhunter2hunterに変えて": KEYS,
    "ワイファイのパスワードを「correct horse 7」にしてください": key("correct horse 7"),
    "Wi-Fiの名前をAttic、パスワードをhunter2hunterにして": {**SSIDS, **KEYS},
    "無線を有効にして": ON,
    "5GHzの無線をオンにして": {"wireless.radio1.disabled": "0"},
    "２．４ギガのWi-Fiを入れてください": {"wireless.radio0.disabled": "0"},
    "Besuchという名前のゲストWi-Fiをパスワードwelcome123で作って": guest("Besuch", "welcome123"),
    "ルーターのIPアドレスを192.168.2.1に変更して": {"network.lan.ipaddr": "192.168.2.1"},
    "hp-printerに192.168.1.50を固定で割り当てて": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "ポート443をnasに転送して": forward("443", "192.168.1.105", "nas"),
    "tcp443番をnasに転送して": forward("443", "192.168.1.105", "nas", proto=("tcp",)),
    "DNSサーバーを1.1.1.1と9.9.9.9にして": DNS,
    "タイムゾーンを東京にして": {"system.@system[0].zonename": "Asia/Tokyo", "system.@system[0].timezone": "JST-9"},
    "xboxをブロックして": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "xboxがネットを使えないようにしてください": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "ルーター名をatticにして、Wi-Fiをオンにして": {NAME: "attic", **ON},
}
AT_HOME = {
    "Wi-Fiを切って": OFF,
    "無線をオフにしてもらえますか": OFF,
    "DNSをプロバイダーのものに戻して": {"network.wan.peerdns": None, "network.wan.dns": None},
    "5GHzのチャンネルを40にして": {"wireless.radio1.channel": "40"},
}
CALLS = {
    "状態を見せて": ("status", {"what": "overview"}),
    "接続中の端末を一覧で出して": ("status", {"what": "devices"}),
    "無線LANは動いていますか": ("status", {"what": "wifi"}),
    "サービスを見せて": ("status", {"what": "services"}),
    "ファイアウォールの設定を表示して": ("read_config", {"package": "firewall"}),
    "dnsmasqを再起動してください": ("service", {"name": "dnsmasq", "action": "restart"}),
    "さっきの変更を取り消して": ("undo", {}),
    "元に戻して": ("undo", {}),
}
WORDS = {
    "Wi-Fiのパスワードを変えて": "新しいパスワードは何にしますか",
    "Wi-Fiのパスワードはどうやって変えますか": "Wi-Fiのパスワードを「correct horse 7」にして",
    "ポート転送とは何ですか": "ポート転送は",
    "Wi-Fiを切らないで": "意味がわからなかった",
    "xboxをブロックしないでください": "意味がわからなかった",
    "Wi-Fiは切らなくていいよ": "意味がわからなかった",
    "もしWi-Fiを切ったらどうなる": "",
    "昨日Wi-Fiのパスワードを変えました": "",
    "毎晩10時にWi-Fiを切って": "何時から何時まで",
    "部屋の電気を消して": "意味がわからなかった",
    "面白い話をして": "意味がわからなかった",
    "Wi-Fiのパスワードを教えて": "パスワードは見せません",
    "iphoneをブロックして": "いくつかあります",
    "ヘルプ": "ルーターの名前をatticにして",
    "ありがとう": "どういたしまして",
    "こんにちは": "こんにちは",
}


def test_ends_are_read_in_kanji_and_in_the_night():
    for said, until in (
        ("夜十時までWi-Fiを切って", "22:00"),
        ("明日の朝７時までWi-Fiを消して", "07:00"),
        ("夜12時までWi-Fiを止めて", "00:00"),
        ("午後6時半までWi-Fiをオフにして", "18:30"),
    ):
        calls = calls_of(Router(HOME).ask(said))
        assert [call["until"] for _, call in calls] == [until], said


def test_a_request_goes_on_from_the_one_before():
    router = Router(HOME)
    assert router.changes(router.ask("5GHzのWi-Fiを切って", "もう片方の帯域も")) == {"wireless.radio0.disabled": "1"}
    assert router.changes(router.ask("Wi-Fiの名前をSoraにして", "いや、Kumoにして")) == {
        path: "Kumo" for path in SSIDS if path.endswith("ssid")
    }


def test_guest_network_is_switched_and_removed():
    router = Router(HOME + GUEST)
    assert router.changes(router.ask("ゲストWi-Fiをオフにして")) == {"wireless.guest.disabled": "1"}
    assert router.changes(router.ask("ゲストWi-Fiを削除して"))["network.guest"] is None


def test_question_and_answer_stay_in_their_language():
    router = Router(HOME)
    assert "これは4文字" in text_of(router.ask("Wi-Fiのパスワードを変えて", "abcd"))
    changes = router.changes(router.ask("Wi-Fiのパスワードを変えて", "abcd", "hunter2hunterにしてください"))
    assert changes == {path: value for path, value in KEYS.items() if path.endswith("key")}


def test_mistyped_words_in_katakana_and_kanji_are_read():
    router = Router(HOME)
    assert router.changes(router.ask("Wi-Fiのパスワドをhunter2hunterにして")) == {
        path: value for path, value in KEYS.items() if path.endswith("key")
    }
    assert calls_of(router.ask("dnsmasqを再起同して", "はい")) == [
        ("service", {"name": "dnsmasq", "action": "restart"})
    ]


def test_one_value_is_put_in_place_of_another_one():
    router = Router(HOME)
    assert router.changes(router.ask("2.4Gじゃなくて5GのWi-Fiを切って")) == {"wireless.radio1.disabled": "1"}


def test_a_wide_comma_parts_latin_words():
    router = Router(HOME)
    assert router.changes(router.ask("SSID、Kumoに変えて")) == {path: "Kumo" for path in SSIDS if path.endswith("ssid")}
