"""Whether an answer says that something was changed: small models say so without having called a tool.

What counts is what the owner wanted. Who wished a change and reads "the TV is blocked" takes it for done; who asked a
question reads what is so. Of answers to questions only what the model says of itself counts ("I have blocked the TV").
What is denied, asked back, conditional, still to come, or was so before is no claim. A guess: it only adds a note.
Words of five languages, each list in the order English, German, Spanish, Japanese, Chinese.
"""

from __future__ import annotations

import re

from oasis.system.late import late

# Of a text; who writes more has not only reported.
_CHARS = 2000
# Of a sentence: a text without a full stop is no report.
_SENTENCE_CHARS = 300


class _Any:
    """Expressions of which one must fit, a line each; those of letters of China and Japan are for texts with such."""

    def __init__(self, words: str) -> None:
        lines = ["(?:%s)" % line.strip() for line in words.strip().splitlines()]
        self._all = late("|".join(lines))
        self._latin = late("|".join([one for one in lines if not _is_wide(one)]))

    def search(self, text: str) -> re.Match[str] | None:
        return self._of(text).search(text)

    def sub(self, new: str, text: str) -> str:
        return self._of(text).sub(new, text)

    def _of(self, text: str) -> re.Pattern[str]:
        return self._all if _is_wide(text) else self._latin


def _is_wide(text: str) -> bool:
    return not text.isascii() and max(text) > "\u2e80"


# What the owner said.
_POLITE = _Any(r"""
^(?:can|could|would|will) you\b|\bplease\b
^(?:kannst|könntest|würdest|können|könnten|würden) (?:du|sie|ihr)\b|\bbitte\b
^(?:me )?(?:puede|podría|podrías|puedes)\w*\b|por favor
(?:くれ|もらえ|いただけ)(?:ます|ません)か|ください|お願い
^(?:你|您)?(?:能|可以)(?!.*吗.*是).*(?:吗|帮)|请|帮我
""")  # fmt: skip
_LOOKS = _Any(r"""
\b(?:show|list|tell|explain|describe|check|look|find out|what|which|who|when|where|why|how)\b
\b(?:zeig\w*|nenn mir|liste|sag\w*|erklär\w*|beschreib\w*|prüf\w*|schau\w*|wer|wie|wann|wo|warum|welche[rsn]?)\b|\bwas\b
\b(?:muéstra\w*|muestra|lista|dime|explica\w*|explíca\w*|describe|comprueba|mira|qué|cuál\w*|quién|cuándo|dónde|cómo)\b
見せ|教え|説明|表示して|確認|調べ|いつ|なぜ|どうして|どの|どこ|誰|何が
显示|列出|告诉|解释|说明|查看|检查|看看|什么|哪|谁|为什么|怎么|多少|多久
""")  # fmt: skip
_ASKS = _Any(r"""
^(?:is|are|was|were|do|does|did|has|have|had|can|could|should|may)\b
^(?:ist|sind|war|waren|hat|haben|hast|gibt|läuft|kann|darf|soll)\b
^(?:está|están|hay|es|son|ha|has|han|tiene|tienes)\b
(?:です|ます|ました|ません)か\s*$|か\s*$
吗\s*$|呢\s*$|是否|有没有
""")  # fmt: skip
# Asks what was done: what the model says of itself is an answer.
_ASKS_DEED = _Any(r"""
^(?:did|have|has|had)\b|\bwhat (?:did|have|has|was|were)\b|\bwhen (?:did|was|were)\b|\bwh(?:o|y)\b
^(?:hast|haben|hat|wurden?)\b|\bwas (?:hast|haben|wurde)\b|\bwann\b|\bwer\b|\bwarum\b
^(?:has|ha|han)\b|\bqué (?:has|ha|hiciste|cambió|se)\b|\bcuándo\b|\bquién\b|por qué
(?:しました|されました)か|いつ|誰|なぜ
了吗|什么时候|谁|为什么|做了什么|改了什么
""")  # fmt: skip
# Says how things are, thanks or greets: no wish.
_STATES = _Any(r"""
^(?:my|our|the|it|there|i(?:'m| am| can't| cannot| have))\b.*\b(?:is|are|has|have|not|cannot)\b
^(?:my|our|the|it|there|i)\b.*n't\b
^(?:mein\w*|unser\w*|das|der|die|es|ich kann)\b.*\b(?:ist|sind|hat|geht|nicht|kein\w*)\b
^(?:mi|nuestr\w*|el|la|los|las|no puedo|no hay)\b.*\b(?:está|están|no|es|va|funciona)\b
(?:遅い|ない|ません|です)。?$
(?:很|太|不能|没有|坏|慢)\w*。?$
^(?:hi|hello|hey|good \w+|thanks?|thank you|danke|hallo|guten \w+|hola|gracias|buen\w* \w+)\b[^,.]*$
^(?:ありがとう|こんにちは|谢谢|你好)
""")  # fmt: skip

