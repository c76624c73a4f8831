"""The calls of upstream's phone app, in its order and with its quirks: over OpenWrt's own programs where they are on
PATH, and over what stands for them."""

import json
import threading
import time

import pytest

from oasis.daemon.wiring import Daemon
from oasis.system.root import Root
from tests.cli.web import DENIED, NULL, Real, StandIn, is_real_here
from tests.oasisd import copy_root, start_daemon

OWNER = {"name": "owner", "terminal": False}
ASK, NEW_NAME = "what is my lan address?", "Attic office"
RISKY = "set the wifi name to Attic and the password to correct-horse"


class App:
    """What the app does with a reply; `post` is the way to the router."""

    def __init__(self, web):
        self._web = web
        self.session = NULL

    def login(self, user="root", password="anything"):
        self.session = self.call("session", "login", username=user, password=password)["ubus_rpc_session"]

    def call(self, name, method, /, **arguments):
        reply = self._web.post(self.session, name, method, arguments)
        assert "error" not in reply, reply
        status, *payload = reply["result"]
        assert status == 0, reply
        return payload[0] if payload else {}

    def send(self, chat, message, topic="default"):
        reply = self.call("oasis.chat", "send", id=chat, sysmsg_key=topic, message=message)
        assert isinstance(reply["content"], str), "its decoder takes nothing else"
        assert reply["content"].strip()
        assert isinstance(reply.get("id", ""), str)
        assert isinstance(reply.get("title", ""), str)
        assert isinstance(reply.get("reboot", False), bool)
        return reply

    def load(self, chat):
        found = self.call("oasis.chat", "load", id=chat)["messages"]
        assert all(isinstance(message["content"], str) for message in found), "a list ends its decoder"
        return [(message["role"], message["content"]) for message in found]

    def chats(self):
        return [(item["id"], item["title"]) for item in self.call("oasis.chat", "list")["item"]]

    def tools(self):
        found = {}
        for tool in self.call("oasis.tool.edge", "tool_list")["tools"].values():
            assert isinstance(tool["property"], list)
            assert isinstance(tool["required"], list)
            found[tool["name"]] = tool
        return found

    def run_tool(self, name, **values):
        """Put a tool's arguments together as the app does: name:type:value, joined by blanks."""
        kinds = dict(word.split(":")[:2] for word in self.tools()[name]["property"])
        param = " ".join(f"{key}:{kinds[key]}:{value}" for key, value in values.items())
        return self.call("oasis.tool.edge", "function_calling", tool=name, param=param)


@pytest.fixture(scope="module", params=["stand-in", "real"])
def router(request, tmp_path_factory):
    """Gives (web, call): the way over the web, and a method of the socket by the owner."""
    root = copy_root(str(tmp_path_factory.mktemp("r") / "r"))
    if request.param == "stand-in":
        daemon = Daemon(Root(root, [root + "/bin", "/usr/bin", "/bin"]))
        web = StandIn(daemon)
        yield web, lambda name, **params: daemon.methods.call(name, params, OWNER)
        daemon.stop()
        return
    if not is_real_here():
        pytest.skip("no ubusd, rpcd and uhttpd (with uhttpd-mod-ubus) on PATH, or not root")
    web = Real(root)
    daemon = start_daemon(root)
    try:
        web.await_object("oasis.chat")
        yield web, daemon.call
    finally:
        daemon.stop()
        web.stop()


@pytest.fixture
def app(router):
    found = App(router[0])
    found.login()
    return found


def test_the_whole_sequence(app):
    base = app.call("oasis", "base_info")
    assert base["sysmsg"][0]["key"] == "default"
    assert all({"key", "title"} <= set(item) for item in base["sysmsg"])
    assert {"identifier", "name", "model"} <= set(base["service"][0])
    assert "network" in base["configs"]
    assert not {"oasis", "rpcd"} & set(base["configs"])
    first = app.send("", ASK)
    chat = first["id"]
    assert "192.168.1.1" in first["content"]
    assert first["title"]
    assert "status" in [one["name"] for one in json.loads(first["tool_info"])["tool_outputs"]]
    assert (chat, first["title"]) in app.chats()
    second = app.send(chat, "help")
    assert second["id"] == chat
    assert app.load(chat) == [("user", ASK), ("assistant", first["content"]), ("user", "help"),
                              ("assistant", second["content"])]  # fmt: skip
    assert app.call("oasis.title", "manual_set", id=chat, title=NEW_NAME) == {"status": "OK", "title": NEW_NAME}
    assert (chat, NEW_NAME) in app.chats()
    assert app.call("oasis.title", "auto_set", id=chat)["title"] == NEW_NAME, "the owner's title stays"
    assert app.call("oasis.chat", "delete", id=chat) == {"status": "OK"}
    assert chat not in dict(app.chats())
    gone = app.call("oasis.chat", "load", id=chat)
    assert gone["status"] == "NOT FOUND"
    assert "messages" not in gone


