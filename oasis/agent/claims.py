"""Whether an answer says that something was changed: small models say so without having called a tool.

A word of doing must stand in one sentence with a word that says it is over. In languages without such pairs one word is
both. A wrong guess does little: what the owner reads then, that nothing was changed, is true all the same.
"""

from __future__ import annotations

import re

# By language: what says that it is over, and what was done; "" where the first is enough.
_WORDS = (
    (r"\b(?:i have|i've|i just|has been|have been|was|were|is now|are now|successfully|done)\b",
     r"\b(?:changed|set|updated|enabled|disabled|activated|added|removed|deleted|created|configured|turned|switched|"
     r"blocked|opened|closed|renamed|restarted|rebooted|applied|installed|forwarded|saved|reserved|on|off)\b"),
    (r"\b(?:ich habe|wurden?|sind jetzt|ist jetzt|ist nun|erfolgreich|erledigt)\b",
     r"(?:geändert|gesetzt|gestellt|aktualisiert|aktiviert|hinzugefügt|entfernt|gelöscht|angelegt|erstellt|"
     r"konfiguriert|eingerichtet|schaltet|gesperrt|blockiert|geöffnet|geschlossen|umbenannt|gestartet|installiert|"
     r"gespeichert|\ban\b|\baus\b)"),
    (r"\b(?:h[ea]n?|ahora está|con éxito|listo)\b",
     r"(?:cambiad|configurad|actualizad|activad|habilitad|añadid|agregad|eliminad|quitad|cread|apagad|encendid|"
     r"bloquead|abiert|cerrad|renombrad|reiniciad|instalad|guardad|puest|establecid)"),
    (r"(?:変更|設定|更新|追加|削除|作成|有効に|無効に|オンに|オフに|ブロック|開放|再起動|適用|インストール|保存)(?:を|が)?"
     r"(?:しました|されました|完了|いたしました|致しました)", ""),
    (r"(?:已|已经|成功)[^。！？,，]{0,12}?(?:更改|修改|设置|设为|更新|启用|禁用|开启|关闭|打开|添加|删除"
     r"|创建|配置|屏蔽|重启|应用|安装|保存)", ""),
)  # fmt: skip
_SENTENCE = re.compile(r"[.!?。！？\n]+")
# Of an answer; who writes more has not only reported.
_CHARS = 2000


def is_claimed(text: str) -> bool:
    """Return whether an answer says that something was changed."""
    for sentence in _SENTENCE.split(text[:_CHARS].casefold()):
        for over, done in _WORDS:
            if re.search(over, sentence) and (not done or re.search(done, sentence)):
                return True
    return False