# What an answer says.
_DENIES = _Any(r"""
\b(?:not|nothing|never|none|neither|cannot|unable|fail\w*|declined|refused|rejected|reverted|undone|unchanged|denied)\b
n't\b|\broll\w* back\b|\bno (?:changes?|rules?|tools?|plans?|settings?|devices?|room)\b|\btried\b
\b(?:nicht|nichts|kein\w*|nie|abgelehnt|fehlgeschlagen|gescheitert|unverändert|versucht)\b|\bzurückge(?:rollt|nommen|setzt)
\brückgängig|\b(?:no|nada|nunca|sin cambios|igual)\b|\bning[uú]n|\brechazad|\bfall[óoa]|\b(?:deshi|rev[ie]rt|deshech)
ません|ない|なかった|失敗|拒否|却下|ロールバック|元に戻|没|未|不(?!再)|无法|失败|拒绝|回滚|撤销|尚
""")  # fmt: skip
# Looks like a denial, and says what is so from now on.
_NO_MORE = _Any(r"""
\bno longer\b|\bn't\b[^,]*\bany ?more\b|\bnicht mehr\b|\bkein\w* \w+ mehr\b|\bya no\b
不再|不能再|なくなり
""")  # fmt: skip
_TO_COME = _Any(r"""
\b(?:if|once|unless|as soon as|when you|after you|until you|will|would|should|shall|may|might|must)\b
\b(?:needs?|to be|want|let me)\b
'll\b|\b(?:going to|about to|approv\w+|wait\w*|pending|propos\w+|suggest\w*|recommend\w*|could|try)\b
\bcan\b(?! now| no longer)
\b(?:wenn|falls|sobald|würden?|kann|können(?! jetzt)|könnten?|soll\w*|muss|müssen|möchte\w*|erst)\b
\b(?:brauche\w*|werde|vorschlag\w*)\b|\b(?:zustimm|stimmst|genehmig|bestätig|warte)\w*
\b(?:si|cuando|una vez|en cuanto|será\w*|podría\w*|debe\w*)\b
\b(?:puedo|puede(?!n ahora)|necesit\w+|aprueb\w+|aprobación|espera\w*|propongo|voy a|quiere\w*)\b
たら|れば|場合|承認|必要|予定|ましょう|できます|待ち|如果|若|一旦|(?<!已)将|会(?!再)|需要|请|建议|批准|等待|可以(?!使用|用|上)
""")  # fmt: skip
_BEFORE = _Any(r"""
\b(?:already|currently|at the moment|at present|still|by default|as before|yesterday|ago|earlier|previously)\b
\blast (?:week|night|time)\b
\bon (?:mon|tues|wednes|thurs|fri|satur|sun)day\b
\b(?:schon|bereits|derzeit|zurzeit|momentan|aktuell|noch|weiterhin|gestern|vorhin|früher|standardmäßig|letzte\w*)\b
\bya estaba\w*|\b(?:actualmente|todavía|aún|siguen?|ayer|anoche|hace|antes|por defecto)\b
既に|すでに|もともと|元々|現在|まだ|今のところ|昨日|前回|以前|本来|早就|原本|一直|已经是|目前|当前|仍|还|昨天|之前|上次|默认
""")  # fmt: skip
_EN = (
    "(?:chang|updat|enabl|disabl|activat|deactivat|add|remov|delet|creat|configur|turn|switch|block|unblock|open|clos"
    "|renam|restart|reboot|appli|install|forward|sav|reserv|limit|mov|schedul|allow|grant|assign|fix|replac|rais|lower"
    "|increas|reduc|stopp|start|paus|lock|unlock|redirect|reload|isolat|restrict|encrypt|protect|call|nam|connect|throttl"
    "|adjust|tighten|whitelist|blacklist|mapp|bann)ed|set|put|made|given|gave|hid|hidden|shut|bound|split"
)
_DE = (
    "geändert|umgestellt|gesetzt|gestellt|aktualisiert|(?:de)?aktiviert|hinzugefügt|entfernt|gelöscht|angelegt|erstellt"
    "|konfiguriert|eingerichtet|(?:ab|an|ein|aus|um)geschaltet|gesperrt|blockiert|freigegeben|geöffnet|geschlossen|benannt"
    "|umbenannt|gestartet|installiert|gespeichert|(?:weiter|um)geleitet|reserviert|vergeben|beschränkt|begrenzt|gedrosselt"
    "|verschoben|erlaubt|behoben|eingetragen|übernommen|ersetzt|zugewiesen|festgelegt|gewechselt|erhöht|gesenkt|versteckt"
    "|gestoppt|angehalten|pausiert|eingestellt|(?:aus|an|frei)gemacht|getrennt|isoliert"
)
_ES = (
    "(?:cambiad|modificad|configurad|actualizad|activad|desactivad|habilitad|deshabilitad|añadid|agregad|eliminad|borrad"
    "|quitad|cread|apagad|encendid|bloquead|desbloquead|abiert|cerrad|renombrad|reiniciad|instalad|guardad|puest|establecid"
    "|limitad|reservad|redirigid|reenviad|asignad|programad|ajustad|restringid|permitid|aplicad|detenid|parad|ocultad"
    "|aislad|llamad)[oa]s?"
)
_JA = (
    "(?:変更|設定|更新|追加|削除|作成|有効化?|無効化?|オン|オフ|ブロック|遮断|開放|開け|閉じ|切り|止め|停止|再起動|適用"
    "|インストール|保存|制限|予約|転送|登録|許可|禁止|修正|解除|割り当て|固定|構成|使える|使用可能|接続|確保|変え)"
)
_ZH = (
    "(?:更改|修改|改|设置|设|配置|更新|启用|禁用|停用|开启|打开|关闭|关|添加|新增|删除|移除|创建|建立|建|屏蔽|阻止|封锁"
    "|禁止|重启|应用|安装|保存|限制|转发|保留|预留|分配|允许|停止|切换|换|隐藏|解除|隔离|绑定)"
)
# What a model says that it did itself.
_OWN_DEED = _Any(
    r"\b(?:i|we)(?:'ve| have)? (?:(?:just|now|also|already|successfully|went ahead and|have|gone ahead and) )*(?:%s)\b"
    "\n" r"\bhabe? (?:ich|wir)\b.*(?:%s)|\b(?:ich|wir) hab\w*\b.*(?:%s)"
    "\n" r"\bh(?:e|emos) (?:\w+ )?(?:%s)|\b(?:cambi|configur|apagu|bloque|cerr|agregu|elimin|borr|cre|activ|desactiv"
    r"|renombr|reinici|instal|guard|limit|reserv|actualic|quit|habilit|ajust)é\b|\b(?:abrí|añadí|encendí|puse|establecí)\b"
    "\n" r"%s[^。、]{0,8}(?:しました|致しました|いたしました|しておきました|けました|めました|えました|てました)"
    "\n" r"我(?:已经|已|刚刚|刚|们)?[^。，]{0,20}%s" % (_EN, _DE, _DE, _ES, _JA, _ZH)
)  # fmt: skip
# Alone in its clause.
_DONE = late(
    r"\W*(?:ok(?:ay)?|it's|it is|that's|all|alles|alles klar|das ist|ist|schon|ya|ya está|está|todo)?\W*(?:all )?"
    r"(?:done|set|all set|finished|completed|success"
    r"|erledigt|fertig|geschafft|gemacht|hecho|list[oa]|ya está|completado|terminado)\W*"
    r"|.{0,8}(?:完了(?:です|しました|いたしました)?|できました|終わりました|完成(?:了)?|搞定(?:了)?|好了|办好了|弄好了)\W*"
)
_MARKS = ("✅", "✔", "☑")
# What is so, and would be by the wish.
_SO = _Any(
    r"\b(?:%s|no longer|from now on)\b"
    "\n" r"(?:\bis|\bare|'s|\bgoes|\bstays|\bremains)\b.*\b(?:on|off|up|down|active|inactive|live|gone|open|in place"
    r"|in effect|set up|running|ready|available|offline|online|unblocked)\b|\bnow (?:\w+s|are|have)\b|\bcan now\b"
    r"|\bsuccessful(?:ly)?\b"
    "\n" r"%s|\b(?:ist|sind|läuft|laufen|bleib\w*|jetzt|nun)\b.*\b(?:an|aus|aktiv|inaktiv|offen|zu|weg|bereit|jetzt|nun"
    r"|online|versteckt|verfügbar)\b|\berfolgreich\b"
    r"|\b(?:lautet|heißt|hat|gilt|kommt|können) (?:jetzt|nun|ab sofort|nicht mehr)\b"
    "\n" r"\b(?:%s)\b|\b(?:está|están|queda|quedan|quedó)\b.*(?:activ|inactiv|list[oa]|en marcha|disponible)|\bahora\b"
    r"|\ba partir de ahora|\bya no\b|\bcorrectamente\b"
    r"|\bse (?:cambi|apag|activ|desactiv|cre|elimin|bloque|añadi|reinici)ó"
    "\n" r"%s[^。、]{0,8}(?:ました|ています|済み|完了|です)|%s[^。，]{0,12}(?:成功|完成|完毕|了)"
    "\n" r"(?:已|已经|被|现在|从现在起|成功)[^。，]{0,12}%s|生效"
    r"|(?:现在|已|已经)[^。，]{0,6}(?:可用|可以使用|可以用|可以上)"
    % (_EN, _DE, _ES, _JA, _ZH, _ZH)
)  # fmt: skip
# A sentence of this kind is a task or a condition for somebody, not a report.
_TASK = late(r"^\W*(?:to|zum|um|para)\b")
_MORE = _Any("""
anything else|something else|what else|more help
sonst noch|noch etwas|noch was
algo más|otra cosa
他に|ほかに
还有|其他|别的
""")  # fmt: skip
_SENTENCE = late(r"(?:[^.!?。！？\n]|[.!?](?=\S))+[.!?。！？]*")
_CLAUSE = late(r"[:：;；,，、—–→(]+|(?<=\S) (?:and|but|so|und|aber|also|y|pero|así que) ")


