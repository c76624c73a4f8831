"""Forcing, from the owner's words to the router's files: his own commands, and what a model was refused."""

import json
import time
from types import SimpleNamespace

import pytest

from oasis.api.methods import ROLES
from oasis.change.plan import RefusedError
from oasis.change.plan_card import FORCE_WORDS as WORDS
from oasis.cli.plans import EXEC_WORDS
from oasis.daemon.wiring import Daemon
from oasis.errors import PolicyError, UsageError
from oasis.system.root import Root
from oasis.tools.operator import NoRun, Operator, keep_refused
from oasis.tools.principal import Principal
from tests.agent.test_untrusted_words import MAC, ORDER, Scene, lease
from tests.oasisd import copy_root

OWNER = {"name": "owner", "terminal": False}
EXEC = "uci set dhcp.@dnsmasq[0].dhcpscript=/etc/hello.sh"
BAD = "uci set system.@system[0].hostname='not a name'"
SECRET = "correct-horse-battery"


class Model:
    """A model that proposes one thing and then is content; `heard` is what it was told of that."""

    def __init__(self):
        self.call = ("configure", {})
        self.heard = ""

    def chat(self, request, on_event, cancelled=None, urgent=True):
        last = request["messages"][-1]
        if last["role"] == "tool":
            self.heard = json.dumps(last)
            on_event({"type": "delta", "text": "Well."})
            on_event({"type": "done", "stop_reason": "end_turn", "model": "scripted"})
            return
        on_event({"type": "tool_use", "id": "c1", "name": self.call[0], "input": self.call[1]})
        on_event({"type": "done", "stop_reason": "tool_use", "model": "scripted"})

    def models(self, request, cancelled=None):
        return []

    def close(self):
        pass


class Router(Daemon):
    """A daemon in this process whose model is ours."""

    def __init__(self, tmp_path, approval="risky"):
        root = copy_root(str(tmp_path / "router"))
        path = root + "/etc/config/oasis"
        with open(path, encoding="ascii") as handle:
            text = handle.read().replace("approval 'risky'", "approval '%s'" % approval)
        service = "config service\n\toption name 'ollama'\n\toption identifier 'scripted'\n\toption model 'scripted'\n"
        with open(path, "w", encoding="ascii") as handle:
            handle.write(text + service)
        super().__init__(Root(root, [root + "/bin", "/usr/bin", "/bin"]))
        self.models = self.methods._turn_starter().asking._models = Model()
        self.planner = self.methods._services.planner

    def ask(self, name, **params):
        return self.methods.call(name, params, OWNER)

    def follow(self, started, until="end"):
        """Return the events of a run up to the first of a kind."""
        events, since, deadline = [], 0, time.monotonic() + 20
        while not of_type(events, until):
            assert time.monotonic() < deadline and not of_type(events, "end"), events
            reply = self.ask("run.poll", run=started["run"], since=since, wait_ms=1000)
            events, since = events + reply["events"], reply["next"]
        return events

    def proposed(self, *commands, **more):
        """Let the model propose commands; return the events of that run."""
        self.models.call = ("configure", {"commands": list(commands), "summary": "as said", **more})
        return self.follow(self.ask("run.start", message="do it", service="scripted"))

    def approve(self, started, **more):
        plan = of_type(self.follow(started, "plan"), "plan")[0]["plan"]
        self.ask("plan.approve", plan=plan["id"], hash=plan["hash"], **more)
        return plan, self.follow(started)

    def config(self, name):
        with open(self.root.confdir + "/" + name, encoding="utf-8") as handle:
            return handle.read()


def of_type(events, kind):
    return [event for event in events if event["type"] == kind]


@pytest.fixture
def make(tmp_path):
    made = []

    def start(**more):
        made.append(Router(tmp_path, **more))
        return made[-1]

    yield start
    for one in made:
        one.stop()


@pytest.fixture
def router(make):
    return make()


# --- the owner's own commands


def test_commands_of_the_owner_are_a_plan_like_any_other(router):
    events = router.follow(router.ask("plan.propose", commands=["uci set system.@system[0].hostname=attic"]))
    plan = of_type(events, "plan")[0]["plan"]
    assert (plan["risk"], plan.get("forces"), events[-1]["state"]) == ("low", None, "done")
    assert "hostname" in plan["summary"]
    assert "'attic'" in router.config("system")


