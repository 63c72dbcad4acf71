#!/usr/bin/env python3
"""mutants.py - plants mechanical faults and reports which of them the checks catch.

Each fault changes one expression: `<` to `<=`, a + b to a, a constant by a tenth. All of them are compiled into one copy
of the tree, build/mutants/tree, and an environment variable switches one on. A first run without any records the time
of each check and which faults it reaches. A fault is then judged in two steps:

  effect   the commands of validate/tests/mutants/effects.txt and of validate/figures.csv are run. Where no output
           changes, the fault is "without effect" and does not count. Where a figure of the table is off, it has one.
  verdict  the checks that reach it are run, the most promising first, until one fails. Those of `make check` come
           before those that `make gate` adds. A fault that passes all is a survivor, also one that passes so many
           seconds of each as --most allows: the true number is lower then.

Everything is kept in build/mutants, so a run that was stopped goes on. mutants.csv there is the table.
"""
import argparse
import csv
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "validate/tests/mutants")
OUT = os.path.join(ROOT, "build/mutants")
TREE = os.path.join(OUT, "tree")
BIN = os.path.join(TREE, "build/release")
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import sites as planting  # noqa: E402

FOLDERS = ("arch", "sim", "workloads", "results")
LEFT_OUT = ("sim/live/", "sim/examples/", "results/examples/")
CARRIER = "sim/base/err.c"  # a file that every program links
FAST_S, SLOW_S = 0.5, 8  # of processor time, where a test or golden is not marked: fast, slow, and beyond: nightly
MEMORY_KB = 8 << 20
FILE_BLOCKS = 4 << 20


# --- processes ---------------------------------------------------------------------------------------------------

class Ran:
    def __init__(self, code, out, cpu):
        self.code, self.out, self.cpu = code, out, cpu


