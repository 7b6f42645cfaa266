"""Public bug reports about tools that rewrite code; each is a named test of this tool.

`test_bug_14_...` is the test of number 14, here or in the file of what it tests.
"""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]

BUGS = """
1 asottile/pyupgrade#1101: a crash while writing leaves an empty file
2 psf/black#2479: so does a full disk
3 pydantic/bump-pydantic#59, #124: one syntax error ends the run
4 bump-pydantic#119, LibCST#448: RecursionError on long chains; tensorflow#24923: f-strings
5 Instagram/LibCST#1000, #980: nested brackets kill the process
6 multiprocessing.Pool hangs when a worker dies
7 LibCST does not end on a chain of 5000 calls
8 bump-pydantic#169: CRLF becomes LF
9 mui/material-ui#29822: files that need nothing are written
10 bump-pydantic#56, tensorflow#40387: files are read in the encoding of the locale
11 pyupgrade, django-upgrade: a file with a byte order mark is skipped without a word
12 LibCST drops the byte order mark of a text, and a lone final carriage return
13 pyupgrade: a file with an encoding declaration is refused
14 tensorflow#26902: a link becomes a file
15 fsouza/autoflake8#61: the mode is lost
16 tensorflow#29380: other spellings of the import are not seen
17 tensorflow#26461, #33309: "0 issues" where there are some
18 tensorflow#27602, #25448: magics of notebooks are syntax errors
19 nbQA-dev/nbQA#495: cells are joined with a comment that a cell may hold
20 nbQA#265, #305: a semicolon at the end of a cell
21 nbQA#97: a line magic hides the whole notebook
22 astral-sh/ruff#26100: a fix breaks the cells together
23 jupyter/nbformat#228: the JSON is laid out anew
24 Instagram/LibCST#343: the import goes above the docstring or `__future__`
25 Instagram/LibCST#1023: the import goes below its use
26 pixee/codemodder-python#517: a second import beside one that is there
27 browniebroke/django-codemod#302: an empty file gets imports of another one
28 astral-sh/ruff#19498, #19310: output that does not parse
29 Instagram/LibCST#258: imports in `try` and `if` are removed
30 LibCST#353, hakancelikdev/unimport#100: removing an import takes comments along
31 pyupgrade#539, #970: comments are lost
32 ruff#19745, #18387: a safe fix deletes a comment
33 ruff#26287: `# noqa` loses its reason
34 ruff#3284: a name that means something else is rewritten
35 pyupgrade#449, #144: an unexpected number of arguments
36 pyupgrade#469: the next line is swallowed
37 django-upgrade#528: arguments of an unexpected form
38 django-upgrade#250: text is rewritten to the same text
39 django-upgrade 1.32: commas and parentheses of calls over several lines
40 bump-pydantic#138: what is there is added again
41 bump-pydantic#134: a form that is not supported is passed over
42 bump-pydantic#116: TODO comments are written again by each run
43 bump-pydantic#57, #146, #167: virtual environments and `.git` are rewritten
44 bump-pydantic: absolute paths fail
45 bump-pydantic#167: classes over three modules are not followed
46 Instagram/LibCST#824, #487: new syntax does not parse
47 Instagram/LibCST#679: the space behind `/` is lost
48 patternfly/pf-codemods#82: a second run corrupts
49 PyCQA/modernize#165: a second run is needed
50 facebook/jscodeshift#115: "61720 skipped", and no reasons
51 codemod/codemod#1618: uncommitted work is overwritten
52 LibCST#309, #1319: the formatter's errors go into the file
53 disnake#713: files without a site are parsed
54 pixee/codemodder-python#346: an unknown rule is ignored
55 numpy#26800: documents and rules differ
56 ruff#1087: counts that do not agree
57 mittwald/flow#3239: an empty file fails the run
58 psf/black#50: success exits with 1
"""


def test_every_bug_has_a_test() -> None:
    listed = {int(line.split()[0]) for line in BUGS.strip().splitlines()}
    assert listed == set(range(1, 59))
    names = [
        name
        for file in TESTS.rglob("test_*.py")
        for name in re.findall(r"def (test_bug_\w+)\(", file.read_text())
    ]
    named = {int(number) for name in names for number in re.findall(r"(?<=_)\d\d(?=_)", name)}
    assert listed - named == set()