def test_tools_are_listed_run_and_switched(app):
    tools = app.tools()
    assert tools["status"]["enable"] == "1"
    found = app.run_tool("read_config", package="network", section="lan")
    assert found["sections"]["lan"]["ipaddr"] == "192.168.1.1"
    for method, enable in (("set_tool_disabled", "0"), ("set_tool_enabled", "1")):
        assert app.call("oasis.tool.manager", method, tool="status")["status"] == "OK"
        assert app.tools()["status"]["enable"] == enable
        listed = app.call("oasis.tool.manager", "get_tool_list")["tool"]
        assert {"server": "built-in", "name": "status", "enable": enable} in listed
    assert app.call("oasis.tool.manager", "set_tool_enabled", tool="nothing")["status"] == "NG"
    assert app.call("oasis.tool.edge", "function_calling", tool="nothing", param="")["error"]["message"]


@pytest.mark.parametrize("param", ['{"commands": ["uci set system.@system[0].hostname=x"]}', "summary:string:x", ""])
@pytest.mark.parametrize("tool", ["configure", "service", "undo"])
def test_a_tool_that_changes_something_is_not_run_past_the_owner(router, app, tool, param):
    before = router[1]("change.list")["changes"]
    reply = app.call("oasis.tool.edge", "function_calling", tool=tool, param=param)
    assert reply["error"]["code"] == "policy"
    assert router[1]("change.list")["changes"] == before
    assert router[1]("plan.list")["plans"] == []


def test_a_tool_that_is_switched_off_is_not_run(app):
    app.call("oasis.tool.manager", "set_tool_disabled", tool="read_config")
    try:
        reply = app.call("oasis.tool.edge", "function_calling", tool="read_config", param="package:string:network")
        assert "error" in reply
        assert "sections" not in reply
    finally:
        app.call("oasis.tool.manager", "set_tool_enabled", tool="read_config")


def test_system_messages_come_and_go(app):
    key = app.call("oasis", "add_sysmsg_data", title="Short", message="Answer shortly.")["new_sysmsg_key"]
    assert app.call("oasis", "load_sysmsg_data")[key] == {"title": "Short", "chat": "Answer shortly."}
    assert app.call("oasis", "update_sysmsg_data", target=key, title="Shorter", message="OK.")["status"] == "OK"
    assert {"key": key, "title": "Shorter"} in app.call("oasis", "load_sysmsg_list")["sysmsg"]
    chat = app.send("", "help", topic=key)["id"]
    assert app.load(chat)[0] == ("system", "OK.")
    assert app.call("oasis", "delete_sysmsg_data", target=key)["status"] == "OK"
    assert key not in app.call("oasis", "load_sysmsg_data")
    assert app.call("oasis", "delete_sysmsg_data", target="default")["status"] == "ERROR"
    assert app.send("", "help me", topic="gone")["content"], "an unknown one is the default"


def test_a_service_is_selected_by_all_that_the_app_knows_of_it(app):
    service = app.call("oasis", "base_info")["service"][0]
    words = {"id": service["identifier"], "name": service["name"], "model": service["model"]}
    assert app.call("oasis", "select_ai_service", **words) == {"status": "OK"}
    assert app.call("oasis", "select_ai_service", **{**words, "model": ""}) == {"status": "OK"}
    assert app.call("oasis", "select_ai_service", **{**words, "name": "another"})["error"]


def test_a_message_that_is_sent_again_starts_no_second_exchange(app):
    first = app.send("", "help with wifi")
    app.login()  # as the app does after any failure
    again = app.send("", "help with wifi")
    assert (again["id"], again["content"]) == (first["id"], first["content"])
    assert [role for role, _ in app.load(first["id"])] == ["user", "assistant"]
    # Now that it has the answer, the same words begin anew.
    assert app.send("", "help with wifi")["id"] != first["id"]


