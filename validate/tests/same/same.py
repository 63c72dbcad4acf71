"""same.py N LIBRARY_PROGRAM [PAGE] - N random machines asked of the command line, the library (library.c), Python and, with PAGE, the
WebAssembly of a page (page.js): every document the same to the byte, every refusal in the same words.

A machine is a shipped NPU with up to three changes, each to what `npusim limits` would try: amounts twofold and half, choices, parts left
away. One layer of a small model, at a random batch, in closed form (all that a page has). NPUSIM: the program.
"""

import os
import random
import subprocess
import sys
from pathlib import Path

import npusim

SMALL = {"model": "qwen3-0.6b", "layers": 1, "context": 64}


class Other:
    """A program that answers questions as library.c does."""

    def __init__(self, *words):
        self.of = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, question):
        self.of.stdin.write(("\n".join(question) + "\n\n").encode())
        self.of.stdin.flush()
        refused, n = self.of.stdout.readline().split()
        return refused == b"1", self.of.stdout.read(int(n))


def by_python(machine, changes, batch):
    try:
        return False, machine.with_(changes).run(**SMALL, batch=batch, fidelity="analytic").json()
    except npusim.Error as e:
        return True, str(e).encode()


def by_command(name, changes, batch):
    words = [os.environ["NPUSIM"], "run", "-c", name, "--fidelity", "analytic", "--batch", str(batch), "--format", "json"]
    for key, value in SMALL.items():
        words += [f"--{key}", str(value)]
    for key, value in changes.items():
        words += ["--set", f"{key}={value}"]
    done = subprocess.run(words, capture_output=True, check=False)
    return done.returncode != 0, done.stdout if done.returncode == 0 else done.stderr


def main(n, program, page=None):
    draw = random.Random(1000)
    names = sorted(p.stem for p in Path("configs/npu").glob("*.yaml"))
    others = {"the library": Other(program)}
    if page:
        others["WebAssembly"] = Other("node", "validate/tests/same/page.js", page)
    known = {}
    same = refused = failed = 0
    while same + failed < n:
        name = draw.choice(names)
        if name not in known:
            machine = npusim.machine(name)
            known[name] = (machine, [(x.key, x.then) for x in machine.limits(**SMALL)] + [("dram.channels", "0")])
        machine, steps = known[name]
        changes, batch = dict(draw.sample(steps, draw.randint(0, 3))), draw.choice([1, 1, 3, 16])
        question = [f"@{name}", *(f"={k}={v}" for k, v in changes.items()), *(f"+{k}={v}" for k, v in SMALL.items()),
                    f"+batch={batch}", "-fidelity=analytic"]
        want, said = by_command(name, changes, batch)
        answers = {"Python": by_python(machine, changes, batch), **{k: x.ask(question) for k, x in others.items()}}
        wrong = [k for k, (no, text) in answers.items() if no != want or (text not in said if no else text != said)]
        if wrong:
            failed += 1
            print(f"FAILED {name} {changes} batch {batch}: {', '.join(wrong)} not as the command line")
        elif want:
            refused += 1
        else:
            same += 1
    print(f"{same} random machines of {len(known)} shipped ones: command line, {', '.join(answers)} the same to the byte, "
          f"{refused} more refused in the same words")
    print(f"{same} passed, {failed} failed")
    return failed > 0


sys.exit(main(int(sys.argv[1]), *sys.argv[2:]))