def test_what_is_refused_says_what_it_would_take_and_nothing_is_kept(router):
    before = router.config("system")
    events = router.follow(router.ask("plan.propose", commands=[BAD]))
    error = of_type(events, "error")[0]["error"]
    assert (error["code"], error["force"]) == ("policy", ["unknown"])
    assert "--force unknown" in error["hint"]
    assert not of_type(events, "refused") and not of_type(events, "plan")
    assert router.config("system") == before


@pytest.mark.parametrize("words", [None, "", "yes", WORDS + "!", WORDS.title()])
def test_code_without_its_words_starts_no_run(router, words):
    more = {} if words is None else {"words": words}
    with pytest.raises(PolicyError) as caught:
        router.ask("plan.propose", commands=[EXEC], force=["exec"], **more)
    assert WORDS in caught.value.hint
    assert router.runs.active() == []


def test_words_alone_force_nothing(router):
    events = router.follow(router.ask("plan.propose", commands=[EXEC], words=WORDS))
    assert of_type(events, "error")[0]["error"]["force"] == ["exec"]


@pytest.mark.parametrize("approval", ["risky", "none"])
def test_code_with_its_words_waits_is_applied_and_must_be_kept(make, approval):
    router = make(approval=approval)
    started = router.ask("plan.propose", commands=[EXEC], force=["exec", "unknown"], words=WORDS)
    plan, events = router.approve(started)
    assert (plan["forces"], plan["needs_approval"]) == (["exec"], True)
    assert any(WORDS in reason for reason in plan["reasons"])
    assert "/etc/hello.sh" in router.config("dhcp")
    assert of_type(events, "change")[-1]["change"]["confirm_in_s"] > 0
    line = router.ask("audit.list")["lines"][0]
    assert (line["plan"], line["role"], line["forces"]) == (plan["id"], "owner", ["exec"])
    router.ask("change.rollback")
    assert "/etc/hello.sh" not in router.config("dhcp")


def test_a_way_that_is_shut_is_refused_and_forced(router):
    verdict = {"verdict": "no", "reasons": ["zone lan rejects you"], "new_address": ""}
    router.planner._questions.reach = lambda images, run: dict(verdict)
    shut = ["uci set firewall.@zone[0].input=REJECT"]
    error = of_type(router.follow(router.ask("plan.propose", commands=shut)), "error")[0]["error"]
    assert error["force"] == ["reachability"] and "zone lan rejects you" in error["message"]
    plan, _ = router.approve(router.ask("plan.propose", commands=shut, force=["reachability"]))
    assert plan["verdict"]["verdict"] == "no" and plan["forces"] == ["reachability"]
    assert "REJECT" in router.config("firewall").split("config zone")[1]


@pytest.mark.parametrize("params, error", [
    ({"commands": []}, UsageError),
    ({"commands": ["reboot"]}, UsageError),
    ({"commands": ["uci commit"]}, UsageError),
    ({"commands": [BAD], "force": ["everything"]}, UsageError),
])  # fmt: skip
def test_what_is_no_proposal_starts_no_run(router, params, error):
    with pytest.raises(error):
        router.ask("plan.propose", **params)
    assert router.runs.active() == []


@pytest.mark.parametrize("command", ["uci set oasis.main.approval=none", "uci set rpcd.@login[0].password=x"])
def test_the_forbidden_stays_forbidden_to_the_owner(router, command):
    started = router.ask("plan.propose", commands=[command], force=["exec", "reachability", "unknown"], words=WORDS)
    error = of_type(router.follow(started), "error")[0]["error"]
    assert error["code"] == "policy" and "force" not in error


def test_what_is_so_already_is_told(router):
    events = router.follow(router.ask("plan.propose", commands=["uci set system.@system[0].hostname=OpenWrt"]))
    assert "so already" in of_type(events, "note")[0]["text"] and not of_type(events, "plan")


def test_the_command_line_asks_for_the_words_that_the_daemon_wants():
    assert EXEC_WORDS == WORDS


# --- what a model was refused