def test_the_same_message_at_the_same_time_is_one_exchange(router):
    apps = [App(router[0]) for _ in range(6)]
    for one in apps:
        one.login()
    replies = []
    work = [threading.Thread(target=lambda one=one: replies.append(one.send("", "help with dns"))) for one in apps]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join(60)
    assert len(replies) == 6
    assert len({reply["id"] for reply in replies}) == 1
    assert [role for role, _ in apps[0].load(replies[0]["id"])] == ["user", "assistant"]


def test_a_change_that_waits_for_the_owner_is_told_at_once_and_followed_later(router, app):
    call = router[1]
    began = time.monotonic()
    reply = app.send("", RISKY)
    assert time.monotonic() - began < 20, "nobody waits for the owner"
    [plan] = call("plan.list")["plans"]
    for word in (plan["summary"], plan["id"], reply["id"], "approve"):
        assert word in reply["content"].lower() or word in reply["content"]
    assert reply["uci_parse_tbl"]["uci_notify"] is True
    assert {"param": "wireless.default_radio0.ssid=Attic"} in reply["uci_parse_tbl"]["uci_list"]["set"]
    assert "correct-horse" not in json.dumps(reply)
    assert app.send(reply["id"], RISKY)["content"] == reply["content"], "sent again it joins"
    other = app.send(reply["id"], "and now something else")
    assert other["status"] == "ERROR"
    assert "answered" in other["content"]
    call("plan.approve", plan=plan["id"], hash=plan["hash"])
    until = time.monotonic() + 30
    while call("change.pending")["change"] is None and time.monotonic() < until:
        time.sleep(0.05)
    after = app.send(reply["id"], RISKY)
    assert "uci_parse_tbl" not in after
    assert "unless you keep it" in after["content"]
    told = app.call("oasis", "confirm")
    assert told["status"] == "OK"
    assert {"param": "wireless.default_radio0.ssid=Attic"} in json.loads(told["uci_list"])["set"]
    call("change.rollback")
    assert app.call("oasis", "confirm") == {"status": "NOT FOUND"}


def test_the_router_is_not_restarted_and_services_only_with_the_owner_s_rules(app):
    assert app.call("oasis.system", "confirm", option="reboot")["status"] == "ERROR"
    assert app.call("oasis.service", "operate", cmd="stop", service="dropbear")["error"]["code"] == "policy"
    assert app.call("oasis.service", "operate", cmd="restart", service="../../bin/sh")["status"] == "ERROR"
    assert app.call("oasis.service", "operate", cmd="restart", service="$(reboot)")["status"] == "ERROR"


def test_a_text_is_searched_for_commands_and_nothing_is_done(router, app):
    found = app.call("oasis", "analize", message="try\n```\nuci set system.@system[0].hostname='a b'\n```\n")
    assert found["uci_notify"] is True
    assert found["uci_list"]["set"] == [{"param": "system.@system[0].hostname=a b"}]
    assert app.call("oasis", "analize", message="no command here") == {"status": "No Parsing ..."}
    assert router[1]("plan.list")["plans"] == []


def test_chats_are_made_of_messages(app):
    chat = app.call("oasis.chat", "create", role1="system", content1="S", role2="user", content2="Q", role3="assistant",
                    content3="A")["id"]  # fmt: skip
    assert app.call("oasis.chat", "append", id=chat, role1="user", content1="Q2", role2="assistant", content2="A2") == {
        "status": "OK"
    }
    assert app.load(chat) == [("system", "S"), ("user", "Q"), ("assistant", "A"), ("user", "Q2"), ("assistant", "A2")]
    assert app.call("oasis.chat", "append", id="nope", role1="user", content1="x")["status"] == "ERROR"
    assert app.call("oasis.chat", "create")["status"] == "ERROR"