def environment(tmp, mutant=None, seen=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NPUSIM", "MAKE", "MFLAGS"))}
    env.update(LC_ALL="C", LANG="C", TZ="UTC", NO_COLOR="1", TERM="dumb", COLUMNS="100", TMPDIR=tmp, T=tmp,
               NPUSIM=os.path.join(BIN, "npusim"), PATH=BIN + ":" + os.environ["PATH"])
    if mutant is not None:
        env["NPUSIM_MUTANT"] = str(mutant)
    if seen:
        env["NPUSIM_MUTANT_SEEN"] = seen
    return env


def run(argv, limit, mutant=None, seen=None, large=False):
    """Runs in a process group of its own, in the copied tree, with an empty folder, which is $T.

    code None: it ran out of time. `large`: a test that maps more memory than a fault may take."""
    tmp = tempfile.mkdtemp(dir=os.path.join(OUT, "tmp"))
    os.chmod(tmp, 0o777)
    limits = "ulimit -t %d; ulimit -f %d; ulimit -c 0; " % (limit + 1, FILE_BLOCKS)
    limits += ("" if large else "ulimit -v %d; " % MEMORY_KB) + 'exec "$@"'
    with tempfile.TemporaryFile(dir=OUT) as out:
        p = subprocess.Popen(["sh", "-c", limits, "sh"] + argv, cwd=TREE, env=environment(tmp, mutant, seen), stdout=out,
                             stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        late = threading.Event()

        def stop():
            late.set()
            end_group(p.pid)

        timer = threading.Timer(6 * limit + 30, stop)
        timer.start()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        timer.cancel()
        end_group(p.pid)
        out.seek(0)
        text = out.read(64 << 20).replace(tmp.encode(), b"TMP")
    shutil.rmtree(tmp, ignore_errors=True)
    cpu = usage.ru_utime + usage.ru_stime
    return Ran(None if late.is_set() or cpu > limit else p.returncode, text, cpu)


def end_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def in_parallel(pool, work, items):
    """Until one fails or the program is stopped: then what has not begun is left."""
    futures = [pool.submit(work, x) for x in items]
    try:
        for f in futures:
            f.result()
    finally:
        for f in futures:
            f.cancel()


class Progress:
    """A line on a terminal; elsewhere one every 20."""

    def __init__(self, what, total):
        self.what, self.total, self.n, self.start, self.lock = what, total, 0, time.monotonic(), threading.Lock()

    def step(self, note=""):
        with self.lock:
            self.n += 1
            left = (time.monotonic() - self.start) / self.n * (self.total - self.n)
            said = "%s %d of %d, %s left %s" % (self.what, self.n, self.total, minutes(left), note)
            if sys.stderr.isatty():
                sys.stderr.write("\r\033[K" + said + ("\n" if self.n == self.total else ""))
            elif self.n % 20 == 0 or self.n == self.total:
                sys.stderr.write(said + "\n")
            sys.stderr.flush()


def minutes(s):
    return "%d s" % s if s < 90 else "%.0f min" % (s / 60)


def load(name, otherwise):
    try:
        with open(os.path.join(OUT, name)) as f:
            return json.load(f)
    except (OSError, ValueError):
        return otherwise


def save(name, value):
    path = os.path.join(OUT, name)
    with open(path + ".new", "w") as f:
        json.dump(value, f)
    os.replace(path + ".new", path)


# --- what is planted ---------------------------------------------------------------------------------------------

def tracked():
    return subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).rstrip("\0").split("\0")


def read(path):
    with open(os.path.join(ROOT, path), "rb") as f:
        return f.read()


def digest_of(files):
    """Of all that a verdict depends on."""
    h = hashlib.sha1()
    for f in files:
        if not f.endswith((".md", "mutants.py", "mutants/effects.txt")) and os.path.isfile(os.path.join(ROOT, f)):
            h.update(f.encode() + b"\0" + read(f))
    return h.hexdigest()[:12]


def candidates(files, only):
    """All sites, by folder: the first two parts of the path."""
    found, lines = {}, {}
    for f in files:
        if not f.endswith(".c") or not f.startswith(FOLDERS) or f.startswith(LEFT_OUT):
            continue
        if only and not (f + "/").startswith(only.rstrip("/") + "/"):
            continue
        text = read(f).decode()
        folder = "/".join(f.split("/")[:2])
        lines[folder] = lines.get(folder, 0) + text.count("\n")
        found.setdefault(folder, []).extend(planting.File(f, text).sites)
    return found, lines


def shares(lines, n):
    """How many faults each folder gets: by its lines, by largest remainder."""
    total = sum(lines.values()) or 1
    exact = {f: n * v / total for f, v in lines.items()}
    got = {f: int(x) for f, x in exact.items()}
    for f in sorted(exact, key=lambda f: (got[f] - exact[f], f))[:n - sum(got.values())]:
        got[f] += 1
    return got


class Draw:
    """Sites in an order that the seed decides and that a change elsewhere in the code does not."""

    def __init__(self, found, lines, n, seed):
        self.rank = lambda s: hashlib.sha1(("%s|%s" % (seed, s.id)).encode()).hexdigest()
        self.heaps, self.wanted, self.taken = {}, [], {}
        for folder, sites in found.items():
            for kind in planting.KINDS:
                of = [s for s in sites if s.kind == kind and not self._plain(s)]
                self.heaps[folder, kind] = sorted(of, key=self.rank, reverse=True)
        kinds, turn = planting.KINDS, 0
        for folder, k in sorted(shares(lines, n).items()):
            for _ in range(k):
                self.wanted.append((folder, turn % len(kinds)))
                turn += 1

    def _plain(self, s):
        """Of the constants 0 and 1 there are so many that others would hardly be drawn."""
        return s.kind == "constant" and s.old in ("0", "1") and self.rank(s)[0] > "2"

    def take(self, folder, turn):
        """The next of this kind, or of the next kind that is left; none over another."""
        for k in range(len(planting.KINDS)):
            heap = self.heaps[folder, planting.KINDS[(turn + k) % len(planting.KINDS)]]
            while heap:
                s = heap.pop()
                pieces = [(s.at, s.end)] + [(a, b) for a, b, _ in s.uses]
                used = self.taken.setdefault(s.path, [])
                if all(b <= c or d <= a for a, b in pieces for c, d in used):
                    used.extend(pieces)
                    return s
        return None


def flags():
    """How the Makefile compiles a file of the library."""
    said = subprocess.run(["sh", "validate/tools/deps.sh", "cflags"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, CC=os.environ.get("CC", "cc")))
    return ["-I.", "-D_POSIX_C_SOURCE=200809L", "-std=c11", "-fPIC", "-w", '-DNPUSIM_ROOT=""', '-DNPUSIM_SHARE=""',
            '-DNPUSIM_LIB=""', '-DNPUSIM_COMMIT=""', '-DNPUSIM_PROFILE=""', '-DNPUSIM_GPU_MODEL=""', "-I" + HERE] + said.stdout.split()


def compiles(path, sites, cflags):
    """Not -w alone: a pointer made of a number is a warning only."""
    text = planting.planted(read(path).decode(), sites)
    p = subprocess.run(["cc", *cflags, "-iquote", os.path.dirname(path) or ".", "-x", "c", "-fsyntax-only",
                        "-Werror=int-conversion", "-Werror=incompatible-pointer-types", "-"], cwd=ROOT, input=text.encode(),
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return p.returncode == 0 and b"pointer/integer" not in p.stdout and b"pointer type mismatch" not in p.stdout


def good_of(path, sites, cflags):
    if compiles(path, sites, cflags):
        return sites
    return [s for s in sites if compiles(path, [s], cflags)]


def choose(draw, pool):
    """Draws until all of them compile."""
    cflags = [f for f in flags() if f != "-w"]
    chosen, open_ones, number = [], list(draw.wanted), 0
    while open_ones:
        drawn = []
        for folder, turn in open_ones:
            s = draw.take(folder, turn)
            if s:
                s.number, number = number, number + 1
                drawn.append((s, folder, turn))
        files = {}
        for s, _, _ in drawn:
            files.setdefault(s.path, []).append(s)
        good = set()
        for sites in pool.map(lambda p: good_of(p, files[p], cflags), sorted(files)):
            good.update(s.id for s in sites)
        chosen += [s for s, _, _ in drawn if s.id in good]
        open_ones = [(f, t) for s, f, t in drawn if s.id not in good]
    for k, s in enumerate(sorted(chosen, key=lambda s: (s.path, s.line, s.id))):
        s.number = k
    return sorted(chosen, key=lambda s: s.number)


# --- the copy ------------------------------------------------------------------------------------------------------

def copy_tree(files):
    """Times of files are kept, so that make compiles only what faults are planted in."""
    if not os.path.isdir(TREE):
        for part in ("release", "report"):
            if os.path.isdir(os.path.join(ROOT, "build", part)):
                os.makedirs(os.path.join(TREE, "build"), exist_ok=True)
                subprocess.check_call(["cp", "-Rp", os.path.join(ROOT, "build", part), os.path.join(TREE, "build", part)])
        warnings_pass()
    for f in files:
        a, b = os.path.join(ROOT, f), os.path.join(TREE, f)
        if not os.path.isfile(a):
            continue
        os.makedirs(os.path.dirname(b), exist_ok=True)
        if not os.path.exists(b) or read(f) != open(b, "rb").read():
            shutil.copy2(a, b, follow_symlinks=False)
    keep = {f for f in files if os.path.isfile(os.path.join(ROOT, f))} | {"mutant.h"}
    for folder, subs, names in os.walk(TREE):
        if folder == TREE:
            subs[:] = [s for s in subs if s != "build"]
        for n in names:
            path = os.path.join(folder, n)
            if os.path.relpath(path, TREE) not in keep:
                os.remove(path)


def warnings_pass():
    """A fault may cause a warning. Objects are the same without -Werror: the stamp says they were made so."""
    try:
        with open(os.path.join(BIN, ".flags")) as f:
            text = f.read().replace("-Werror", "")
    except OSError:
        return
    was = os.stat(os.path.join(BIN, ".flags"))
    write(os.path.join(BIN, ".flags"), text)
    os.utime(os.path.join(BIN, ".flags"), ns=(was.st_atime_ns, was.st_mtime_ns))


def write(path, text):
    try:
        with open(path) as f:
            if f.read() == text:
                return
    except OSError:
        pass
    with open(path, "w") as f:
        f.write(text)


def plant(chosen):
    files = {}
    for s in chosen:
        files.setdefault(s.path, []).append(s)
    files.setdefault(CARRIER, [])
    for path, sites in files.items():
        text = planting.planted(read(path).decode(), sites)
        if path == CARRIER:
            with open(os.path.join(HERE, "mutant.c")) as f:
                text += "\n#define MUTANT_COUNT %d\n%s" % (len(chosen) + 1, f.read())
        write(os.path.join(TREE, path), text)
    with open(os.path.join(HERE, "mutant.h")) as f:
        write(os.path.join(TREE, "mutant.h"), f.read())


def model_of_before():
    """The fingerprint of the GPU model is that of the text without faults, or every answer would mention another build."""
    said = subprocess.run(["make", "-s", "gpu-model"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    listed = [w for w in said.stdout.split("\n") if w and os.path.isfile(os.path.join(ROOT, w))]
    return ["GPU_MODEL=" + " ".join("../../../" + w for w in listed)] if listed else []


def build(jobs, cc):
    argv = ["make", "-j%d" % jobs, "PROFILE=release", "DEPS=ok", "WERROR="] + (["CC=" + cc] if cc else [])
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    with open(os.path.join(OUT, "build.log"), "w") as log:
        code = subprocess.call(argv + model_of_before() + ["all", "test-program"], cwd=TREE, stdout=log, stderr=log, env=env)
    if code != 0:
        sys.exit("mutants.py: the copy does not build: see build/mutants/build.log")


# --- the checks ------------------------------------------------------------------------------------------------------

class Check:
    """tier: 0 of make check, 1 added by make gate, 2 neither."""

    def __init__(self, name, argv, tier=None):
        self.name, self.argv, self.tier, self.cpu, self.seen, self.passed = name, argv, tier, 0.0, set(), True
        self.large, self.skipped, self.digest = False, False, ""


def exact_filter():
    """How npusim-test is asked for one test; before it had that, for those whose names begin so."""
    return "=" if b"'='" in read("validate/tests/main.c") else "^"


def unit_checks():
    def listed(*options):
        p = subprocess.run([os.path.join(BIN, "npusim-test"), *options, "-l"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True)
        return p.stdout.split() if p.returncode == 0 else []

    sign, slow, fast = exact_filter(), set(listed("-S")), set(listed("-F"))
    for name in listed():
        tier = None if not fast else 1 if name in slow else 0
        yield Check(name, [os.path.join(BIN, "npusim-test"), "-j1", sign + name], tier)


def golden_checks():
    folder = os.path.join(TREE, "validate/tests/golden")
    marked = b"--tier" in read("validate/tests/golden/run.sh")
    for f in sorted(os.listdir(folder)):
        if not f.endswith(".sh") or f == "run.sh":
            continue
        with open(os.path.join(folder, f)) as text:
            m = re.search(r"^# tier: (gate|nightly)$", "".join(text.readlines()[:5]), re.M)
        if m and m.group(1) == "nightly":
            continue
        tier = None if not marked else 1 if m else 0
        yield Check("golden " + f[:-3], ["sh", "validate/tests/golden/run.sh", "-j", "1", f[:-3]], tier)


def figure_commands():
    try:
        with open(os.path.join(ROOT, "validate/figures.csv"), newline="") as f:
            return list(dict.fromkeys(row["command"] for row in csv.DictReader(f)))
    except OSError:
        return []


def figure_words(command):
    """The words of each command of a row of the table, between its semicolons."""
    parts = [[]]
    for word in shlex.split(command):
        parts[-1].append(word.rstrip(";") if word.endswith(";") else word)
        if word.endswith(";"):
            parts.append([])
    return [[w for w in words if w] for words in parts]


def figure_checks():
    for c in figure_commands():
        yield Check("figures " + c, [sys.executable, "validate/tools/figures.py", "check", c], 0)


def all_checks(tests_only):
    return list(unit_checks()) + ([] if tests_only else list(figure_checks()) + list(golden_checks()))


def effect_checks():
    with open(os.path.join(HERE, "effects.txt")) as f:
        lines = [s.strip() for s in f if s.strip() and not s.startswith("#")]
    for c in figure_commands():
        line = "; ".join("npusim " + shlex.join(words) for words in figure_words(c))
        lines.append(line.replace("{tmp}", "'\"$T\"'"))
    return [Check(s, ["sh", "-c", s]) for s in lines]


def baseline(checks, n, pool, key, name, twice=False):
    """Each once, nothing planted; what is stored is not run again. `twice`: what differs by itself is no effect."""
    stored = load(name, {})
    if stored.get("key") != key:
        stored = {"key": key}
    todo = [c for c in checks if c.name not in stored]
    progress = Progress(name.split(".")[0], len(todo))
    lock = threading.Lock()

    def one(c):
        limit, large = SLOW_S if c.tier is None and not twice else 300, False
        with tempfile.NamedTemporaryFile(dir=OUT) as f:
            f.write(bytes(n + 1))
            f.flush()
            os.chmod(f.name, 0o666)
            r = run(c.argv, limit, seen=f.name)
            if r.code and not twice:
                large, r = True, run(c.argv, limit, seen=f.name, large=True)
            marks = open(f.name, "rb").read()
        same = not twice or run(c.argv, 300).out == r.out
        passed = r.code is not None and same if twice else r.code == 0
        skipped = not twice and passed and b"not run: " in r.out and b" 0 passed" in b" " + r.out.rstrip().rsplit(b"\n")[-1]
        with lock:
            stored[c.name] = {"cpu": round(r.cpu, 4), "seen": [k for k in range(n) if marks[k] == 3],
                              "reached": [k for k in range(n) if marks[k]], "passed": passed, "skipped": skipped, "large": large,
                              "digest": digest(r)}
            if progress.n % 20 == 0:
                save(name, stored)
        progress.step(c.name[:40])

    try:
        in_parallel(pool, one, todo)
    finally:
        with lock:
            save(name, stored)
    for c in checks:
        was = stored[c.name]
        c.cpu, c.passed, c.skipped, c.large, c.digest = (was[x] for x in ("cpu", "passed", "skipped", "large", "digest"))
        c.seen = set(was["seen"]) if not c.skipped else set()
        if c.tier is None:
            c.tier = 0 if c.cpu <= (3 if c.name.startswith("golden") else FAST_S) else 1 if c.cpu <= SLOW_S else 2
    return checks


# --- one fault -------------------------------------------------------------------------------------------------------

def limit_of(c):
    return int(10 * c.cpu + 5)


def digest(r):
    return hashlib.sha1(r.out + b"%d" % (r.code or 0)).hexdigest()


def effect_of(k, effects):
    for c in sorted((c for c in effects if k in c.seen and c.passed), key=lambda c: c.cpu):
        r = run(c.argv, limit_of(c), mutant=k)
        if r.code is None or digest(r) != c.digest:
            return c.name
    return ""


def groups_of(checks):
    """Cheap tests of the test program go together: a process for each would cost more than they do."""
    group, cpu = [], 0.0
    for c in checks:
        single = "npusim-test" not in c.argv[0] or c.cpu > 0.2 or c.large
        if group and (single or len(group) == 24 or cpu > 0.5):
            yield group
            group, cpu = [], 0.0
        if single:
            yield [c]
        else:
            group.append(c)
            cpu += c.cpu
    if group:
        yield group


def caught_by(k, checks, most):
    """The name of the first check that fails. Promising: cheap, and reaching few other faults."""
    mine = [c for c in checks if k in c.seen and c.passed]
    mine.sort(key=lambda c: (c.cpu + 0.01) * (len(c.seen) + 5) ** 0.7)
    spent = 0.0
    for group in groups_of(mine):
        argv = group[0].argv + [c.argv[-1] for c in group[1:]]
        r = run(argv, int(10 * sum(c.cpu for c in group) + 5), mutant=k, large=group[0].large)
        if r.code != 0:
            failed = re.search(rb"^FAIL (\S+?):?( |$)", r.out, re.M) if len(group) > 1 else None
            return failed.group(1).decode() if failed else group[0].name
        spent += r.cpu
        if most and spent > most:
            break
    return ""


def judge(k, effects, checks, a):
    figures = [c for c in checks if c.name.startswith("figures ")]
    others = [c for c in checks if not c.name.startswith("figures ")]
    by = caught_by(k, figures, None)
    if by:
        return {"verdict": "check", "effect": by, "by": by}
    effect = effect_of(k, effects)
    if not effect:
        return {"verdict": "without effect", "effect": "", "by": ""}
    for tier, word in ((0, "check"), (1, "gate")):
        by = caught_by(k, [c for c in others if c.tier == tier], a.most)
        if by:
            return {"verdict": word, "effect": effect, "by": by}
    return {"verdict": "survivor", "effect": effect, "by": ""}


# --- the table -------------------------------------------------------------------------------------------------------

def write_csv(chosen, results):
    with open(os.path.join(OUT, "mutants.csv"), "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["id", "file", "line", "function", "kind", "from", "to", "verdict", "effect", "caught by"])
        for s in chosen:
            r = results.get(s.id, {"verdict": "not judged", "effect": "", "by": ""})
            w.writerow([s.id, s.path, s.line, s.function, s.kind, s.old, s.new, r["verdict"], r["effect"], r["by"]])


def percent(n, of):
    return "%.1f %%" % (100 * n / of) if of else "-"


def report(chosen, results, key):
    verdicts = [results.get(s.id, {}).get("verdict", "not judged") for s in chosen]
    count = {v: verdicts.count(v) for v in ("not judged", "without effect", "check", "gate", "survivor")}
    effective = count["check"] + count["gate"] + count["survivor"]
    print("planted                %5d" % len(chosen))
    if count["not judged"]:
        print("not judged yet         %5d" % count["not judged"])
    print("without effect         %5d" % count["without effect"])
    print("with effect            %5d" % effective)
    print("caught by make check   %5d  %s, goal 90 %%" % (count["check"], percent(count["check"], effective)))
    print("caught by make gate    %5d  %s in all, goal 97 %%" % (count["gate"], percent(count["check"] + count["gate"], effective)))
    print("survivors              %5d" % count["survivor"])
    old = sum(1 for s in chosen if s.id in results and results[s.id]["tree"] != key)
    if old:
        print("%d verdicts are of an older tree" % old)
    by_part(chosen, results, "kind", lambda s: s.kind)
    by_part(chosen, results, "folder", lambda s: "/".join(s.path.split("/")[:2]))
    for word, title in (("gate", "caught by make gate only"), ("survivor", "survivors")):
        those = [s for s in chosen if results.get(s.id, {}).get("verdict") == word]
        if those:
            print("\n" + title)
        for s in those:
            print("  %s  %s:%d %s, %s: %s -> %s" % (s.id, s.path, s.line, s.function, s.kind, s.old[:90], s.new[:90]))
            r = results[s.id]
            print("      seen in: %s%s" % (r["effect"][:110], "; caught by " + r["by"] if r["by"] else ""))


def by_part(chosen, results, title, part):
    parts = {}
    for s in chosen:
        v = results.get(s.id, {}).get("verdict")
        if v in ("check", "gate", "survivor"):
            parts.setdefault(part(s), []).append(v)
    print("\n%-22s with effect  check   gate  survive" % title)
    for p, v in sorted(parts.items()):
        print("%-22s %11d %6d %6d %8d" % (p, len(v), v.count("check"), v.count("gate"), v.count("survivor")))


# --- the whole -------------------------------------------------------------------------------------------------------

def asked():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("-n", type=int, default=250, help="faults to plant (250)")
    p.add_argument("--seed", default="1", help="another seed draws other faults (1)")
    p.add_argument("-j", type=int, default=os.cpu_count() or 1, help="faults judged at a time")
    p.add_argument("--only", metavar="FOLDER", help="plant in this folder only")
    p.add_argument("--survivors", action="store_true", help="judge again those that were not caught by make check last time")
    p.add_argument("--minutes", type=float, help="stop after so many minutes and report")
    p.add_argument("--most", type=float, metavar="S", help="seconds of each tier's checks that a fault is given (all)")
    p.add_argument("--tests-only", action="store_true", help="leave out goldens and figures: quick, and what survives may yet be caught")
    p.add_argument("--cc", default=os.environ.get("MUTANTS_CC"), help="the compiler, as 'ccache cc'")
    p.add_argument("--list", action="store_true", help="only draw the faults and print them")
    p.add_argument("--report", action="store_true", help="only print the table of the last run")
    return p.parse_args()


def plan(a, files, key, pool):
    """The faults: the same until the code or the question changes."""
    asked_for = [key, a.n, a.seed, a.only]
    stored = load("plan.json", {})
    found, lines = candidates(files, a.only)
    if stored.get("asked") == asked_for:
        ids = {s.id: s for sites in found.values() for s in sites}
        chosen = [ids[i] for i in stored["ids"]]
        for k, s in enumerate(chosen):
            s.number = k
        return chosen
    chosen = choose(Draw(found, lines, a.n, a.seed), pool)
    save("plan.json", {"asked": asked_for, "ids": [s.id for s in chosen]})
    return chosen


def to_judge(r, a, key, asked_now):
    """Other commands may show an effect of what had none; another tree makes all verdicts old."""
    if not r or r["verdict"] == "without effect" and r["asked"] != asked_now or r["tests_only"] and not a.tests_only and \
            r["verdict"] in ("gate", "survivor"):
        return True
    return r["verdict"] in ("gate", "survivor") if a.survivors else r["tree"] != key


def judge_all(todo, effects, checks, results, marks, a, begun):
    lock, progress = threading.Lock(), Progress("judged", len(todo))

    def one(s):
        if a.minutes and time.monotonic() - begun > 60 * a.minutes:
            return
        r = judge(s.number, effects, checks, a)
        r.update(marks)
        with lock:
            results[s.id] = r
            save("results.json", results)
        progress.step("%s:%d %s" % (s.path, s.line, r["verdict"]))

    with ThreadPoolExecutor(a.j) as pool:
        in_parallel(pool, one, todo)


def main():
    a, begun = asked(), time.monotonic()
    os.makedirs(os.path.join(OUT, "tmp"), exist_ok=True)
    files = tracked()
    key = digest_of(files)
    results = load("results.json", {})
    with ThreadPoolExecutor(a.j) as pool:
        chosen = plan(a, files, key, pool)
        if a.list or a.report:
            return report(chosen, results, key) if a.report else show(chosen)
        planned = hashlib.sha1(" ".join([key] + [s.id for s in chosen]).encode()).hexdigest()[:12]
        copy_tree(files)
        plant(chosen)
        build(a.j, a.cc)
        effects = baseline(effect_checks(), len(chosen), pool, planned, "effects.json", twice=True)
        checks = baseline(all_checks(a.tests_only), len(chosen), pool, planned, "baseline.json")
    tell_unusable(effects, checks)
    asked_now = hashlib.sha1("\n".join(c.name for c in effects).encode()).hexdigest()[:12]
    todo = [s for s in chosen if to_judge(results.get(s.id), a, key, asked_now)]
    # Evenly from all folders, so that a run that stops early has seen some of each.
    todo.sort(key=lambda s: s.id)
    try:
        judge_all(todo, effects, checks, results, {"tree": key, "asked": asked_now, "tests_only": a.tests_only}, a, begun)
    finally:
        write_csv(chosen, results)
        report(chosen, results, key)


def show(chosen):
    for s in chosen:
        print("%s %s:%d %s, %s: %s -> %s" % (s.id, s.path, s.line, s.function, s.kind, s.old, s.new))


def tell_unusable(effects, checks):
    for c in effects:
        if not c.passed:
            print("not used, its output differs from run to run: %s" % c.name[:100])
    for c in checks:
        if not c.passed and c.tier < 2:
            print("not used, it fails%s without a fault: %s" % (" or takes too long" if c.cpu > 1 else "", c.name))
    for tier, word in enumerate(("make check", "make gate adds")):
        those = [c for c in checks if c.tier == tier]
        print("%s: %d checks, %.0f s of processor time" % (word, len(those), sum(c.cpu for c in those)))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
