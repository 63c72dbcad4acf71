#!/usr/bin/env python3
"""figures.py - the figures that matter, held against validate/figures.csv.

    figures.py check [TEXT...]     compare; exit 1 where a figure is off or cannot be found
    figures.py --update [TEXT...]  write this build's values into the table; names, order, tolerance and reasons stay
    figures.py --list              the distinct commands, one a line

TEXT: only figures of this command, or else those whose name or command has the text in it. The program is $NPUSIM, else
build/release/npusim.

Columns of the table: name; command (arguments of npusim, as typed in a shell; several with ';' between them run one after
another, and the last one's figures count; {tmp} is an empty folder of their own); figure (path in its JSON: a.b, a[0],
a[-1], a[key=value] for the first object of a list that has it, a[#] for how many); value; tolerance in percent (empty: the
text must be the same); why (what the figure guards).
"""
import concurrent.futures
import csv
import io
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "validate", "figures.csv")
COLUMNS = ["name", "command", "figure", "value", "tolerance", "why"]
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "NO_COLOR": "1", "TERM": "dumb"}
STEP = re.compile(r"\.?([A-Za-z_0-9]+)|\[([^\]]*)\]")


WORD = re.compile(r"(?![0-9a-f]{16}$)[A-Za-z_][\w.+-]*")


PAGE_DATA = re.compile(r'<script type="?application/json"? id="?data"?>(.*?)</script>', re.S)
IN_TEXT = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")


class Number(str):
    """As the program printed it."""


class Missing(Exception):
    """A path that leads to nothing."""


def step(value, key, index):
    """One step down a document."""
    if key is not None:
        if not isinstance(value, dict) or key not in value:
            raise Missing("there is no '%s'" % key)
        return value[key]
    if "=" in index:
        name, wanted = index.split("=", 1)
        for item in value if isinstance(value, list) else []:
            if isinstance(item, dict) and item.get(name) == wanted:
                return item
        raise Missing("no object has [%s]" % index)
    if not isinstance(value, list):
        raise Missing("'[%s]' is of no list" % index)
    if index == "#":
        return str(len(value))
    try:
        return value[int(index)]
    except (ValueError, IndexError):
        raise Missing("there is no [%s]" % index)


def column(value, path):
    """What comes of a path for each object of a list that has it: a sum, or words."""
    found = []
    for item in value if isinstance(value, list) else []:
        try:
            found.append(figure_at(item, path))
        except Missing:
            pass
    if not found:
        raise Missing("no list, or no object of it has '%s'" % path)
    numbers = [number(text) for text in found if text != "null"]
    return "%.9g" % math.fsum(numbers) if numbers and None not in numbers else " ".join(found)


def keys(value):
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        raise Missing("'[?]' is of no object")
    return " ".join(value)


def leaves(value):
    """Every key and value of a document, in its order."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(key, str):
            yield key, None
        if isinstance(item, (dict, list)):
            yield from leaves(item)
        else:
            yield None, item


def checksum(numbers):
    """Changes by about x where one number changes by a share x of itself, and where two change places."""
    return "%.6f" % math.fsum((1 + i % 13 / 13) * math.asinh(1e6 * x) for i, x in enumerate(numbers))


def all_numbers(document):
    return checksum(number(item) for _, item in leaves(document) if isinstance(item, Number))


def text_numbers(text):
    """None of a build's name, which may be all digits."""
    text = re.sub(r"\bbuild\s+[0-9a-f]+\b", "", text)
    return checksum(float(word.replace(",", "")) for word in IN_TEXT.findall(text))


def all_words(document):
    """Of keys, of truths, and of texts that are one word: sentences have figures in them, and hashes change with any key."""
    words = [key or str(item) for key, item in leaves(document)
             if key or item is None or isinstance(item, bool) or isinstance(item, str) and WORD.fullmatch(item)]
    return "%08x" % zlib.crc32(" ".join(words).encode())


def figure_at(value, path):
    """The text of a figure as the program printed it."""
    at = 0
    while at < len(path):
        match = STEP.match(path, at)
        if not match:
            raise Missing("'%s' is no path" % path)
        at = match.end()
        if match.group(2) == "*":
            return column(value, path[at:])
        if match.group(2) in WHOLE:
            return WHOLE[match.group(2)](value)
        value = step(value, match.group(1), match.group(2))
    if isinstance(value, (dict, list)):
        raise Missing("is no figure but a list or an object")
    return {True: "true", False: "false", None: "null"}.get(value, value) if not isinstance(value, str) else value


WHOLE = {"?": keys, "all": all_numbers, "words": all_words}


def split(command):
    """The words of each command of a row."""
    parts = [[]]
    for word in shlex.split(command):
        if word.endswith(";") and word != ";":
            parts[-1].append(word[:-1])
        if not word.endswith(";"):
            parts[-1].append(word)
        else:
            parts.append([])
    return parts


