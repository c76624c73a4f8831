"""The commands of `oasis` as tables: what each is called, how it is used, what it does, where it is, how it ends.

Read by the argument reader (a command's usage line is also its grammar), by help and by `cli.main`.
Grammar of a usage line: NAME is required, [NAME] may be left out, NAME… takes the rest of the line as it stands,
[--flag] and [-f] are switches, [--option NAME] and [-o NAME] take a value; what ends in ]… may be given several times.
"""

from __future__ import annotations

from oasis import parts
from oasis.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    Command = tuple[str, str, str, str]

_WHERE = (
    "CHAT is an id, or no=N for the Nth of `oasis list`. HEADISH is the id of a message or the name of a bookmark, as\n"
    "`oasis tree` and `oasis branch` show them; what is said then continues it. Several may be continued at once.\n"
)
_TOLD = "[--continue HEADISH]… [--chat CHAT] [--head NAME] [--topic KEY] [--service SERVICE] [--search SWITCH] "

_SERVICE = (
    "[--endpoint URL] [--model MODEL] [--thinking LEVEL] [--temperature NUMBER] [--tool-mode MODE] "
    "[--search SWITCH] [--max-tokens NUMBER] [--context-tokens NUMBER] [-k KEY] "
)

# name: (usage, summary, module and function, more help)
COMMANDS = {
    "prompt": (
        f"[--no-wait] {_TOLD}[--attach FILE]… TEXT…",
        "ask one question, or say what the router should do",
        "cli.prompt:prompt",
        "TEXT - reads the text from standard input, which keeps passwords out of the process list.\n"
        f"{_WHERE}"
        "--head sets a bookmark on what comes of it, --topic begins a new chat with one of `oasis topics`, --service\n"
        "lets that service answer from here on, --search (on or off) lets it look into the web or not, --attach sends\n"
        "a document or picture along.\n"
        "A plan that needs approval is asked about on a terminal. Elsewhere it is printed with its id and hash,\n"
        "and the command waits until somebody approves or declines it; with --no-wait it ends with status 10 instead.\n"
        "Ctrl-C cancels.",
    ),
    "agent": (
        "[-t TURNS] [--service SERVICE] [--chat CHAT] GOAL…",
        "work on a goal until it is done, or needs you",
        "cli.prompt:agent",
        "TURNS is how many answers the model may take, 6 when not given; t=N and turns=N in front of the goal mean\n"
        "the same. It ends as DONE (status 0), NEED_INPUT (20), NEED_CONFIRMATION (21), STUCK (1) or FAILED (2).\n"
        "Risky plans wait for you as always. The last line, OASIS_AGENT_RESULT=…, is for scripts.",
    ),
    "chat": (
        f"{_TOLD}[CHAT]",
        "talk with the router until /exit",
        "cli.conversation:chat",
        f"Without CHAT or HEADISH a new chat begins. {_WHERE}"
        "/help in the chat lists its commands. Ctrl-C cancels the answer being given, or else leaves.",
    ),
    "resume": (
        "[CHAT]",
        "talk on in the chat used last",
        "cli.conversation:resume",
        "An answer that is still being given is shown first. CHAT is an id, or no=N for the Nth of `oasis list`.",
    ),
    "list": ("[--archived]", "list the chats", "cli.chats:list_chats", "With --archived only those in the archive."),
    "show": (
        "[--last NUMBER] CHAT",
        "print a chat, or the thread up to a message",
        "cli.chats:show_chat",
        "CHAT is an id, no=N for the Nth of `oasis list`, or a HEADISH: the id of a message or the name of a\n"
        "bookmark. With --last only that many messages.",
    ),
    "search": (
        "[--limit NUMBER] [--meaning] WORDS…",
        "search all chats",
        "cli.chats:search",
        'All words, or a "phrase in quotes", stand in one message, in any case. With --meaning the messages that fit\n'
        "a question best: by its words, and by vectors where the alias `embedding` names a model.",
    ),
    "tree": (
        "[CHAT]",
        "draw the branches of a chat",
        "cli.branches:show_tree",
        "Without CHAT of the chat used last. CHAT may be a HEADISH as well, which is then marked as here.\n"
        "Each turn begins with the id to --continue it by.",
    ),
    "branch": (
        "[-d] [--move] [--chat CHAT] [NAME] [HEADISH]",
        "list bookmarks, set one, or delete one with -d",
        "cli.branches:branch",
        "Without HEADISH the bookmark is set at the end of the chat, without CHAT of the one used last. It goes along\n"
        "with what continues it. One that stands elsewhere is moved with --move, or after asking.",
    ),
    "summarise": (
        "[CHAT]",
        "let the model sum a thread up, to go on from that",
        "cli.branches:summarise",
        "Without CHAT the chat used last; CHAT may be a HEADISH. What was said stays; the next words continue the\n"
        "summary, which is all that the model is sent of it.",
    ),
    "rename": ("CHAT TITLE…", "give a chat a title", "cli.chats:rename", "An empty TITLE takes it back."),
    "archive": (
        "CHAT",
        "put a chat into the archive",
        "cli.chats:archive",
        "It is kept packed, is found by search, and is what goes first when chats have no more room.",
    ),
    "unarchive": ("CHAT", "bring a chat back from the archive", "cli.chats:unarchive", ""),
    "delete": (
        "CHAT",
        "delete a chat",
        "cli.chats:delete",
        "CHAT is an id; for a position there is `oasis delchat`, for upstream's delete no=N, which takes a service\n"
        "away, `oasis remove`.",
    ),
    "delchat": ("CHAT", "delete a chat, by id or no=N", "cli.chats:delete_chat", ""),
    "forget": (
        "[--chat CHAT] MESSAGE",
        "take what one message says off the flash",
        "cli.chats:forget",
        "Its place in the thread stays, its words are gone for good.",
    ),
    "export": (
        "[--markdown] [--upstream] [-o FILE] [--force] CHAT",
        "write a chat to standard output or a file",
        "cli.chats:export_chat",
        "Whole, with every branch, or a thread: as --markdown for people, or --upstream for the older Oasis; CHAT may\n"
        "then be a HEADISH as well. A FILE that is there is replaced with --force only.",
    ),
    "import": (
        "[--upstream] [FILE]…",
        "take in chat files, or the older Oasis's chats of this router",
        "cli.chats:import_chats",
        "What was exported here or by the older Oasis. A file that cannot be taken in stops no other; the status is\n"
        "that of the first failure.",
    ),
    "topics": (
        "[--title TITLE] [ACTION] [NAME…]",
        "list, show, add, edit or delete system messages",
        "cli.topics:topics",
        "ACTION is list, show KEY, add TITLE, edit KEY or delete KEY. The text comes on standard input.\n"
        "A chat begins with one by `oasis chat --topic KEY`.",
    ),
    "sysmsg": (
        "[-c] [-s] [WORDS…]",
        "the same in upstream's words",
        "cli.topics:sysmsg",
        "Without words, as `oasis topics`; with -c TEXT… a new one.",
    ),
    "apply": (
        "[--no-wait] [--force KIND]… [--words WORDS] [COMMAND]…",
        "propose uci commands of your own as a plan",
        "cli.plans:apply",
        "A COMMAND is one uci command in quotes, like 'uci set system.@system[0].hostname=attic'. Without any, or\n"
        "with -, they are read from standard input; one word without blanks is the name of a file that holds them.\n"
        "What is refused and yet yours to decide, you may force; the plan then waits for your approval in any case.\n"
        "KIND is reachability (you would not reach the router any more), unknown (names and values that Oasis does\n"
        "not know or calls bad) or exec (code, and every option that Oasis does not know). For exec, WORDS are\n"
        "exactly: this runs code as root. On a terminal all of this is asked for.",
    ),
    "force": (
        "[--no-wait] REFUSED",
        "propose what was refused all the same",
        "cli.plans:force",
        "REFUSED is the id that was shown with the refusal; it is kept for 10 minutes. The plan waits for approval.",
    ),
    "plans": ("", "list the plans that wait for approval", "cli.plans:list_plans", ""),
    "approve": (
        "[--word WORD] PLAN [HASH]",
        "approve a waiting plan",
        "cli.plans:approve",
        "On a terminal the plan is shown and asked about. Elsewhere HASH is required: all 64 characters of the plan's\n"
        "hash as `oasis plans` prints it, so that exactly the plan that was read is approved. While the AI worker is\n"
        "not confined, a risky plan asks for a WORD as well; the plan says which.",
    ),
    "decline": ("PLAN [REASON…]", "decline a waiting plan", "cli.plans:decline", "The model gets the reason."),
    "changes": (
        "[--since WHEN] [--package PACKAGE] [CHANGE]",
        "list the changes made, newest first, or show one whole",
        "cli.plans:list_changes",
        "WHEN is like 2h, 22:00, yesterday or 2026-11-20. CHANGE is an id.",
    ),
    "pending": ("", "show the change that waits to be kept", "cli.plans:pending", ""),
    "confirm": (
        "[--unproved] [CHANGE]",
        "keep the change that waits for it",
        "cli.plans:confirm",
        "What shows that you still reach the router is a login that is younger than the change: log in again and\n"
        "confirm there. An older login went on over a connection that nobody may be able to open any more; with\n"
        "--unproved the change is kept all the same.",
    ),
    "extend": (
        "[--seconds NUMBER] [CHANGE]",
        "get more time before the waiting change is undone automatically",
        "cli.plans:extend",
        "Without NUMBER the whole time begins again. It ends 15 minutes after the change was applied at the latest.",
    ),
    "rollback": ("[CHANGE]", "put the waiting change back now", "cli.plans:rollback", ""),
    "undo": (
        "[--no-wait] [--skip-conflicts] [CHANGE]",
        "undo a change, without CHANGE the newest",
        "cli.plans:undo",
        "Undoing is a change too: its plan may need approval. What was done since stays. When something that the\n"
        "change did was changed again, nothing is undone and the conflicts are listed; with --skip-conflicts these\n"
        "stay as they are and the rest is undone.",
    ),
    "services": ("", "list the AI services", "cli.model_services:list_services", ""),
    "select": (
        "SERVICE",
        "use another AI service",
        "cli.model_services:select",
        "SERVICE is an identifier, or no=N for the Nth of `oasis services`.",
    ),
    "add": (
        f"[--key] {_SERVICE}[NAME] [ENDPOINT] [KEY] [MODEL]",
        "add an AI service",
        "cli.model_services:add",
        "NAME is a provider, like openai, anthropic, gemini, openrouter, ollama or compatible. On a terminal all that\n"
        "is missing is asked for, and the models are listed to choose from. The key is typed unseen, or is the first\n"
        "line of standard input where the provider needs one or --key says so; KEY and -k are refused, for every\n"
        "program on the router can read the words of a command.",
    ),
    "change": (
        f"{_SERVICE}[--unset OPTION]… [-u URL] [-m MODEL] [-n NAME] [SERVICE]",
        "change an AI service",
        "cli.model_services:change",
        "SERVICE is an identifier, or no=N for the Nth of `oasis services`. --unset takes an option back, like\n"
        "thinking or max_tokens. For its key there is `oasis key`.",
    ),
    "remove": (
        "SERVICE",
        "take an AI service and its key away",
        "cli.model_services:remove",
        "As upstream: delete no=N.",
    ),
    "key": (
        "[-d] SERVICE [KEY]",
        "keep the key of an AI service, or take it away with -d",
        "cli.model_services:key",
        "It is typed unseen, or is the first line of standard input, and is never shown again. KEY is\n"
        "refused: every program on the router can read the words of a command. SERVICE may also be brave, the\n"
        "search engine of the tool web_search, or telegram, the messenger's bot.",
    ),
    "models": (
        "[--filter TEXT] [SERVICE]",
        "list the models that an AI service has now",
        "cli.model_services:models",
        "Without SERVICE those of the one in use.",
    ),
    "test": (
        "[SERVICE]",
        "ask an AI service for a word, and time it",
        "cli.model_services:test",
        "Status 1 when it fails.",
    ),
    "alias": (
        "[-d] [NAME] [TARGET]…",
        "list names for services and models, set one, or delete one with -d",
        "cli.model_services:alias",
        "TARGET is SERVICE or SERVICE/MODEL; several are tried in this order. An alias is good wherever a SERVICE is.\n"
        "Usual names are nano, milli, kilo, mega and giga, by size. `title` makes titles, and the services of `chat`\n"
        "stand in for the one in use when it fails.",
    ),
    "usage": (
        "[--month MONTH] [CHAT]",
        "show what AI models used, and how much of the budget that is",
        "cli.model_services:usage",
        "By month (like 2026-11, of UTC), service and model; with CHAT what its messages used. Prices and a\n"
        "budget for a month are set in /etc/config/oasis; no price is known by itself.",
    ),
    "setup": (
        "",
        "the first hour: find or choose a model, try it, and what to say next",
        "cli.model_services:setup",
        "Asks, and does nothing unasked. Looks for model servers on the home network, or takes a key, tries the\n"
        "service and puts it into use. All of it can be done by other commands: add, key, models, test, select.",
    ),
    "privacy": (
        "[--chat CHAT] [--service SERVICE] [--raw] TEXT…",
        "show what a message would send to a model, and send nothing",
        "cli.model_input:privacy",
        "The request as the model's service would get it: instructions, tools, the chat so far and TEXT; to which\n"
        "address, and how many bytes. --raw prints the very bytes of its body. Later requests of the same answer also\n"
        "hold what the tools answered; titles, vectors, skills and facts are asks of their own, where they are set up.",
    ),
    "tools": (
        "[ACTION] [NAME]",
        "list the tools of AI models, show one, or set what one may do",
        "cli.model_input:tools",
        "ACTION is list, show, enable, disable, ask, allow or deny. A tool that is allowed runs when a model calls\n"
        "it; ask puts every call to you, deny refuses it. Changes of the configuration are put to you as the setting\n"
        "approval says, and dangerous tools always ask. The numbers are about what telling a model of each costs.",
    ),
    "status": ("", "show version, AI service, and what is waiting", "cli.model_services:status", ""),
    "audit": (
        "[--verify]",
        "list the decisions made, newest first",
        "cli.plans:show_audit",
        "Each line of the log holds the hash of the line before. With --verify the whole chain is followed, and the\n"
        "status is 1 when a line was altered or removed.",
    ),
    "doctor": (
        "[--all] [--no-wait] [--fix FINDING]",
        "look for faults, from the cable up to the services",
        "cli.doctor:doctor",
        "Changes nothing, and works while the service does not run. With --all every check is listed. --fix\n"
        "proposes the plan that mends one finding; it is approved like any other. The status is 1 when something\n"
        "needs care.",
    ),
    "start": ("", "start the service, and wait until it answers", "cli.without_daemon:start", ""),
    "completion": (
        "[SHELL]",
        "print what lets a shell finish the words of a command",
        "cli.help:completion",
        "SHELL is bash or zsh. For bash: oasis completion bash > /etc/bash_completion.d/oasis. The router's own shell\n"
        "finishes file names only.",
    ),
    "help": ("[COMMAND]", "show this, or the help of one command or subject", "cli.help:show_help", ""),
}

