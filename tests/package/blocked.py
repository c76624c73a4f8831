"""A Python without some modules: `python -IS blocked.py SELF NAME,NAME… [-OPTIONS] FILE | -c CODE ARGUMENTS…`.

An import of a name (or of something below it) fails as it does on a router that has not the package. SELF is the
program that children are started with, so that they are without them as well.
"""

import sys


class Blocker:
    def __init__(self, names):
        self._names = names

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self._names:
            raise ModuleNotFoundError("no module %s on this router" % name, name=name)
        return None


def main(self, names, words):
    sys.executable = self
    blocked = set(names.split(","))
    for name in [name for name in sys.modules if name.partition(".")[0] in blocked]:
        del sys.modules[name]
    sys.meta_path.insert(0, Blocker(blocked))
    while words[0].startswith("-") and words[0] != "-c":
        words = words[1:]
    sys.dont_write_bytecode = True
    scope = {"__name__": "__main__", "__package__": None, "__builtins__": __builtins__}
    if words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        exec(compile(words[1], "<string>", "exec"), scope)
    else:
        sys.argv = words
        scope["__file__"] = words[0]
        with open(words[0], "rb") as file:
            exec(compile(file.read(), words[0], "exec"), scope)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