def run(command, as_text=False):
    """What a command printed: its JSON, the rows of its CSV, or text. And what went wrong."""
    program = os.path.abspath(os.environ.get("NPUSIM") or os.path.join(ROOT, "build", "release", "npusim"))
    environment = {k: v for k, v in os.environ.items() if k not in ("NPUSIM_DATA", "LANG")}
    environment.update(ENVIRONMENT)
    with tempfile.TemporaryDirectory() as tmp:
        parts = split(command)
        form = parts[-1][0] if parts[-1][0] in ("export", "plot", "report") else "json"
        json_of = ["--format", "json"] if form == "json" and not as_text else []
        for i, words in enumerate(parts):
            words = [word.replace("{tmp}", tmp) for word in words]
            kept = words[-1] if words[-2:-1] == [">"] else None
            words = words[:-2] if kept else words + (json_of if i == len(parts) - 1 else [])
            done = subprocess.run([program] + words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if done.returncode != 0:
                said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
                if "is not in this build" in said:
                    return None, "not run: this build has no page"
                return None, "exit %d: %s" % (done.returncode, said)
            if kept:
                with open(kept, "wb") as file:
                    file.write(done.stdout)
        page = open(words[words.index("-o") + 1], "rb").read() if form == "report" else b""
        text = (page or done.stdout).decode().replace(tmp, "TMP")
    if as_text:
        return text, None
    if form in ("plot", "report"):
        text = (PAGE_DATA.findall(text) or [text])[0]
    if form == "export":
        return [{k: v if number(v) is None else Number(v) for k, v in row.items()}
                for row in csv.DictReader(io.StringIO(text))], None
    try:
        return json.loads(text, parse_float=Number, parse_int=Number), None
    except ValueError as error:
        return None, "its output is no JSON: %s" % error


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def off(row, new):
    """None where a new value is within tolerance, else how far off it is, in words."""
    if row["tolerance"] == "":
        return None if row["value"] == new else "another text"
    old, now = number(row["value"]), number(new)
    if old is None or now is None:
        return None if row["value"] == new else "no number to compare"
    if abs(now - old) <= abs(old) * float(row["tolerance"]) / 100:
        return None
    return "%+.3g %%" % (100 * (now - old) / abs(old)) if old else "was 0"


def read_table():
    with open(TABLE, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    seen = set()
    for row in rows:
        if list(row) != COLUMNS or None in row.values():
            sys.exit("figures.py: a row of %s has not the columns %s: %s" % (TABLE, ",".join(COLUMNS), row))
        if row["name"] in seen:
            sys.exit("figures.py: two rows are named '%s'" % row["name"])
        seen.add(row["name"])
    return rows


def write_table(rows):
    with open(TABLE, "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def compare(rows, chosen, update):
    """Runs what is needed, says what is off. How many passed, how many did not."""
    asked = list(dict.fromkeys((row["command"], row["figure"] == "[text]") for row in chosen))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = dict(zip(asked, pool.map(lambda one: run(*one), asked)))
    for (command, _), (_, wrong) in answers.items():
        if wrong:
            print("npusim %s: %s" % (command, wrong))
    failed = left_out = 0
    for row in chosen:
        document, wrong = answers[row["command"], row["figure"] == "[text]"]
        if not wrong:
            try:
                new = text_numbers(document) if row["figure"] == "[text]" else figure_at(document, row["figure"])
            except Missing as error:
                wrong = "%s: %s" % (row["figure"], error)
                print("%s: %s" % (row["name"], wrong))
        if wrong:
            failed += not wrong.startswith("not run")
            left_out += wrong.startswith("not run")
            continue
        how = off(row, new)
        if how:
            print("%s: %s, now %s (%s): %s" % (row["name"], row["value"] or "nothing", new, how, row["why"]))
            failed += not update
            row["value"] = new if update else row["value"]
    if update:
        write_table(rows)
    return len(chosen) - failed - left_out, failed


def main(words):
    rows = read_table()
    if words[:1] == ["--list"]:
        print("\n".join(dict.fromkeys(row["command"] for row in rows)))
        return 0
    if words[:1] not in (["check"], ["--update"]):
        print(__doc__, file=sys.stderr)
        return 2
    exact = {row["command"] for row in rows} & set(words[1:])
    chosen = [row for row in rows if row["command"] in exact] or \
        [row for row in rows if not words[1:] or any(w in row["name"] or w in row["command"] for w in words[1:])]
    if not chosen:
        print("figures.py: no figure has that name or command", file=sys.stderr)
        return 2
    passed, failed = compare(rows, chosen, words[0] == "--update")
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
