"""`python3 -m oasis.uci`: a drop-in for the `uci` program over plain files.

Source: uci's cli.c.
"""

from __future__ import annotations

import os
import sys

from oasis.uci import lexer, names, options, refusal
from oasis.uci.commands import USAGE_STATUS, Shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

# More words than this on a line of `batch` are too many.
_WORDS_MAX = 4

_USAGE = """Usage: uci [<options>] <command> [<arguments>]

Commands:
\tbatch
\texport     [<config>]
\timport     [<config>]
\tchanges    [<config>]
\tcommit     [<config>]
\tadd        <config> <section-type>
\tadd_list   <config>.<section>.<option>=<string>
\tdel_list   <config>.<section>.<option>=<string>
\tshow       [<config>[.<section>[.<option>]]]
\tget        <config>.<section>[.<option>]
\tset        <config>.<section>[.<option>]=<value>
\tdelete     <config>[.<section>[[.<option>][=<id>]]]
\trename     <config>.<section>[.<option>]=<name>
\trevert     <config>[.<section>[.<option>]]
\treorder    <config>.<section>=<position>

Options:
\t-c <path>  set the search path for config files (default: /etc/config)
\t-C <path>  set the search path for config override files (default: /var/run/uci)
\t-d <str>   set the delimiter for list values in uci show
\t-f <file>  use <file> as input instead of stdin
\t-m         when importing, merge data into an existing package
\t-n         name unnamed sections on export (default)
\t-N         don't name unnamed sections
\t-p <path>  add a search path for config change files
\t-P <path>  add a search path for config change files and use as default
\t-t <path>  set save path for config change files
\t-q         quiet mode (don't print error messages)
\t-s         force strict mode (stop on parser errors, default)
\t-S         disable strict mode
\t-X         do not use extended syntax on 'show'

"""


class _Streams:
    """Where the command line prints; both take bytes."""

    def __init__(self, stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self._stdout = stdout
        self._stderr = stderr

    def write(self, text: str) -> None:
        self._stdout.write(names.encode(text))

    def complain(self, text: str) -> None:
        self._stderr.write(names.encode(text))

    def flush(self) -> None:
        self._stdout.flush()
        self._stderr.flush()


def main(arguments: list[str], stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> int:
    """Run the command line; return the exit status."""
    streams = _Streams(stdout, stderr)
    settings = options.Settings(stdin)
    try:
        words = options.parse(arguments, settings)
    except options.Stop as stop:
        streams.complain(stop.text + (_USAGE if stop.usage else ""))
        return stop.status
    if not words:
        streams.complain(_USAGE)
        return 0
    shell = Shell(settings, streams.write, streams.complain)
    status = _batch(shell, streams) if words[0].lower() == "batch" else _run(shell, words, streams)
    if status == USAGE_STATUS:
        streams.complain(_USAGE)
    streams.flush()
    return status


def _run(shell: Shell, words: list[str], streams: _Streams) -> int:
    if words[0].lower() == "help":
        streams.complain(_USAGE)
        return 0
    return shell.run(words)


def _batch(shell: Shell, streams: _Streams) -> int:
    """Run the lines of the input; whatever they do, the status is 0."""
    while not shell.input_ended:
        lines = shell.context.lines
        # A command that parsed a file has thrown our place in the input away; the line numbers start again.
        if lines is None or lines.stream is not shell.settings.input:
            lines = shell.context.lines = lexer.LineBuffer(shell.settings.input)
        words = _batch_words(shell, lines)
        shell.input_ended = shell.input_ended or lines.at_end
        if words and words[0].lower() == "exit":
            break
        if words and _run(shell, words, streams) == USAGE_STATUS:
            shell.say("Unknown command\n")
        shell.context.packages.clear()
        streams.flush()
    return 0


def _batch_words(shell: Shell, lines: lexer.LineBuffer) -> list[str]:
    words: list[str] = []
    lines.read_line()
    try:
        while word := names.decode(lines.argument()):
            words.append(word)
            if len(words) == _WORDS_MAX:
                shell.say("Too many arguments\n")
                return []
    except refusal.Refused as error:
        shell.error(error)
        return []
    return words


if __name__ == "__main__":
    given = [names.decode(os.fsencode(word)) for word in sys.argv[1:]]
    sys.exit(main(given, sys.stdin.buffer, sys.stdout.buffer, sys.stderr.buffer))