def is_wish(said: str) -> bool:
    """Return whether an owner's words ask for a change, in any of their sentences."""
    return any(_kind(one) == "wish" for one in _sentences(said)[:20])


def is_claimed(text: str, said: str, is_so: bool = False) -> bool:
    """Return whether an answer says that something was changed. `is_so`: all that was wished was so already."""
    wished, asked = _sentences(said), " ".join(_sentences(said))
    has_wish = is_wish(said) and not is_so
    if not has_wish and _ASKS_DEED.search(asked):
        return False
    is_statement = not has_wish and all(_kind(one) == "statement" for one in wished)
    sentences = _sentences(text)
    asks_back = any(_is_question(one) and not _MORE.search(one) for one in sentences)
    for sentence in sentences:
        if _is_question(sentence):
            continue
        is_open = bool(_TO_COME.search(sentence) or _TASK.match(sentence))
        clauses = _CLAUSE.split(sentence)
        denied = [bool(_DENIES.search(_NO_MORE.sub("", clause))) for clause in clauses]
        for clause, is_denied in zip(clauses, denied, strict=True):
            if is_denied:
                continue
            if _OWN_DEED.search(clause) and not _TO_COME.search(clause):
                return True
            if (has_wish or is_statement) and (_DONE.fullmatch(clause) or clause.strip().startswith(_MARKS)):
                return True
            # What could not be done stands with the reason.
            is_report = is_open or asks_back or any(denied) or _BEFORE.search(sentence)
            if has_wish and not is_report and _SO.search(_NO_MORE.sub(" no longer ", clause)):
                return True
    return False


def _sentences(text: str) -> list[str]:
    plain = text[:_CHARS].casefold().replace("’", "'").replace("¿", "").replace("¡", "")
    return [one.strip(" *_`#>-")[:_SENTENCE_CHARS] for one in _SENTENCE.findall(plain) if one.strip()]


def _is_question(sentence: str) -> bool:
    return sentence.endswith(("?", "？")) or bool(re.search(r"か。?$|吗。?$", sentence))


def _kind(said: str) -> str:
    """Return what a sentence of the owner's is: wish, question or statement."""
    bare = said.rstrip("?？!！.。 ")
    if _POLITE.search(bare) and not re.match(r"^(?:可以|能)", bare):
        looks = _LOOKS.search(_POLITE.sub("", bare))
        return "question" if looks else "wish"
    if _is_question(said) or _ASKS.search(bare) or _LOOKS.search(bare.split(",")[0]):
        return "question"
    return "statement" if _STATES.search(bare) else "wish"
