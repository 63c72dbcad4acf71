#!/usr/bin/env python3
"""search.py - how much of a sweep's true front a search finds: guided, random, and NSGA-II of a library (DEAP).

    python3 validate/tools/search.py configs/studies/balance.yaml -o /tmp/balance.db [--front]

Runs the whole grid of STUDY.yaml into R.db (nothing, where it is there already), and from then on looks points up. The
objectives, and which points meet the constraints, are what 'npusim sweep' says; the front must be that of 'npusim pareto'.
Found is the hypervolume of the points that a search evaluated, of that of the whole grid; both as far as the worst value
of each objective. No search pays for a point twice. A point that failed or misses a constraint costs and brings nothing.

NSGA-II runs with each of some populations and two codings of an axis; the best of them in the mean is shown, chosen after
the fact. --front prints the front instead.
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
        self.number = {place: i for i, place in enumerate(itertools.product(*map(range, sizes)))}

    def found(self, points):
        return hypervolume(self.goals[sorted(points)], self.worst) / self.whole


def drawn(space, n, seed):
    return set(random.Random(seed).sample(range(len(space.goals)), min(n, len(space.goals))))


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
            i = space.number[tuple(min(int(v * s), s - 1) if places else v for v, s in zip(one, space.sizes))]
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


def guided(a, space, values, folder, n, seed):
    """The points of npusim's own search. It takes them from the grid's file and runs none."""
    file = folder / "guided.yaml"
    file.write_text(f"{a.study.read_text()}\nsample: {{kind: guided, n: {n}, seed: {seed}}}\n")
    rows = said(a.npusim, "sweep", file, "-o", folder / "r.db", "--format", "csv")
    return {space.number[tuple(v.index(r[key]) for key, v in values.items())] for r in rows}


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
    p.add_argument("-o", "--output", type=Path, metavar="R.db", required=True, help="the whole grid; made where it is not there")
    p.add_argument("-n", default="20,100,300", help="evaluations; %(default)s")
    p.add_argument("--seeds", type=int, default=20, help="runs of each search; %(default)s")
    p.add_argument("--npusim", default="build/release/npusim", help="%(default)s")
    p.add_argument("--front", action="store_true", help="print the true front instead")
    a = p.parse_args()
    said(a.npusim, "sweep", a.study, "--dry-run", "--format", "csv")  # says what is wrong with the file
    goals = read_study(a.study)
    rows = said(a.npusim, "sweep", a.study, "-o", a.output, "--format", "csv")
    values, space = read_grid(rows, goals, a.study)
    best = said(a.npusim, "pareto", a.output, "--format", "csv")
    if {int(r["point"]) for r in best} != {int(rows[i]["point"]) for i in space.front}:
        sys.exit(f"search.py: the front of {a.output} is not that of npusim pareto: is its last sweep this one?")
    if a.front:
        keys = ["point", *(name for name, _ in goals), *values]
        print(f"| {' | '.join(keys)} |\n|{'---|' * len(keys)}")
        for r in best:
            print(f"| {' | '.join(r[k] for k in keys)} |")
        return
    print(f"{len(rows)} points, {len(best)} of them the front; worst "
          f"{', '.join(f'{name} {sign * w:.6g}' for (name, sign), w in zip(goals, space.worst))}; {a.seeds} seeds\n")
    print("| evaluations | search | found %, mean | found %, worst | front's points, mean |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
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
            ten = min(10 * n, len(rows))
            show(ten, "random, ten times as many" if ten == 10 * n else "every point", space, [drawn(space, ten, s) for s in seeds])


if __name__ == "__main__":
    main()