# Not for people, and not in the help: see the module.
HIDDEN = {"alive": ("", "hand on a proof of life", "cli.alive:show", "")}


def every() -> dict[str, Command]:
    """Return all commands for people: ours, and those of the optional parts that are installed."""
    return {**COMMANDS, **parts.merged("COMMANDS")}


def find(name: str) -> Command | None:
    """Return the command of a name, None where there is none; no part is looked at for one of ours."""
    found: Command | None = COMMANDS.get(name) or HIDDEN.get(name) or parts.merged("COMMANDS").get(name)
    return found


FLAGS = ("-j", "--json", "-h", "--help")  # before or after every command

OK = 0
FAILED = 1
WAITING = 10
DECLINED = 11
ROLLED_BACK = 12
UNMADE = 8  # as of an ApplyError
CANCELLED = 130  # what shells report for a program ended by Ctrl-C

EXIT_STATUSES = (
    (OK, "done"),
    (FAILED, "error"),
    (2, "wrong usage"),
    (3, "a setting is wrong or missing"),
    (4, "a file could not be read or written"),
    (5, "refused by the policy"),
    (6, "the AI service failed"),
    (7, "the service broke the protocol"),
    (UNMADE, "the change was not made, or is fully undone"),
    (9, "the rollback failed: look at the router"),
    (WAITING, "a plan waits for approval"),
    (DECLINED, "the plan was declined or expired"),
    (ROLLED_BACK, "the change was rolled back"),
    (69, "the service is not running"),
    (CANCELLED, "cancelled by Ctrl-C, or ended by a signal"),
)


