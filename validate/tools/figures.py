#!/usr/bin/env python3
"""figures.py - the figures that matter, held against validate/figures.csv.

    figures.py check [TEXT...]     compare; exit 1 where a figure is off or cannot be found
    figures.py --update [TEXT...]  write this build's values into the table; names, order, tolerance and reasons stay
    figures.py --list              the distinct commands, one a line

TEXT: only figures whose name or command has one of these texts in it. The program is $NPUSIM, else build/release/npusim.

Columns of the table: name; command (arguments of npusim, as typed in a shell; several with ';' between them run one after
another, and the last one's figures count; {tmp} is an empty folder of their own); figure (path in its JSON: a.b, a[0],
a[-1], a[key=value] for the first object of a list that has it, a[#] for how many); value; tolerance in percent (empty: the
text must be the same); why (what the figure guards).
"""
import concurrent.futures
import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "validate", "figures.csv")
COLUMNS = ["name", "command", "figure", "value", "tolerance", "why"]
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "NO_COLOR": "1", "TERM": "dumb"}
STEP = re.compile(r"\.?([A-Za-z_0-9]+)|\[([^\]]*)\]")


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


def figure_at(document, path):
    """The text of a figure as the program printed it."""
    at = 0
    value = document
    while at < len(path):
        match = STEP.match(path, at)
        if not match:
            raise Missing("'%s' is no path" % path)
        value = step(value, match.group(1), match.group(2))
        at = match.end()
    if isinstance(value, (dict, list)):
        raise Missing("is no figure but a list or an object")
    return {True: "true", False: "false", None: "null"}.get(value, value) if not isinstance(value, str) else value


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


def run(command):
    """The JSON of a command, or what went wrong as text."""
    program = os.path.abspath(os.environ.get("NPUSIM") or os.path.join(ROOT, "build", "release", "npusim"))
    environment = {k: v for k, v in os.environ.items() if k not in ("NPUSIM_DATA", "LANG")}
    environment.update(ENVIRONMENT)
    with tempfile.TemporaryDirectory() as tmp:
        parts = split(command)
        for i, words in enumerate(parts):
            words = [word.replace("{tmp}", tmp) for word in words]
            last = i == len(parts) - 1
            done = subprocess.run([program] + words + (["--format", "json"] if last else []), cwd=ROOT, env=environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if done.returncode != 0:
                said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
                return None, "exit %d: %s" % (done.returncode, said)
    try:
        return json.loads(done.stdout.decode(), parse_float=str, parse_int=str), None
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
    commands = list(dict.fromkeys(row["command"] for row in chosen))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = dict(zip(commands, pool.map(run, commands)))
    for command, (_, wrong) in answers.items():
        if wrong:
            print("npusim %s: %s" % (command, wrong))
    failed = 0
    for row in chosen:
        document, wrong = answers[row["command"]]
        if not wrong:
            try:
                new = figure_at(document, row["figure"])
            except Missing as error:
                wrong = "%s: %s" % (row["figure"], error)
                print("%s: %s" % (row["name"], wrong))
        if wrong:
            failed += 1
            continue
        how = off(row, new)
        if how:
            print("%s: %s, now %s (%s): %s" % (row["name"], row["value"] or "nothing", new, how, row["why"]))
            failed += not update
            row["value"] = new if update else row["value"]
    if update:
        write_table(rows)
    return len(chosen) - failed, failed


def main(words):
    rows = read_table()
    if words[:1] == ["--list"]:
        print("\n".join(dict.fromkeys(row["command"] for row in rows)))
        return 0
    if words[:1] not in (["check"], ["--update"]):
        print(__doc__, file=sys.stderr)
        return 2
    chosen = [row for row in rows if not words[1:] or any(w in row["name"] or w in row["command"] for w in words[1:])]
    if not chosen:
        print("figures.py: no figure has that name or command", file=sys.stderr)
        return 2
    passed, failed = compare(rows, chosen, words[0] == "--update")
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