def test_a_refused_proposal_is_kept_shown_forced_approved_and_applied(router):
    events = router.proposed(BAD)
    shown = of_type(events, "refused")[0]
    assert (shown["force"], shown["tainted"], shown["summary"]) == (["unknown"], False, "as said")
    assert shown["uci"] == ["uci set 'system.@system[0].hostname=not a name'"] and "cannot be" in shown["reasons"][0]
    assert '"force"' not in router.models.heard.replace("\\", ""), "the model is not told that somebody can"
    assert of_type(events, "tool_result")[0]["is_error"] and not of_type(events, "plan")
    plan, after = router.approve(router.ask("plan.force", refused=shown["refused"], force=["unknown"]))
    assert (plan["forces"], plan["needs_approval"], plan["summary"]) == (["unknown"], True, "as said")
    assert plan["chat"] == router.ask("chat.list")["item"][0]["id"], "it belongs to the chat that asked for it"
    assert of_type(after, "change")[-1]["change"]["state"] == "applied"
    assert "'not a name'" in router.config("system")


@pytest.mark.parametrize(("summary", "shown"), [("a name", "a name"), ("", "uci set a.b.c=d, uci set a.b.e=f")])
def test_a_refusal_without_a_summary_is_called_by_its_commands(summary, shown):
    shop = SimpleNamespace(planner=SimpleNamespace(new_id=lambda: "r1"), now_s=lambda: 0.0, refused=[])
    error = RefusedError(["unknown"], ["c is not known"], ["uci set a.b.c=d", "uci set a.b.e=f", "uci set a.b.g=h"])
    order = {
        "operations": [],
        "summary": summary,
        "until_unix_s": 0,
        "known": {},
        "chat": "",
        "message": "",
        "taint": [],
    }
    assert keep_refused(shop, error, order)["summary"] == shown and shop.refused[0]["summary"] == summary


def test_a_secret_in_what_is_kept_is_in_no_event(router):
    events = router.proposed(
        "uci set wireless.default_radio0.key=" + SECRET, "uci set wireless.default_radio0.encryption=wrong"
    )
    shown = of_type(events, "refused")[0]
    assert SECRET not in json.dumps(events)
    plan, after = router.approve(router.ask("plan.force", refused=shown["refused"]))
    # The model chose it, so the owner sees it, there alone and before it is set.
    assert plan.pop("secrets") == [
        {"where": "wireless.default_radio0.key", "from": "chosen by the model", "value": SECRET}
    ]
    assert SECRET not in json.dumps([plan, [event for event in after if event["type"] != "plan"]])
    assert SECRET in router.config("wireless")


LAST = ["uci set firewall.@rule[-1].src=nowhere", "uci set firewall.@rule[-1].target=ACCEPT"]


def test_a_refusal_is_not_forced_on_a_router_that_has_become_another(router):
    """The last rule is another one by then."""
    shown = of_type(router.proposed(*LAST), "refused")[0]
    router.approve(router.ask("plan.propose", commands=[
        "uci add firewall rule", "uci set firewall.@rule[-1].name=Mine", "uci set firewall.@rule[-1].src=wan",
        "uci set firewall.@rule[-1].target=DROP",
    ]))  # fmt: skip
    router.ask("change.confirm", unproved=True)
    before = router.config("firewall")
    events = router.follow(router.ask("plan.force", refused=shown["refused"]))
    error = of_type(events, "error")[0]["error"]
    assert "not as it was" in error["message"] and "ask for the change again" in error["hint"]
    assert not of_type(events, "plan") and router.config("firewall") == before


def test_a_refusal_is_forced_once(router):
    shown = of_type(router.proposed(BAD), "refused")[0]
    plan = of_type(router.follow(router.ask("plan.force", refused=shown["refused"]), "plan"), "plan")[0]["plan"]
    with pytest.raises(UsageError, match="nothing refused is kept"):
        router.ask("plan.force", refused=shown["refused"])
    router.ask("plan.decline", plan=plan["id"])


def test_a_refusal_that_somebody_forced_meanwhile_is_not_forced_again(router):
    shown = of_type(router.proposed(BAD), "refused")[0]
    shop = router.methods._services
    kept = shop.refused.pop()
    assert kept["id"] == shown["refused"]
    with pytest.raises(UsageError, match="forced already"):
        Operator(shop, NoRun(), Principal(), forces=()).force(kept)


@pytest.mark.parametrize("approval", ["risky", "all", "none"])
@pytest.mark.parametrize("command", [EXEC, "uci set system.@system[0].colour=green"])
def test_code_stays_forbidden_to_the_model_and_the_owner_is_told_how(make, approval, command):
    router = make(approval=approval)
    before = router.config("dhcp"), router.config("system")
    shown = of_type(router.proposed(command), "refused")[0]
    assert shown["refused"] == "" and "oasis apply --force exec" in shown["hint"]
    assert router.methods._services.refused == []
    for name in ("", "x"):
        with pytest.raises(UsageError):
            router.ask("plan.force", refused=name, force=["exec"])
    assert (router.config("dhcp"), router.config("system")) == before