def test_missing_arguments_are_tolerated(app):
    for name, method in (
        ("oasis.chat", "send"), ("oasis.chat", "load"), ("oasis.chat", "delete"), ("oasis", "add_sysmsg_data"),
        ("oasis", "update_sysmsg_data"), ("oasis", "delete_sysmsg_data"), ("oasis", "select_ai_service"),
        ("oasis.title", "auto_set"), ("oasis.title", "manual_set"), ("oasis.tool.edge", "function_calling"),
        ("oasis", "select_icon"), ("oasis", "delete_icon"), ("oasis.service", "operate"), ("oasis.system", "confirm"),
    ):  # fmt: skip
        reply = app.call(name, method)
        assert reply["status"] in ("ERROR", "NOT FOUND"), (name, method)
        assert reply["desc"], (name, method)
    assert isinstance(app.call("oasis.chat", "send")["content"], str)


def test_icons_are_told_as_they_are(app):
    info = app.call("oasis", "load_icon_info")
    assert info == {"status": "NOT FOUND"} or {"path", "using"} <= set(info["ctrl"])


def test_a_chat_of_nobody_is_an_answer_and_no_exchange(router, app):
    before = app.chats()
    for chat in ("nope", "../../etc/passwd", "1234567890", "dc17iknrpkbob18991ig"):
        reply = app.send(chat, "help")
        assert reply["status"] == "ERROR"
        assert "there is no chat" in reply["content"]
    assert app.chats() == before


# Who may not


def test_without_a_login_nothing_is_called(router):
    app = App(router[0])
    for session in (NULL, "0" * 31, "f" * 32, "", "'; reboot"):
        app.session = session
        for name, method in (("oasis", "base_info"), ("oasis.chat", "send"), ("oasis.run", "start")):
            assert router[0].post(session, name, method, {})["error"]["code"] == DENIED


def test_a_login_that_may_only_read_sends_nothing_and_sees_all(router, app):
    chat = app.send("", "help")["id"]
    viewer = App(router[0])
    viewer.login("viewer", "looks")
    assert viewer.load(chat)
    assert viewer.call("oasis", "base_info")["sysmsg"]
    assert viewer.tools()
    for name, method in (
        ("oasis.chat", "send"), ("oasis.chat", "delete"), ("oasis.title", "manual_set"), ("oasis.run", "start"),
        ("oasis.tool.manager", "set_tool_enabled"), ("oasis.tool.edge", "function_calling"), ("oasis.plan", "approve"),
        ("oasis.service", "operate"), ("oasis", "select_ai_service"), ("oasis", "add_sysmsg_data"),
    ):  # fmt: skip
        assert router[0].post(viewer.session, name, method, {})["error"]["code"] == DENIED, (name, method)


def test_a_session_cannot_be_claimed_in_the_arguments(router, app):
    viewer = App(router[0])
    viewer.login("viewer", "looks")
    reply = router[0].post(viewer.session, "oasis", "info", {"ubus_rpc_session": app.session})
    assert reply["error"]["code"] in (-32602, DENIED)


def test_a_session_that_was_ended_is_over(router):
    app = App(router[0])
    app.login()
    assert app.call("oasis", "base_info")
    router[0].post(app.session, "session", "destroy", {})
    assert router[0].post(app.session, "oasis", "base_info", {})["error"]["code"] == DENIED


def test_wrong_types_are_an_answer(app):
    for value in (5, True, ["x"], {"a": 1}):
        reply = app.call("oasis.chat", "send", id="", sysmsg_key="default", message=value)
        assert reply["error"]["code"] == "usage"
        assert isinstance(reply["content"], str), "or the app sends it once more"


@pytest.mark.skipif(not is_real_here(), reason="no ubusd, rpcd and uhttpd (with uhttpd-mod-ubus) on PATH, or not root")
def test_a_web_server_that_is_not_root_serves_the_same(tmp_path):
    root = copy_root(str(tmp_path / "r"))
    web = Real(root, "nobody")
    daemon = start_daemon(root)
    try:
        web.await_object("oasis.chat")
        app, viewer = App(web), App(web)
        app.login()
        viewer.login("viewer", "looks")
        chat = app.send("", ASK)["id"]
        assert viewer.load(chat) == app.load(chat)
        reply = web.post(app.session, "oasis.plan", "approve", {"plan": "none", "hash": "0" * 64})
        assert "no plan" in reply["result"][1]["error"]["message"], "an owner's method is his"
        for session in (NULL, viewer.session):
            assert web.post(session, "oasis.chat", "delete", {"id": chat})["error"]["code"] == DENIED
        assert chat in dict(app.chats())
    finally:
        daemon.stop()
        web.stop()
