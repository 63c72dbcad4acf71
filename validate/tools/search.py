#!/usr/bin/env python3
"""search.py - how much of a sweep's true front a search finds: guided, random, and NSGA-II of a library (DEAP).

    python3 validate/tools/search.py configs/studies/balance.yaml -o /tmp/balance.db [--front]

Runs the whole grid of STUDY.yaml into R.db (nothing, where it is there already), and from then on looks points up. The
objectives, and which points meet the constraints, are what 'npusim sweep' says; the front must be that of 'npusim pareto'.
Found is the hypervolume of the points that a search evaluated, of that of the whole grid; both as far as the worst value
of each objective. No search pays for a point twice. A point that failed or misses a constraint costs and brings nothing.

NSGA-II runs with each of some populations and two codings of an axis; the best of them in the mean is shown, chosen after
the fact. --front prints the front instead.

    python3 validate/tools/search.py WIDE.yaml --known results/studies/search-front.csv [--front]

A space too large to store: its front and the worst of each objective are in the file, found by sweeps of its parts
elsewhere, and a point is run by results/python when a search asks for it. The workload is a model. First every point of
the file is run here and must be what the file says. --front prints the file's best in each objective.
"""
import argparse
import csv
import importlib.util
import itertools
import math
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

POPULATIONS = (8, 12, 20, 40, 100)  # those of two generations at least; DEAP's tournament wants multiples of 4
IDLE = 200  # generations without a new point: NSGA-II has stopped


def front(goals):
    """Rows that no other is as good as in every goal and better in one; smaller is better."""
    import numpy as np
    return [i for i, g in enumerate(goals) if not ((goals <= g).all(1) & (goals < g).any(1)).any()]


def hypervolume(goals, worst):
    """What lies between the rows of `goals` and the point `worst`: of more than two, by slices along the last."""
    import numpy as np
    goals, worst = np.asarray(goals, float), np.asarray(worst, float)
    goals = goals[(goals < worst).all(1)]
    if len(goals) == 0:
        return 0.0
    if len(worst) == 1:
        return float(worst[0] - goals.min())
    if len(worst) == 2:
        goals = goals[goals[:, 0].argsort()]
        lowest = np.minimum.accumulate(goals[:, 1])
        return float((np.diff(goals[:, 0], append=worst[0]) * (worst[1] - lowest)).sum())
    goals = goals[front(goals)]
    goals = goals[goals[:, -1].argsort()]
    ends = [*goals[1:, -1], worst[-1]]
    return sum(hypervolume(goals[:i + 1, :-1], worst[:-1]) * (end - goals[i, -1])
               for i, end in enumerate(ends) if end > goals[i, -1])


class Space:
    """A grid all of whose points are known: places are tuples of numbers of values, one an axis."""

    def __init__(self, sizes, goals, counts=None):
        import numpy as np
        self.sizes, self.goals = sizes, np.array(goals, float)
        if counts is not None:
            self.goals[~np.asarray(counts)] = self.goals[np.asarray(counts)].max(0)
        self.worst = self.goals.max(0)
        self.front = set(front(self.goals))
        if counts is not None:
            self.front -= {i for i, c in enumerate(counts) if not c}
        self.whole = hypervolume(self.goals, self.worst)

    def __len__(self):
        return math.prod(self.sizes)

    def number(self, place):
        i = 0
        for at, size in zip(place, self.sizes):
            i = i * size + at
        return i

    def found(self, points):
        return hypervolume([self.goals[i] for i in sorted(points)], self.worst) / self.whole


class Asked(Space):
    """A space whose front is known, and whose points are run when they are asked for."""

    def __init__(self, values, goals, machine, asked, known, worst):
        self.values, self.names, self.machine, self.asked = list(values.values()), list(values), machine, asked
        self.sizes, self.objectives = [len(v) for v in self.values], goals
        self.worst, self.goals = worst, self
        self.ran = {}
        self.front = {self.number([v.index(r[a]) for a, v in values.items()]) for r in known}
        self.whole = hypervolume([[sign * float(r[name]) for name, sign in goals] for r in known], worst)

    def __getitem__(self, i):
        if i not in self.ran:
            place, left = {}, i
            for name, v in zip(reversed(self.names), reversed(self.values)):
                left, at = divmod(left, len(v))
                place[name] = v[at]
            try:
                run = self.machine(place).run(fidelity="analytic", **self.asked)
                self.ran[i] = [sign * run.get("total_us" if name == "latency_us" else name) for name, sign in self.objectives]
            except RuntimeError:  # costs, and brings nothing
                self.ran[i] = list(self.worst)
        return self.ran[i]


def drawn(space, n, seed):
    return set(random.Random(seed).sample(range(len(space)), min(n, len(space))))


