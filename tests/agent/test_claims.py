"""An answer that says that something was changed, although no tool did anything, is marked."""

import pytest

from oasis.agent.claims import is_claimed
from tests.agent.test_untrusted_words import Scene
from tests.daemon.test_wiring import of_type

CLAIMED = (
    "I have set the hostname to attic.", "Done! The guest Wi-Fi is now enabled.", "The rule was added.",
    "I've blocked the tablet from 21:00.", "Port 443 has been forwarded to the NAS.", "The Wi-Fi is now off.",
    "Ich habe den Namen geändert.", "Das Gastnetz ist jetzt eingerichtet.", "Die Regel wurde gelöscht.",
    "He cambiado el nombre del router.", "Se ha activado la red de invitados.",
    "ホスト名を変更しました。", "ゲストWi-Fiを有効にしました。", "已将主机名更改为 attic。", "访客网络已启用。",
)  # fmt: skip
NOT_CLAIMED = (
    "The router has been up for three days.", "Shall I set the hostname?", "I can block the tablet from 21:00.",
    "Your address is 192.168.1.1.", "To change it, approve the plan.", "Soll ich den Namen ändern?",
    "¿Quiere que lo cambie?", "変更しますか?", "要更改吗?", "Hi.",
)  # fmt: skip


@pytest.mark.parametrize("text", CLAIMED)
def test_a_claim_is_seen_in_five_languages(text):
    assert is_claimed(text)


@pytest.mark.parametrize("text", NOT_CLAIMED)
def test_what_is_no_claim_is_left_alone(text):
    assert not is_claimed(text)


def test_the_owner_hears_that_nothing_was_changed_unless_a_tool_did_something(tmp_path):
    here = Scene(tmp_path)
    try:
        words = "nothing was changed: no tool did anything for this answer"

        def marks(*turns):
            return [one["text"] for one in of_type(here.say("call it attic", *turns), "note") if one["text"] == words]

        assert marks("I have set the hostname to attic.") == [words]
        looked = [("status", {})]
        assert marks(looked, "I have set the hostname to attic.") == [words]
        assert marks("Shall I?") == []
        done = [("configure", {"commands": ["uci set system.@system[0].hostname='attic'"], "summary": "a name"})]
        assert marks(done, "I have set the hostname to attic.") == []
    finally:
        here.close()
