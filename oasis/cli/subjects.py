"""Help that is about no single command: `oasis help SUBJECT`. Data only."""

SUBJECTS = {
    "first-hour": (
        "from the installation to the first change",
        "oasis setup leads through it: a model at home, a service with a key, or none. Without a model the common\n"
        "requests of a household are understood, in English, German, Spanish, Japanese and Chinese.\n\n"
        '    oasis prompt "which devices are here?"       looks, and changes nothing\n'
        '    oasis prompt "call this router attic"        small: done at once\n'
        "    oasis undo                                   takes it back\n"
        '    oasis prompt "set the wifi name to Attic"    risky: shown, waits for your yes, then for your Keep',
    ),
    "changes": (
        "what happens between your words and a changed router",
        "Words become uci commands, the commands a plan: the difference, the risk, what is reloaded, and whether you\n"
        "will still reach the router. Low risk is done at once. Risky plans (network, Wi-Fi, firewall, access) wait\n"
        "for your approval, and after they were applied for your Keep. If it does not come in time, the old files\n"
        "come back, also when the daemon is gone or the power fails. Nothing is given to a shell, ever.\n\n"
        "    oasis plans, approve, decline      what waits\n"
        "    oasis pending, confirm, rollback   what was applied and is not kept yet\n"
        "    oasis changes, undo                what was done\n"
        "    oasis audit                        who decided what",
    ),
    "models": (
        "services, keys, and what answers when one fails",
        "    oasis services, select       which there are, and which answers\n"
        "    oasis add, key, models       set one up; a key is typed unseen and never shown again\n"
        "    oasis test                   ask it for a word\n"
        "    oasis alias chat A B         try A first, then B\n\n"
        "A service that fails before its first word is followed by the next of the alias `chat`, as shown each time.\n"
        "`oasis setup` puts the built-in one there; `oasis alias chat offline` does so, too.",
    ),
    "privacy": (
        "what leaves the router",
        "Without a model nothing does. With one: your words, the chat so far, and what Oasis looks up for the answer.\n"
        "Secrets of the router are placeholders in it, devices are numbers. A key stays in /etc/oasis/keys.json.\n\n"
        "    oasis privacy TEXT           the very bytes, before they are sent\n"
        "    oasis usage                  tokens and, where you set prices, cost\n"
        "    oasis forget MESSAGE         takes what was said off the flash",
    ),
    "lockout": (
        "when the router cannot be reached any more",
        "Wait three minutes: a risky change that nobody kept is undone automatically. If it was kept, use\n"
        "another cable or another Wi-Fi, and `oasis undo`. If there is no way in: failsafe mode, where the earlier\n"
        "files are in /etc/oasis/changes, newest last. `oasis changes` and `oasis doctor` work without the service.",
    ),
    "scripts": (
        "using oasis from a script",
        "-j prints JSON. Plans that wait end `prompt --no-wait` with status 10; `approve PLAN HASH` takes the whole\n"
        "hash where there is no terminal. Secrets come on standard input: oasis prompt - < FILE. The exit statuses\n"
        "are at the end of `oasis help`.",
    ),
}
