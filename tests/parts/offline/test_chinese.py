"""Chinese sentences, by the same rules as the English ones."""

from tests.parts.offline.stock import GUEST, HOME, Router, calls_of, text_of
from tests.parts.offline.test_english_changes import DNS, KEYS, NAME, OFF, ON, SSIDS, block, forward, guest, key, lease

STOCK = {
    "把路由器改名为attic": {NAME: "attic"},
    "主机名设为attic": {NAME: "attic"},
    "能不能把路由器改名为attic？": {NAME: "attic"},
    "Wi-Fi名称改成Attic": SSIDS,
    "ＳＳＩＤ改为Ａｔｔｉｃ": SSIDS,
    "请把无线密码换成hunter2hunter": KEYS,
    "把wifi密码设置为“correct horse 7”": key("correct horse 7"),
    "Wi-Fi名称改成Attic，密码改成hunter2hunter": {**SSIDS, **KEYS},
    "启用无线网络": ON,
    "把5GHz的无线打开": {"wireless.radio1.disabled": "0"},
    "打开２．４Ｇ的wifi": {"wireless.radio0.disabled": "0"},
    "建一个叫Besuch的访客Wi-Fi，密码welcome123": guest("Besuch", "welcome123"),
    "把路由器的IP地址换成192.168.2.1": {"network.lan.ipaddr": "192.168.2.1"},
    "给hp-printer固定分配192.168.1.50": lease("aa:bb:cc:00:00:07", "HP-Printer", "192.168.1.50"),
    "把443端口转发到nas": forward("443", "192.168.1.105", "nas"),
    "将tcp 443端口映射给nas": forward("443", "192.168.1.105", "nas", proto=("tcp",)),
    "把DNS服务器改成1.1.1.1和9.9.9.9": DNS,
    "时区改成上海": {"system.@system[0].zonename": "Asia/Shanghai", "system.@system[0].timezone": "CST-8"},
    "禁止xbox上网": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "别让xbox上网": block(1, "aa:bb:cc:00:00:04", "xbox"),
    "路由器改名为attic，然后打开Wi-Fi": {NAME: "attic", **ON},
}
AT_HOME = {
    "关掉Wi-Fi": OFF,
    "麻烦把无线关了好吗": OFF,
    "DNS恢复成运营商的": {"network.wan.peerdns": None, "network.wan.dns": None},
    "5G信道改成40": {"wireless.radio1.channel": "40"},
}
CALLS = {
    "显示状态": ("status", {"what": "overview"}),
    "列出所有在线设备": ("status", {"what": "devices"}),
    "Wi-Fi开着吗": ("status", {"what": "wifi"}),
    "列出服务": ("status", {"what": "services"}),
    "看一下防火墙配置": ("read_config", {"package": "firewall"}),
    "重启dnsmasq": ("service", {"name": "dnsmasq", "action": "restart"}),
    "撤回刚才的修改": ("undo", {}),
    "撤销": ("undo", {}),
}
WORDS = {
    "修改Wi-Fi密码": "新密码是什么",
    "怎么修改Wi-Fi密码": "把Wi-Fi密码改成“correct horse 7”",
    "端口转发是什么意思？": "端口转发让互联网",
    "不要关Wi-Fi": "我没听懂",
    "别把xbox禁了": "我没听懂",
    "不需要把Wi-Fi关掉": "我没听懂",
    "如果关掉Wi-Fi会怎么样": "我没听懂",
    "昨天我改了Wi-Fi密码": "",
    "每天晚上十点关Wi-Fi": "从几点到几点",
    "关掉客厅的灯": "我没听懂",
    "讲个笑话": "我没听懂",
    "告诉我无线密码": "我不显示密码",
    "禁止iphone上网": "有多台设备符合",
    "帮助": "把路由器改名为attic",
    "谢谢": "不客气",
    "你好": "您好",
}


def test_ends_are_read_in_kanji_and_in_the_night():
    for said, until in (
        ("无线关到晚上十点", "22:00"),
        ("把wifi关掉，直到明天早上七点", "07:00"),
        ("Wi-Fi关到晚上12点", "00:00"),
        ("关闭Wi-Fi半小时", "30m"),
    ):
        calls = calls_of(Router(HOME).ask(said))
        assert [call["until"] for _, call in calls] == [until], said


def test_a_request_goes_on_from_the_one_before():
    router = Router(HOME)
    assert router.changes(router.ask("关掉5G的Wi-Fi", "另一个频段也关")) == {"wireless.radio0.disabled": "1"}
    assert router.changes(router.ask("5G信道改成44", "换成40")) == {"wireless.radio1.channel": "40"}


def test_guest_network_is_switched_and_removed():
    router = Router(HOME + GUEST)
    assert router.changes(router.ask("关掉访客网络")) == {"wireless.guest.disabled": "1"}
    assert router.changes(router.ask("删除访客Wi-Fi"))["network.guest"] is None


def test_a_comma_is_no_part_of_a_name():
    router = Router(HOME)
    changes = router.changes(router.ask("SSID改成Attic，密码改成hunter2hunter"))
    assert set(changes.values()) == {"Attic", "hunter2hunter"}


def test_question_and_answer_stay_in_their_language():
    router = Router(HOME)
    assert "这个有4个" in text_of(router.ask("修改Wi-Fi密码", "abcd"))
    changes = router.changes(router.ask("修改Wi-Fi密码", "abcd", "改成hunter2hunter"))
    assert changes == {path: value for path, value in KEYS.items() if path.endswith("key")}


def test_traditional_characters_are_read_as_the_simplified_ones():
    router = Router(HOME)
    assert router.changes(router.ask("關掉5G的無線網路")) == {"wireless.radio1.disabled": "1"}
    assert router.changes(router.ask("時區改成東京"))["system.@system[0].zonename"] == "Asia/Tokyo"


def test_a_character_of_the_same_sound_is_read_as_the_one_meant():
    router = Router(HOME)
    assert calls_of(router.ask("重启防火强")) == [("service", {"name": "firewall", "action": "restart"})]
    assert "访客" in text_of(router.ask("开访客wifi"))  # 访客 is a word: 开访 is no mistyped 开放


def test_one_value_is_put_in_place_of_another_one():
    router = Router(HOME)
    printer = block(2, "aa:bb:cc:00:00:07", "HP-Printer")
    assert router.changes(router.ask("屏蔽nas", "不，打印机")) == printer
    assert router.changes(router.ask("屏蔽nas", "不是nas，是打印机")) == printer
    assert router.changes(router.ask("不是2.4G，是5G关掉")) == {"wireless.radio1.disabled": "1"}