def nsga2(space, n, seed, population, places):
    """Deb et al. 2002 as DEAP has it. An axis is a number of a value, exchanged whole and drawn anew; or `places`: a
    real number from 0 to 1, with simulated binary crossover and polynomial mutation."""
    from deap import base, creator, tools
    design = f"Design{len(space.worst)}"
    if not hasattr(creator, design):
        creator.create(f"Less{len(space.worst)}", base.Fitness, weights=(-1.0,) * len(space.worst))
        creator.create(design, list, fitness=getattr(creator, f"Less{len(space.worst)}"))
    design = getattr(creator, design)
    random.seed(seed)
    axes, seen = len(space.sizes), set()

    def worth(each):
        for one in each:
            i = space.number([min(int(v * s), s - 1) if places else v for v, s in zip(one, space.sizes)])
            if i not in seen and len(seen) == n:
                return False
            seen.add(i)
            one.fitness.values = tuple(space.goals[i])
        return True

    def mate(a, b):
        if places:
            tools.cxSimulatedBinaryBounded(a, b, eta=15, low=0.0, up=1.0)
        else:
            tools.cxUniform(a, b, indpb=0.5)

    def mutate(one):
        if places:
            tools.mutPolynomialBounded(one, eta=20, low=0.0, up=1.0, indpb=1 / axes)
        else:
            tools.mutUniformInt(one, low=0, up=[s - 1 for s in space.sizes], indpb=1 / axes)

    parents = [design(random.random() if places else random.randrange(s) for s in space.sizes) for _ in range(population)]
    going, idle = worth(parents), 0
    if going:
        parents = tools.selNSGA2(parents, population)  # the tournament needs the crowding that it computes
    while going and idle < IDLE:
        had = len(seen)
        children = [design(p) for p in tools.selTournamentDCD(parents, population)]
        for a, b in zip(children[::2], children[1::2]):
            if random.random() < 0.9:
                mate(a, b)
            mutate(a)
            mutate(b)
        going = worth(children)
        idle = 0 if len(seen) > had else idle + 1
        if going:
            parents = tools.selNSGA2(parents + children, population)
    return seen


def said(*words):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
    if done.returncode:
        sys.exit(f"search.py: {' '.join(str(w) for w in words)}: {done.stderr.strip()}")
    return list(csv.DictReader(done.stdout.splitlines()))


def read_study(path):
    """The sweep's objectives as its file has them: names, and -1 where more is better."""
    import yaml
    study = yaml.safe_load(path.read_text())
    if study.get("sample", "grid") not in ("grid", {"kind": "grid"}):
        sys.exit(f"search.py: {path}: has a 'sample': its whole grid is what searches are held against")
    goals = []
    for o in study.get("objectives", ["latency_us"]):
        o = o if isinstance(o, dict) else {"minimize": o}
        text = o.get("minimize", o.get("maximize"))
        goals.append((o.get("name", text), 1 if "minimize" in o else -1))
    return goals


def read_grid(rows, goals, path):
    keys = list(rows[0])
    axes = keys[keys.index("point") + 1:keys.index("status")]
    values = {a: list(dict.fromkeys(r[a] for r in rows)) for a in axes}
    if len(rows) != math.prod(map(len, values.values())):
        sys.exit(f"search.py: {path}: {len(rows)} points are not every combination of the axes")
    for name, _ in goals:
        if name not in keys:
            sys.exit(f"search.py: {path}: no column '{name}': give that objective a name")
    places = [tuple(v.index(r[a]) for a, v in values.items()) for r in rows]
    if places != list(itertools.product(*(range(len(v)) for v in values.values()))):
        sys.exit(f"search.py: {path}: points are not in the grid's order")
    counts = [r["status"] == "done" and r["feasible"] == "yes" for r in rows]
    return values, Space([len(v) for v in values.values()],
                         [[sign * float(r[name]) if c else math.nan for name, sign in goals] for r, c in zip(rows, counts)], counts)


def read_known(a, goals):
    """The space of --known. What an axis' values are called is asked of npusim, an axis at a time."""
    import yaml
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "results" / "python"))
    import npusim
    study, values = yaml.safe_load(a.study.read_text()), {}
    for axis, of in study["axes"].items():
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as one:
            yaml.safe_dump({**study, "axes": {axis: of}}, one)
            one.flush()
            values[axis] = [r[axis] for r in said(a.npusim, "sweep", one.name, "--dry-run", "--format", "csv")]
    head, *lines = a.known.read_text().splitlines()
    worst = {name: float(worst) for name, worst in (each.split() for each in head.removeprefix("# worst: ").split(", "))}
    known = list(csv.DictReader(lines))
    asked = {"model" if k == "name" else k: v for k, v in study["workload"].items()}
    space = Asked(values, goals, lambda changes: npusim.machine(study["base"], changes), asked, known,
                  [sign * worst[name] for name, sign in goals])
    for r in known:
        here = space[space.number([v.index(r[axis]) for axis, v in values.items()])]
        if any(abs(sign * float(r[name]) - x) > 1e-8 * abs(x) for x, (name, sign) in zip(here, goals)):
            sys.exit(f"search.py: {a.known}: {r} is {here} here")
    return values, space, known


