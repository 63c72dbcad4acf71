#!/usr/bin/env python3
"""apply.py TREE TOY... - does to a copy of the source tree what the recipes say, for the toys of these names.

A toy (validate/recipes/NAME/toy) begins with the recipe that it follows, the name of the thing it adds, and steps that it
leaves out, with the reason:

    recipe arch/README.md: A cache policy
    name fifo
    left validate/tests/unit/t_x.c: why

Then come its steps. The lines below each are what it puts there:

    --- new FILE              a file of its own
    --- after FILE: TEXT      behind the one line of FILE that has TEXT
    --- before FILE: TEXT     in front of it

A file that the recipe does not name fails, for then the recipe does not suffice; NAME in the recipe is the toy's name. So does a
file that a numbered step of the recipe begins with and the toy neither touches nor leaves out, for then nothing tries it."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
FILE = re.compile(r"`([\w/.-]*\w\.(?:c|h|yaml|sh|py))`")


def fail(toy, text):
    sys.exit(f"{toy}: {text}")


def section(toy, where):
    """The text under one heading of a README, and the files that its numbered steps begin with."""
    readme, _, heading = where.partition(": ")
    text = (HERE.parent.parent / readme).read_text()
    found = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##+ |\Z)", text, re.M | re.S)
    if not found:
        fail(toy, f"{readme} has no heading '{heading}'")
    steps = re.findall(r"^\d+\. ([^:]*):", found[1], re.M)
    return found[1], {f for step in steps for f in FILE.findall(step)}


def read(toy):
    """What a toy says: its recipe, its name, what it leaves out, and its steps (how, file, text, lines)."""
    head = {"left": []}
    steps = []
    for line in (HERE / toy / "toy").read_text().splitlines(keepends=True):
        if line.startswith("--- "):
            how, _, rest = line[4:].strip("\n").partition(" ")
            file, _, text = rest.partition(": ")
            steps.append((how, file, text, []))
        elif steps:
            steps[-1][3].append(line)
        elif line.strip():
            key, _, value = line.strip().partition(" ")
            head["left"].append(value.partition(":")[0]) if key == "left" else head.update({key: value})
    return head, steps


def put(toy, tree, how, file, text, lines):
    path = tree / file
    if how == "new":
        if path.exists():
            fail(toy, f"{file} is there already")
        path.write_text("".join(lines))
        return
    if how not in ("after", "before"):
        fail(toy, f"no such step: {how}")
    old = path.read_text().splitlines(keepends=True)
    at = [i for i, line in enumerate(old) if text in line]
    if len(at) != 1:
        fail(toy, f"{file} has {len(at)} lines with '{text}' and should have one")
    old[at[0] + (how == "after"):at[0] + (how == "after")] = lines
    path.write_text("".join(old))


def check(toy, head, steps):
    """The toy does what its recipe says: no more, and no less."""
    text, wanted = section(toy, head["recipe"])
    files = {file.replace(head["name"], "NAME") if how == "new" else file for how, file, _, _ in steps}
    for file in sorted(files):
        if f"`{file}`" not in text:
            fail(toy, f"{head['recipe']} does not name {file}")
    for file in sorted(wanted - files - {f.replace(head["name"], "NAME") for f in head["left"]}):
        fail(toy, f"{head['recipe']} names {file}, and the toy does nothing there")


def main():
    tree = pathlib.Path(sys.argv[1])
    for toy in sys.argv[2:]:
        head, steps = read(toy)
        check(toy, head, steps)
        for how, file, text, lines in steps:
            put(toy, tree, how, file, text, lines)


main()