REST = "…"
REPEATED = "]" + REST


def read(usage: str, words: list[str]) -> dict[str, str]:
    """Return what `words` say, one text for every name in `usage`.

    Shape: {"PLAN": "…", "HASH": "" when left out, "--no-wait": "yes" or "", "--continue": "…" or ""}; a rest is
    joined with single spaces, what may be given several times with line ends.
    Raises: UsageError naming the word.
    """
    options, names = _grammar(usage)
    found = dict.fromkeys([*options, *[_bare(name) for name in names]], "")
    pending = list(names)
    words = list(words)
    while words:
        if words[0] == "--":
            words.pop(0)
            options = {}
        elif options and _is_option(words[0]):
            _take_option(words, options, found)
        elif not pending:
            raise UsageError(f"nothing is expected after these words: {words[0]!r}")
        elif pending[0].endswith((REST, REST + "]")) and not pending[0].endswith(REPEATED):
            rest = _without_trailing_options(words, options, found)
            found[_bare(pending.pop(0))] = " ".join(rest)
            words = []
        else:
            name = pending[0] if pending[0].endswith(REPEATED) else pending.pop(0)
            _add(found, _bare(name), words.pop(0), name.endswith(REPEATED))
    asks_help = found["-h"] or found["--help"]
    for name in pending:
        if not name.startswith("[") and not asks_help:
            raise UsageError(f"{_bare(name)} is missing")
    return found