def guided(a, space, values, folder, n, seed):
    """The points of npusim's own search. Where the grid is stored it takes them from there and runs none."""
    file = folder / "guided.yaml"
    file.write_text(f"{a.study.read_text()}\nsample: {{kind: guided, n: {n}, seed: {seed}}}\n")
    rows = said(a.npusim, "sweep", file, *(["--max", len(space)] if a.known else ["-o", folder / "r.db"]), "--format", "csv")
    return {space.number([v.index(r[key]) for key, v in values.items()]) for r in rows}


def show(n, name, space, sets):
    found = [space.found(s) for s in sets]
    hit = [len(space.front & s) for s in sets]
    print(f"| {n} | {name} | {100 * sum(found) / len(found):.2f} | {100 * min(found):.2f} | {sum(hit) / len(hit):.1f} |", flush=True)


def main():
    missing = [m for m in ("numpy", "yaml", "deap") if not importlib.util.find_spec(m)]
    if missing:
        print(f"not run: there is no Python package {' '.join(missing)} (Debian: python3-numpy python3-yaml python3-deap)")
        return
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("study", type=Path, metavar="STUDY.yaml")
    p.add_argument("-o", "--output", type=Path, metavar="R.db", help="the whole grid; made where it is not there")
    p.add_argument("--known", type=Path, metavar="FRONT.csv", help="instead: the front of a space that is too large for that")
    p.add_argument("-n", default="20,100,300", help="evaluations; %(default)s")
    p.add_argument("--seeds", type=int, default=20, help="runs of each search; %(default)s")
    p.add_argument("--npusim", default="build/release/npusim", help="%(default)s")
    p.add_argument("--front", action="store_true", help="print the true front instead")
    a = p.parse_args()
    if not a.output and not a.known:
        p.error("-o R.db or --known FRONT.csv is missing")
    goals = read_study(a.study)
    if a.known:
        values, space, rows = read_known(a, goals)
        best = [min(rows, key=lambda r: sign * float(r[name])) for name, sign in goals] if a.front else rows
    else:
        said(a.npusim, "sweep", a.study, "--dry-run", "--format", "csv")  # says what is wrong with the file
        rows = said(a.npusim, "sweep", a.study, "-o", a.output, "--format", "csv")
        values, space = read_grid(rows, goals, a.study)
        best = said(a.npusim, "pareto", a.output, "--format", "csv")
        if {int(r["point"]) for r in best} != {int(rows[i]["point"]) for i in space.front}:
            sys.exit(f"search.py: the front of {a.output} is not that of npusim pareto: is its last sweep this one?")
    if a.front:
        keys = [*(["point"] if a.output else []), *(name for name, _ in goals), *values]
        print(f"| {' | '.join(keys)} |\n|{'---|' * len(keys)}")
        for r in best:
            print(f"| {' | '.join(r[k] for k in keys)} |")
        return
    print(f"{len(space)} points, {len(best)} of them the front; worst "
          f"{', '.join(f'{name} {sign * w:.6g}' for (name, sign), w in zip(goals, space.worst))}; {a.seeds} seeds\n")
    print("| evaluations | search | found %, mean | found %, worst | front's points, mean |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        if a.output:
            shutil.copy(a.output, Path(folder) / "r.db")
        for n in map(int, a.n.split(",")):
            seeds = range(1, a.seeds + 1)
            show(n, "guided", space, [guided(a, space, values, Path(folder), n, s) for s in seeds])
            for places in (False, True):
                runs = {k: [nsga2(space, n, s, k, places) for s in seeds] for k in POPULATIONS if 2 * k <= n}
                if not runs:
                    continue
                k = max(runs, key=lambda k: sum(map(space.found, runs[k])))
                show(n, f"NSGA-II, {'real' if places else 'whole'} numbers, population {k}", space, runs[k])
            show(n, "random", space, [drawn(space, n, s) for s in seeds])
            ten = min(10 * n, len(space))
            show(ten, "random, ten times as many" if ten == 10 * n else "every point", space, [drawn(space, ten, s) for s in seeds])


if __name__ == "__main__":
    main()