def test_a_refusal_is_not_forced_for_more_than_it_needs(router):
    shown = of_type(router.proposed(BAD), "refused")[0]
    with pytest.raises(UsageError, match="does not need"):
        router.ask("plan.force", refused=shown["refused"], force=["exec"])


@pytest.mark.parametrize("more", [{"force": ["unknown"]}, {"forces": ["unknown"]}, {"words": WORDS}])
def test_no_argument_of_a_tool_forces(router, more):
    events = router.proposed(BAD, **more)
    assert "has no argument" in of_type(events, "tool_result")[0]["text"]
    assert not of_type(events, "plan") and not of_type(events, "refused")


def test_hands_of_a_model_never_force(router):
    emitted = []
    run = NoRun()
    run.emit = lambda kind, **more: emitted.append(kind)
    hands = Operator(router.methods._services, run, Principal(), {"id": "chat1"}, is_model=True, forces=("unknown",))
    operation = {"op": "set", "package": "system", "section": "@system[0]", "option": "hostname", "value": "a b"}
    with pytest.raises(PolicyError) as caught:
        hands.change([operation], "")
    assert emitted == ["refused"]
    assert "force" not in str(caught.value.as_dict()), "who cannot force is not told that somebody can"
    assert not isinstance(caught.value, RefusedError)


def test_what_is_forbidden_is_not_kept_for_anybody(router):
    assert not of_type(router.proposed("uci set oasis.main.approval=none"), "refused")


OF_PARTS = [
    pytest.param("client", marks=pytest.mark.part("mcp")),
    pytest.param("schedule", marks=pytest.mark.part("schedule")),
]


@pytest.mark.parametrize("role", ["viewer", *OF_PARTS, ""])
def test_nobody_but_the_owner_forces(router, role):
    shown = of_type(router.proposed(BAD), "refused")[0]
    for name, params in (("plan.force", {"refused": shown["refused"]}), ("plan.propose", {"commands": [BAD]})):
        assert name not in ROLES.get(role, ())
        with pytest.raises(PolicyError, match="not for everybody"):
            router.methods.call(name, params, {"name": role, "terminal": True})


def test_the_words_of_others_go_with_what_is_forced(tmp_path):
    scene = Scene(tmp_path)
    try:
        lease(scene.root, ORDER, MAC)
        bad = ("configure", {"commands": [BAD], "summary": "as ordered"})
        events = scene.say("who is there?", [("status", {"what": "devices", "names": True})], [bad], "Well.")
        shown = of_type(events, "refused")[0]
        assert shown["tainted"] is True
        started = scene.daemon.call("plan.force", refused=shown["refused"])
        plan = waiting(scene.daemon)
        assert (plan["run"], plan["tainted"], plan["forces"]) == (started["run"], True, ["unknown"])
        assert plan["untrusted"] == ["device names"]
    finally:
        scene.close()


def waiting(daemon):
    deadline = time.monotonic() + 20
    while not (plans := daemon.call("plan.list")["plans"]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return plans[0]


# --- the typed word


def test_while_the_worker_is_not_confined_a_risky_plan_is_approved_with_the_word_alone(make):
    router = make(approval="none")
    router.planner._questions.unconfined = lambda: "nft is missing"
    started = router.ask("plan.propose", commands=["uci set wireless.default_radio0.ssid=Attic"])
    plan = of_type(router.follow(started, "plan"), "plan")[0]["plan"]
    assert (plan["typed_word"], plan["unconfined"], plan["needs_approval"]) == ("risky", "nft is missing", True)
    for word in ({}, {"word": ""}, {"word": "Risky"}, {"word": "yes"}):
        with pytest.raises(PolicyError) as caught:
            router.ask("plan.approve", plan=plan["id"], hash=plan["hash"], **word)
        assert "nft is missing" in caught.value.message and "--word risky" in caught.value.hint
    assert "'Attic'" not in router.config("wireless")
    router.ask("plan.approve", plan=plan["id"], hash=plan["hash"], word="risky")
    router.follow(started)
    assert "'Attic'" in router.config("wireless")
