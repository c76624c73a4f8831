"""The committed corpora: one JSON text a line, `* N` behind it repeats it, `#` begins a comment."""

import json
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def texts(name):
    """Return the texts of one corpus."""
    found = []
    with open(os.path.join(FOLDER, name + ".txt"), encoding="ascii") as handle:
        for line in handle:
            line = line.strip()
            if line and not line.startswith("#"):
                text, end = json.JSONDecoder().raw_decode(line)
                found.append(text * int(line[end:].replace("*", "") or 1))
    return found