def _add(found: dict[str, str], name: str, word: str, is_repeated: bool) -> None:
    found[name] = found[name] + "\n" + word if is_repeated and found[name] else word


def _without_trailing_options(words: list[str], options: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return a rest without the options that end it: people write them after a question as well as before it."""
    rest = list(words)
    while len(rest) > 1:
        if rest[-1] == "--":
            return rest[:-1]
        if rest[-1] in options and not options[rest[-1]]:
            found[rest.pop()] = "yes"
        elif len(rest) > 2 and options.get(rest[-2]):
            found[rest[-2]] = rest[-1]
            del rest[-2:]
        else:
            break
    return rest


def _take_option(words: list[str], options: dict[str, str], found: dict[str, str]) -> None:
    name, equals, value = words.pop(0).partition("=")
    if name not in options:
        raise UsageError(f"unknown option {name}")
    if not options[name]:
        if equals:
            raise UsageError(f"option {name} takes no value")
        found[name] = "yes"
        return
    if not equals:
        if not words:
            raise UsageError(f"option {name} needs a value")
        value = words.pop(0)
    _add(found, name, value, options[name].endswith(REPEATED))


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _bare(name: str) -> str:
    return name.strip("[]" + REST)


def _grammar(usage: str) -> tuple[dict[str, str], list[str]]:
    """Return ({option: the value that it takes or "", with its marks}, [positional names with their marks])."""
    options = {"-j": "", "--json": "", "-h": "", "--help": ""}
    names = []
    words = usage.split()
    for index, word in enumerate(words):
        if word.startswith("[-"):
            options[word.strip("[]")] = "" if word.endswith("]") else words[index + 1]
        elif index == 0 or not words[index - 1].startswith("[-") or words[index - 1].endswith("]"):
            names.append(word)
    return options, names
