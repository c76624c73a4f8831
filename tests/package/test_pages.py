"""The pages survive what OpenWrt's build does to them: LuCI's jsmin takes out comments, blanks and line ends."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "files", "www")
# A file is the body of a function: LuCI calls it. Node has a parser inside; what it reads in both texts must be one.
COMPARE = """
const fs = require('fs'), [one, other] = process.argv.slice(1);
let parser = null;
try { parser = require('internal/deps/acorn/acorn/dist/acorn'); } catch (error) {}
function tree(text) {
    new Function(text);
    return parser && JSON.stringify(
        parser.parse(text, { ecmaVersion: 'latest', allowReturnOutsideFunction: true }),
        (key, value) => ['start', 'end'].includes(key) ? undefined : value);
}
for (const name of fs.readdirSync(other).sort()) {
    const read = folder => fs.readFileSync(folder + '/' + name, 'utf8');
    try { if (tree(read(one)) !== tree(read(other))) console.log(name + ' is another program'); }
    catch (error) { console.log(name + ': ' + error); }
}
"""
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="no node on PATH")


def scripts():
    for folder, _, names in sorted(os.walk(PAGES)):
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".js"))


def compare(one, other):
    argv = ["node", "--expose-internals", "-e", COMPARE, one, other]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def minify(source, target):
    with open(source, "rb") as file:
        target.write_bytes(subprocess.run(["jsmin"], stdin=file, stdout=subprocess.PIPE, check=True).stdout)


@needs_node
@pytest.mark.skipif(not shutil.which("jsmin"), reason="luci-base's jsmin is not on PATH")
def test_minified_pages_are_still_the_pages(tmp_path):
    for name in ("whole", "small"):
        (tmp_path / name).mkdir()
    for source in scripts():
        name = os.path.relpath(source, PAGES).replace(os.sep, "~")
        shutil.copy(source, tmp_path / "whole" / name)
        minify(source, tmp_path / "small" / name)
        assert (tmp_path / "small" / name).stat().st_size < os.path.getsize(source)
    assert len(os.listdir(tmp_path / "small")) > 20
    assert compare(tmp_path / "whole", tmp_path / "small") == ""


@needs_node
def test_a_page_that_is_changed_or_broken_is_told(tmp_path):
    for name, text in (("one", "const a = '1  2';\nreturn a;\n"), ("other", "const a = '1 2';\nreturn a;\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "changed.js").write_text(text)
        (tmp_path / name / "broken.js").write_text("return {" if name == "other" else "return {};")
    told = compare(tmp_path / "one", tmp_path / "other")
    assert "broken.js: SyntaxError" in told
    assert "changed.js" in told or "is another program" not in told
