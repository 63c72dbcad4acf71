"""test_npusim.py - results/python/npusim beside the program: the same figures to the byte, the same words for what is wrong.

From validate/tools/python.sh: NPUSIM, the program; NPUSIM_LIBRARY; PYTHONPATH; MACHINES, how many random ones. Parts that want a package which is not installed say
"not run: ...".
"""

import contextlib
import gc
import importlib.util
import io
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import npusim

ROOT = Path(__file__).resolve().parents[3]
NPUSIM = os.environ["NPUSIM"]
MACHINES = int(os.environ.get("MACHINES", "200"))
SMALL = {"model": "qwen3-0.6b", "layers": 1, "context": 64}
SMALL_WORDS = ["-m", "qwen3-0.6b", "--layers", "1", "--context", "64"]


def command(*words, rc=0):
    done = subprocess.run([NPUSIM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, cwd=ROOT)
    if done.returncode != rc:
        raise AssertionError(f"npusim {' '.join(words)}: exit {done.returncode}: {done.stderr.decode()}")
    return done.stdout if rc == 0 else done.stderr.decode()


def have(module):
    return importlib.util.find_spec(module) is not None


def wants(*modules):
    missing = [m for m in modules if not have(m)]
    return unittest.skipIf(missing, f"there is no Python package {' '.join(missing)}")


class Figures(unittest.TestCase):
    def test_random_machines_are_those_of_the_command_line(self):
        draw = random.Random(33)
        same = refused = 0
        moves = {}
        names = ["dsocr", "edge"] + 3 * ["array-128", "h200-twin"]  # the first two take several times as long
        for name in set(names):
            machine = npusim.machine(name)
            moves[name] = (machine, [(x.key, x.then) for x in machine.limits(**SMALL)] + [("dram.channels", "0")])
        while same < MACHINES:
            name = draw.choice(names)
            machine, steps = moves[name]
            changes = dict(draw.sample(steps, draw.randint(0, 3)))
            fidelity = draw.choice(["analytic", "event"])
            batch = draw.choice([1, 3])
            words = ["run", "-c", name, *SMALL_WORDS, "--batch", str(batch), "--fidelity", fidelity, "--format", "json"]
            for key, value in changes.items():
                words += ["--set", f"{key}={value}"]
            try:
                run = machine.with_(changes).run(**SMALL, batch=batch, fidelity=fidelity)
            except npusim.Error as e:
                self.assertIn(str(e), command(*words, rc=e.code))
                refused += 1
                self.assertLess(refused, 200)
                continue
            said = command(*words)
            self.assertEqual(run.json(), said, f"{name} {changes} {fidelity}")
            document = json.loads(said)
            for figure in ("total_us", "energy_uj", "dram_bytes", "area_mm2"):
                if document[figure] is not None:
                    self.assertEqual(float(f"{run.get(figure):.9g}"), float(f"{document[figure]:.9g}"))
            same += 1
        print(f"{same} random machines as npusim run prints them, {refused} refused in the same words")

    def test_a_trace_and_its_range(self):
        trace = "traces/h200/steps/kineto_llama8b_b1_c2048.json.gz"
        run = npusim.machine("dsocr").run(trace=ROOT / trace, range="decode_step_1", fidelity="analytic")
        said = command("run", "-c", "dsocr", "-t", str(ROOT / trace), "--range", "decode_step_1", "--fidelity", "analytic",
                       "--format", "json")
        self.assertEqual(run.json(), said)

    def test_members_paths_and_tables(self):
        run = npusim.machine("edge").run(**SMALL)
        self.assertEqual(run["ops[2].name"], run.document["ops"][2]["name"])
        self.assertEqual(run["stats.dram.read_bytes"], run.get("stats.dram.read_bytes"))
        self.assertEqual(run.held_by["resource"], run["held_by.resource"])
        self.assertIn("held_by", dir(run))
        self.assertAlmostEqual(sum(run.ops["us"]), run.total_us, places=3)
        self.assertEqual(len(run.ops), len(run.document["ops"]))
        self.assertLessEqual(run.interval["low"], run.interval["high"])
        self.assertTrue(all(0 < sum(v for k, v in op.items() if k.startswith("stalls.") and v) <= 1.001
                            for op in run.ops if op["us"]))
        for wrong in ("ops[999]", "ops[x]", "nix", "ops.x", "ops[0", "total_us[0]", ""):
            with self.subTest(wrong), self.assertRaises(KeyError):
                run[wrong] if wrong else run["\0"]
        with self.assertRaises(AttributeError):
            run.nix

    def test_values_are_written_as_the_command_line_takes_them(self):
        machine = npusim.machine("dsocr", {"l2": {"size": "64 MiB"}, "fusion.enabled": False, "dram.channels": 32})
        self.assertEqual((machine["l2.size"], machine["fusion.enabled"], machine["dram.channels"]), ("64 MiB", "false", "32"))
        same = npusim.machine("dsocr", ["l2.size=64 MiB", "fusion.enabled=false", "dram.channels=32"])
        self.assertEqual(machine.run(**SMALL).config_hash, same.run(**SMALL).config_hash)
        low = next(p["key"] for p in machine.parameters() if p["range"] == "0 to 1")
        self.assertEqual(machine.with_({low: 0.0001})[low], "0.0001")
        self.assertEqual(machine.run(**SMALL, expert_reuse=0.00001).expert_reuse, 1e-05)

    def test_a_file_that_changed_is_read_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.yaml"
            path.write_text((ROOT / "workloads/models/qwen3-0.6b.yaml").read_text())
            first = npusim.machine("edge").run(model=str(path), layers=1).total_us
            text = path.read_text()
            path.write_text(re.sub(r"(?m)^vocab(\w*): *\d+", r"vocab\1: 1000", text))
            self.assertNotEqual(text, path.read_text())
            self.assertLess(npusim.machine("edge").run(model=str(path), layers=1).total_us, first)

    def test_parameters_are_those_of_config_explain(self):
        mine = {p["key"]: p for p in npusim.machine("dsocr").parameters()}
        theirs = json.loads(command("config", "show", "dsocr", "--format", "json"))
        self.assertEqual(set(mine), {p["key"] for p in theirs})
        for p in theirs:
            if p["given"] == "yes":
                self.assertEqual((mine[p["key"]]["value"], mine[p["key"]]["given"]), (p["value"], True))


class Faults(unittest.TestCase):
    def same_words(self, call, *words):
        with self.assertRaises(npusim.Error) as caught:
            call()
        said = command(*words, rc=caught.exception.code).splitlines()[0]
        self.assertEqual("npusim: " + str(caught.exception), said)
        return caught.exception

    def test_the_words_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = Path(folder) / "bad.yaml"
            bad.write_text("clock: 1.4 GHz\ncores: many\n")
            e = self.same_words(lambda: npusim.machine(str(bad)), "run", "-c", str(bad), *SMALL_WORDS)
            self.assertEqual((e.line, e.column, e.file, e.code), (2, 8, str(bad), 3))
        dsocr = npusim.machine("dsocr")
        self.same_words(lambda: npusim.machine("dsocr", {"l3.size": 1}), "run", "-c", "dsocr", *SMALL_WORDS, "--set", "l3.size=1")
        self.same_words(lambda: npusim.machine("dsocrr"), "run", "-c", "dsocrr", *SMALL_WORDS)
        self.same_words(lambda: npusim.machine("nosuch.yaml"), "run", "-c", "nosuch.yaml", *SMALL_WORDS)
        self.same_words(lambda: dsocr.run(model="llama-9"), "run", "-c", "dsocr", "-m", "llama-9")
        self.same_words(lambda: dsocr.run(**SMALL, fidelity="x"), "run", "-c", "dsocr", *SMALL_WORDS, "--fidelity", "x")
        self.same_words(lambda: dsocr.run(trace="/none/such"), "run", "-c", "dsocr", "-t", "/none/such")

    def test_what_python_alone_can_get_wrong(self):
        machine = npusim.machine("edge")
        run = machine.run(**SMALL)
        for call, text in (
            (lambda: machine.run(modell="x"), "did you mean 'model'?"),
            (lambda: machine.run(**SMALL, btch=2), "did you mean 'batch'?"),
            (lambda: machine.sweep({}, **SMALL), "one axis or more"),
            (lambda: machine.sweep({"l2.size": "1 MiB"}, **SMALL), "are a list"),
            (lambda: machine.sweep({"l2.sise": ["1 MiB"]}, **SMALL), "did you mean 'l2.size'?"),
            (lambda: machine.sweep({"model.btch": [1]}, **SMALL), "did you mean 'batch'?"),
            (lambda: npusim.machine("edge", {"l2.size": "1\0"}), "NUL"),
            (lambda: npusim.machine("edge\0x"), "NUL"),
            (lambda: run.get("totl_us"), "totl_us"),
            (lambda: run.get("measured_us"), "null"),
            (lambda: npusim.results("/none/such"), "no such file"),
            (lambda: npusim.results(__file__), "cannot read"),
            (lambda: npusim.machine("h200").limits(**SMALL), ""),
        ):
            with self.subTest(text), self.assertRaises(npusim.Error) as caught:
                call()
            self.assertIn(text, str(caught.exception))

    def test_a_library_that_is_not_there_is_one_line(self):
        env = {**os.environ, "NPUSIM_LIBRARY": "/none/libnpusim.so"}
        done = subprocess.run([sys.executable, "-c", "import npusim; npusim.machine('edge')"], env=env, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/none/libnpusim.so", done.stderr.decode().splitlines()[-1])


class Search(unittest.TestCase):
    def test_a_sweep_is_a_loop_of_runs(self):
        machine = npusim.machine("edge")
        axes = {"dram.channels": [2, 4, 0], "model.batch": [1, 8]}
        sweep = machine.sweep(axes, where=lambda p: p["model.batch"] == 1 or p["dram.channels"] != 2, **SMALL)
        self.assertEqual(len(sweep), 5)
        table = sweep.table(intervals=True)
        self.assertEqual(table["status"], ["done", "done", "done", "failed", "failed"])
        self.assertIn("the range is", table["reason"][3])
        for row in table:
            if row["status"] == "done":
                run = machine.with_({"dram.channels": row["dram.channels"]}).run(**SMALL, batch=row["model.batch"])
                self.assertEqual((row["total_us"], row["interval_low"]), (run.total_us, run.interval["low"]))
                self.assertEqual(row["area_mm2"], run.get("area_mm2"))
        self.assertEqual(sweep.best().settings, min((p for p in sweep if p.run), key=lambda p: p.run.total_us).settings)
        with self.assertRaises(npusim.Error):
            machine.sweep({"dram.channels": [0]}, **SMALL).best()
        self.assertTrue(table.csv().startswith("point,dram.channels,model.batch,status,reason,total_us,"))

    def test_limits_are_those_of_the_command(self):
        mine = npusim.machine("edge").limits(**SMALL)
        theirs = json.loads(command("limits", "-c", "edge", *SMALL_WORDS, "--pairs", "0", "--fidelity", "analytic", "--format", "json"))
        rows = [r for r in theirs["limits"]]
        self.assertEqual([(x.move, x.key, x.now, x.then) for x in mine], [(r["move"], r["key"], r["now"], r["then"]) for r in rows])
        for x, r in zip(mine, rows):
            self.assertEqual(x.refused, r["refused"])
            if x.us is not None:
                self.assertEqual(f"{x.us:.9g}", f"{r['total_us']:.9g}")

    def env(self, **more):
        axes = {"dram.channels": [2, 4, 8, 16], "l2.size": ["1 MiB", "4 MiB", "16 MiB"], "matrix.units": [1, 2]}
        return npusim.Env(npusim.machine("edge"), axes, **{"steps": 3, "fidelity": "analytic", **SMALL, **more})

    def test_an_environment_resets_and_steps(self):
        env = self.env()
        seen, info = env.reset(seed=1)
        self.assertEqual((list(seen), info["total_us"]), ([0.0] * 4, env.base.total_us))
        picks = [env.action_space.sample() for _ in range(3)]
        env.reset(seed=1)
        self.assertEqual([list(p) for p in picks], [list(env.action_space.sample()) for _ in range(3)])
        seen, reward, terminated, truncated, info = env.step([3, 2, 1])
        run = env.machine.with_(info["settings"]).run(fidelity="analytic", **SMALL)
        self.assertEqual((reward, terminated, truncated), (math.log(env.base.total_us / run.total_us), False, False))
        self.assertEqual((list(seen), info["total_us"]), ([1.0, 1.0, 1.0, reward], run.total_us))
        self.assertFalse(env.step([0, 0, 0])[3])
        self.assertTrue(env.step([0, 0, 0])[3])
        for wrong in ([0, 0], [4, 0, 0], [-1, 0, 0]):
            with self.assertRaises(npusim.Error):
                env.step(wrong)
        with self.assertRaises(npusim.Error):
            npusim.Env(env.machine, {"l2.sise": [1]}, **SMALL)

    def test_a_design_that_cannot_be_is_a_reward(self):
        env = npusim.Env(npusim.machine("edge"), {"dram.channels": [0, 4]}, refused=-7.0, **SMALL)
        _, reward, _, _, info = env.step([0])
        self.assertEqual((reward, info["total_us"]), (-7.0, None))
        self.assertIn("the range is", info["reason"])
        per_area = npusim.Env(env.machine, {"dram.channels": [2, 4]}, reward=lambda run, base: -run.area_mm2, **SMALL)
        _, reward, _, _, info = per_area.step([1])
        self.assertEqual(reward, -env.machine.with_({"dram.channels": 4}).run(**SMALL).area_mm2)

    @wants("gymnasium")
    def test_gymnasium_takes_it(self):
        from gymnasium.spaces import MultiDiscrete
        env = self.env()
        self.assertIsInstance(env.action_space, MultiDiscrete)
        self.assertTrue(env.observation_space.contains(env.step(env.action_space.sample())[0]))

    @wants("nlopt", "numpy")
    def test_an_optimiser_of_a_library_drives_it(self):
        import nlopt
        env = self.env(steps=1000)
        sizes = [len(v) for v in env.axes.values()]

        def cost(x, _):
            return -env.step([min(int(v), n - 1) for v, n in zip(x, sizes)])[1]

        search = nlopt.opt(nlopt.GN_DIRECT_L, len(sizes))
        search.set_lower_bounds([0.0] * len(sizes))
        search.set_upper_bounds([float(n) for n in sizes])
        search.set_min_objective(cost)
        search.set_maxeval(60)
        search.optimize([n / 2 for n in sizes])
        env.reset()
        every = [env.step([a, b, c])[1] for a in range(4) for b in range(3) for c in range(2)]
        self.assertEqual(-search.last_optimum_value(), max(every))


class Frames(unittest.TestCase):
    @wants("pandas")
    def test_pandas(self):
        frame = npusim.machine("edge").sweep({"dram.channels": [2, 4, 0]}, **SMALL).frame("total_us", "energy_uj", intervals=True)
        self.assertEqual(list(frame.columns), ["point", "dram.channels", "status", "reason", "total_us", "energy_uj",
                                               "interval_of", "interval_low", "interval_high"])
        self.assertEqual(str(frame["total_us"].dtype), "float64")
        self.assertTrue((frame.dropna().interval_low <= frame.dropna().interval_high).all())
        run = npusim.machine("edge").run(**SMALL)
        self.assertEqual(run.ops.pandas().shape, (len(run["ops"]), len(run.ops.columns)))
        self.assertEqual(run.ops.pandas().us.sum(), sum(run.ops["us"]))

    @wants("polars")
    def test_polars(self):
        frame = npusim.machine("edge").run(**SMALL).ops.polars()
        self.assertAlmostEqual(frame["us"].sum(), npusim.machine("edge").run(**SMALL).total_us, places=3)

    def test_without_either_the_error_says_what_is_missing(self):
        code = ("import sys; sys.modules['pandas'] = sys.modules['polars'] = None\n"
                "import npusim\n"
                "t = npusim.Table(['a'], [[1]])\n"
                "for f in (t.frame, t.pandas, t.polars):\n"
                "    try: f()\n"
                "    except npusim.Error as e: print(e)\n")
        said = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()
        self.assertEqual(len(said), 3)
        self.assertTrue(all("not installed" in line or "neither" in line for line in said), said)


class Stored(unittest.TestCase):
    def test_results_and_traces_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            stored, traced = Path(folder) / "r.db", Path(folder) / "t.db"
            command("run", "-c", "edge", *SMALL_WORDS, "-o", str(stored))
            command("trace", "import", "traces/rtx5090/dsocr.yaml", "-o", str(traced))
            run = npusim.machine("edge").run(**SMALL)
            with npusim.results(stored) as db:
                self.assertEqual([round(x, 9) for x in db.ops["us"]], [round(x, 9) for x in run.ops["us"]])
                self.assertEqual(db.runs[0]["latency_us"], run.total_us)
                self.assertEqual(db.sql("select count(*) as n from v_ops where run = ?", [1])["n"], [len(run.ops)])
                self.assertEqual(set(re.findall(r"^\| `(v_\w+)`", (ROOT / "results/schema.md").read_text(), re.M)),
                                 {v for v in db.views if v.startswith("v_")})
                with self.assertRaises(npusim.Error):
                    db.sql("delete from run")
                with self.assertRaises(npusim.Error):
                    db.view("v_nix")
                with self.assertRaises(AttributeError):
                    db.nix
                with self.assertRaises(npusim.Error):
                    npusim.trace(stored)
            with npusim.trace(traced) as db:
                self.assertGreater(len(db.kernel), 100)
                self.assertIn("dur_ns", db.kernel.columns)


    def test_explain_has_the_figures_of_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            stored = Path(folder) / "r.db"
            command("run", "-c", "dsocr", "-m", "qwen3-0.6b", "-o", str(stored))
            lines = json.loads(command("explain", str(stored), "--format", "json"))
            run, held = npusim.machine("dsocr").run(model="qwen3-0.6b"), 0
            self.assertEqual(len(lines), 10)
            for line in lines:
                self.assertTrue(line["text"].endswith(".") and line["where"] and line["source"], line)
                try:
                    figure = run[line["figure"]]
                except KeyError:
                    continue
                self.assertLess(abs(line["value"] / figure - 1), 2e-6, line)  # shares are stored in millionths
                held += 1
            self.assertGreaterEqual(held, 8)


class Handles(unittest.TestCase):
    def test_two_threads(self):
        want = npusim.machine("edge").run(**SMALL).json()
        shared, out = npusim.machine("edge"), []

        def own():
            out.extend(npusim.machine("edge").run(**SMALL).json() for _ in range(5))

        def same():
            out.extend(shared.run(**SMALL).json() for _ in range(5))

        threads = [threading.Thread(target=f) for f in (own, own, same, same)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(out, [want] * 20)

    def test_things_are_dropped_in_any_order(self):
        draw = random.Random(1)
        for _ in range(30):
            simulator = npusim.Simulator()
            machine = simulator.machine("edge")
            run = machine.with_({"cores": 2}).run(**SMALL, fidelity="analytic")
            held = [simulator, machine, run]
            del simulator, machine, run
            draw.shuffle(held)
            while held:
                last = held.pop()
                gc.collect()
            self.assertIsNotNone(last)

    def test_more_workloads_than_are_kept(self):
        machine = npusim.Simulator().machine("edge")
        runs = [machine.run(**{**SMALL, "context": 64 + i}, fidelity="analytic") for i in range(20)]
        self.assertEqual([r.get("total_us") for r in runs],
                         [machine.run(**{**SMALL, "context": 64 + i}, fidelity="analytic").total_us for i in range(20)])
        self.assertEqual(json.loads(runs[0].json())["total_us"], float(f"{runs[0].total_us:.9g}"))

    def test_data_from_another_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            for part in ("configs", "workloads"):
                shutil.copytree(ROOT / part, Path(folder) / part)
            (Path(folder) / "configs/npu/mine.yaml").write_text("clock: 1 GHz\n")
            self.assertGreater(npusim.Simulator(folder).machine("mine").run(**SMALL).total_us, 0)
        with self.assertRaises(npusim.Error):
            npusim.machine("mine")
        text = (ROOT / "configs/npu/edge.yaml").read_text()
        self.assertEqual(npusim.default().machine_of(text).run(**SMALL).total_us, npusim.machine("edge").run(**SMALL).total_us)


class Kit(unittest.TestCase):
    SCRIPT = str(ROOT / "validate/silicon/rows.py")

    @wants("numpy")
    def test_rows_of_a_chip_are_a_table_that_validate_reads(self):
        with tempfile.TemporaryDirectory() as folder:
            asked, rows = Path(folder) / "asked", Path(folder) / "rows.csv"
            asked.write_text("# m,n,k\n1,64,128\n\n16,96,64 # a comment\n")
            subprocess.run([sys.executable, self.SCRIPT, "--backend", "numpy", "--rotate", "1", "--repeats", "3", "--batch-ms", "1",
                            "--rows", str(asked), "-o", str(rows)], check=True, capture_output=True)
            told = json.loads(command("validate", "-c", "edge", "-t", str(rows), "--fidelity", "analytic", "--format", "json"))
            self.assertEqual((told["samples"], told["measured_us"] > 0), (2, True))

    # What the script asks of runtimes that are not here: enough of each to run it, in which every call that matters leaves a line.
    FAKES = {
        "torch": """
def randn(rows, cols):
    return rows, cols
""",
        "ttnn": """
import sys, types
TILE_LAYOUT, DRAM_MEMORY_CONFIG, bfloat16, bfloat8_b, bfloat4_b = "tile", "dram", "bfloat16", "bfloat8_b", "bfloat4_b"
MathFidelity = types.SimpleNamespace(HiFi2="HiFi2", LoFi="LoFi")
traces, recording, made, fidelity = {}, None, [], set()
class Device:
    def arch(self):
        return "Arch.WORMHOLE_B0"
def open_device(device_id, trace_region_size):
    return Device()
def from_torch(x, dtype, layout, device, memory_config):
    assert (layout, memory_config) == ("tile", "dram")
    made.append(types.SimpleNamespace(shape=x, dtype=dtype, at=len(made)))
    return made[-1]
def init_device_compute_kernel_config(arch, math_fidelity, math_approx_mode, fp32_dest_acc_en, packer_l1_acc):
    fidelity.add(math_fidelity)
def matmul(a, w, memory_config, dtype, compute_kernel_config):
    assert a.shape[1] == w.shape[0] and dtype == a.dtype == w.dtype
    if recording is None:
        compiled.add(w.shape)
    else:
        assert w.shape in compiled
        traces[recording].append(w.at)
compiled = set()
def deallocate(_):
    pass
def begin_trace_capture(device, cq_id):
    global recording
    assert not traces
    recording = 1
    traces[1] = []
    return 1
def end_trace_capture(device, trace, cq_id):
    global recording
    recording = None
def execute_trace(device, trace, cq_id, blocking):
    assert recording is None and not blocking
    used = traces[trace]
    assert len(used) <= 64 and all(b == a + 1 or b < a for a, b in zip(used, used[1:])) and len(set(used)) == used[-1] - used[0] + 1
def release_trace(device, trace):
    del traces[trace]
def synchronize_device(device):
    pass
def close_device(device):
    print("closed", *sorted(fidelity), "traces left", len(traces), file=sys.stderr)
""",
        "pyxrt": """
import sys, types
class bo:
    host_only, cacheable = "host", "cache"
    def __init__(self, device, size, flags, group):
        self.size, self.group, self.synced = size, group, False
        assert (flags == "cache") == (group == 101)
    def write(self, data, at):
        assert len(data) == self.size and at == 0
        self.data = data
    def sync(self, way, size, at):
        self.synced = size == self.size
xrt_info_device = types.SimpleNamespace(name="name")
xclBOSyncDirection = types.SimpleNamespace(XCL_BO_SYNC_BO_TO_DEVICE="to")
ert_cmd_state = types.SimpleNamespace(ERT_CMD_STATE_COMPLETED="done")
class device:
    def __init__(self, at):
        pass
    def get_info(self, what):
        return "NPU Strix"
    def register_xclbin(self, x):
        pass
class xclbin:
    def __init__(self, path):
        self.path = path
    def get_kernels(self):
        return [types.SimpleNamespace(get_name=lambda: "MLIR_AIE", get_num_args=lambda: 8)]
    def get_uuid(self):
        return self.path
def hw_context(device, uuid):
    return uuid
turns = []
class kernel:
    def __init__(self, context, name):
        self.bad = "bad" in context
    def group_id(self, i):
        return 100 + i
    def __call__(self, opcode, insts, n, a, *others):
        assert opcode == 3 and n == len(insts.data) == 8 and insts.data[0] == 0x11
        assert [b.group for b in (a,) + others] == [103, 104, 105, 106, 107] and all(b.synced for b in (insts, a) + others)
        turns.append(others[0])
        assert len(turns) < 2 or turns[-2] is not turns[-1] or len(set(map(id, turns))) == 1
        return types.SimpleNamespace(wait=lambda: "failed" if self.bad else "done")
"""
    }

    def measured(self, folder, backend, *options):
        for name, text in self.FAKES.items():
            (Path(folder) / f"{name}.py").write_text(text)
        (Path(folder) / "asked").write_text("1,64,128\n16,96,64\n")
        rows = Path(folder) / "rows.csv"
        done = subprocess.run([sys.executable, self.SCRIPT, "--backend", backend, "--rotate", "1", "--repeats", "3", "--batch-ms", "1",
                               "--rows", str(Path(folder) / "asked"), "-o", str(rows), *options], check=False, capture_output=True,
                              text=True, env={**os.environ, "PYTHONPATH": folder})
        return done, [line.split(",") for line in rows.read_text().splitlines() if line.startswith("gemm")] if rows.exists() else []

    def test_a_dry_run_says_what_would_be_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            done, rows = self.measured(folder, "check")
            self.assertEqual((done.returncode, [r[2:5] for r in rows]), (0, [["1", "64", "128"], ["16", "96", "64"]]))
            self.assertIn("64 copies of", done.stderr)

    def test_tt_metals_batches_are_traces_of_all_copies_in_turn(self):
        with tempfile.TemporaryDirectory() as folder:
            for dtype, fidelity in (("bf16", "HiFi2"), ("bfp8_b", "LoFi")):
                done, rows = self.measured(folder, "ttnn", "--dtype", dtype)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(([r[2:7] for r in rows], f"closed {fidelity} traces left 0" in done.stderr),
                                 ([["1", "64", "128", dtype, dtype], ["16", "96", "64", dtype, dtype]], True))
                told = json.loads(command("validate", "-c", "wormhole", "-t", str(Path(folder) / "rows.csv"), "--fidelity", "analytic",
                                          "--format", "json"))
                self.assertEqual(told["samples"], 2)

    def test_xrt_runs_designs_that_are_there(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("wants --designs", self.measured(folder, "xrt")[0].stderr)
            for name in ("final_16x64x96_32x32x32_4c.xclbin", "final_16x64x961_4c.xclbin"):
                (Path(folder) / name).write_text("")
            (Path(folder) / "insts_16x64x96_32x32x32_4c.txt").write_text("11\n00000022\n")
            done, rows = self.measured(folder, "xrt", "--designs", folder)
            self.assertEqual((done.returncode, [r[2:5] for r in rows]), (0, [["16", "96", "64"]]), done.stderr)
            self.assertIn("no design of 1 x 128 x 64", done.stderr)
            bad = Path(folder) / "bad"
            bad.mkdir()
            (bad / "final_16x64x96.xclbin").write_text("")
            (bad / "insts_16x64x96.bin").write_bytes(b"\x11" + bytes(7))
            self.assertIn("ended as failed", self.measured(folder, "xrt", "--designs", str(bad))[0].stderr)

    def test_a_line_that_is_no_product_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            asked = Path(folder) / "asked"
            asked.write_text("1,64,128\n1,0,4\n")
            done = subprocess.run([sys.executable, self.SCRIPT, "--backend", "numpy", "--rows", str(asked)], check=False,
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr),
                             (1, f"{asked}:2: '1,0,4' is no m,n,k of whole numbers from 1 on\n"))


class Found(unittest.TestCase):
    """validate/tools/search.py, on forty points by formula: a and 7 - a, both b more, a from 0 to 7 and b to 4."""

    def setUp(self):
        spec = importlib.util.spec_from_file_location("search", ROOT / "validate/tools/search.py")
        self.search = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.search)
        self.goals = [[a + b, 7 - a + b] for a in range(8) for b in range(5)]

    @wants("numpy")
    def test_hypervolume_by_hand(self):
        # The front is b = 0. Strips one wide of 4 + a high for a from 0 to 6, then one of 4 by 11: 49 + 44.
        space = self.search.Space([8, 5], self.goals)
        self.assertEqual((list(space.worst), sorted(space.front), space.whole), ([11, 11], list(range(0, 40, 5)), 93))
        self.assertEqual(space.found({0}), 44 / 93)
        self.assertEqual(space.found({0, 35}), (44 + 44 - 16) / 93)
        self.assertEqual(space.found({4, 39}), 0)  # (4, 11) and (11, 4) touch the worst
        self.assertEqual(space.found(self.search.drawn(space, 400, 1)), 1)
        self.assertEqual(len(self.search.drawn(space, 7, 1)), 7)
        # Three boxes of 2, of which any two, and all three, share the same 1.
        self.assertEqual(self.search.hypervolume([[0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1]], [2, 2, 2]), 4)
        self.assertEqual(self.search.hypervolume([[3], [5]], [7]), 4)

    @wants("numpy")
    def test_a_point_that_does_not_count_brings_nothing(self):
        counts = [a != 0 for a in range(8) for b in range(5)]
        space = self.search.Space([8, 5], [g if c else [math.nan] * 2 for g, c in zip(self.goals, counts)], counts)
        self.assertEqual((list(space.worst), sorted(space.front)), ([11, 10], list(range(5, 40, 5))))
        self.assertEqual(space.found({0, 1, 2, 3, 4}), 0)
        self.assertEqual(space.found(set(range(40))), 1)

    @wants("numpy", "deap")
    def test_nsga2_pays_for_no_more_than_it_may(self):
        small = self.search.Space([8, 5], self.goals)
        space = self.search.Space([20, 20, 5], [[a + b + c, 19 - a + b + c * c] for a in range(20) for b in range(20) for c in range(5)])
        chance = sum(space.found(self.search.drawn(space, 100, s)) for s in range(10))
        for places in (False, True):
            sets = [self.search.nsga2(space, 100, s, 8, places) for s in range(10)]
            self.assertEqual([len(s) for s in sets], [100] * 10)
            self.assertEqual(sets[3], self.search.nsga2(space, 100, 3, 8, places))
            self.assertGreater(sum(map(space.found, sets)), chance + 0.5)
            self.assertLessEqual(len(self.search.nsga2(small, 400, 1, 8, places)), 40)


class Documents(unittest.TestCase):
    def test_the_program_of_the_readme(self):
        programs = re.findall(r"```python\n(import npusim\n.*?)```", (ROOT / "README.md").read_text(), re.S)
        self.assertEqual(len(programs), 1)
        said = subprocess.run([sys.executable, "-c", programs[0]], check=True, stdout=subprocess.PIPE, cwd="/").stdout.decode()
        run = npusim.machine("dsocr", {"l2.size": "256 MiB"}).run(model="llama-3.1-8b", batch=16)
        self.assertEqual(said, f"{run.total_us} {run.verdict[0]}\n")

    def test_the_notebook_runs(self):
        book = json.loads((ROOT / "results/examples/npusim.ipynb").read_text())
        names = {}
        cells = [c for c in book["cells"] if c["cell_type"] == "code"]
        self.assertGreater(len(cells), 4)
        for cell in cells:
            source = "".join(cell["source"])
            if "frame(" in source and not have("pandas"):
                continue
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(source, "npusim.ipynb", "exec"), names)  # what a kernel does with a cell

    def test_every_public_name_says_what_it_is(self):
        for name in npusim.__all__:
            self.assertTrue(getattr(npusim, name).__doc__, name)


class Installed(unittest.TestCase):
    @wants("pip", "setuptools", "wheel")
    def test_pip_installs_it_without_a_network(self):
        with tempfile.TemporaryDirectory() as folder:
            tree, site = Path(folder) / "tree", Path(folder) / "site"
            tree.mkdir()
            for part in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
                shutil.copy(ROOT / part, tree)
            for part in ("results/python", "sim/base", "configs", "workloads"):
                shutil.copytree(ROOT / part, tree / part)
            built = tree / "build" / "release"
            built.mkdir(parents=True)
            shutil.copy(os.environ["NPUSIM_LIBRARY"], built / "libnpusim.so.0")
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target",
                   str(site), str(tree)]
            done = subprocess.run(pip, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/")
            self.assertEqual(done.returncode, 0, done.stdout.decode())
            env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "NPUSIM_LIBRARY")}
            shutil.rmtree(tree)
            code = ("import npusim, importlib.metadata as m\n"
                    "assert m.version('npusim') == npusim.release()\n"
                    "print(npusim.machine('edge').run(model='qwen3-0.6b', layers=1, context=64).total_us)")
            said = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, cwd=folder,
                                  env={**env, "PYTHONPATH": str(site)}).stdout.decode()
            self.assertEqual(said, f"{npusim.machine('edge').run(**SMALL).total_us}\n")


class Told(unittest.TextTestResult):
    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"not run: {test.id().rsplit('.', 1)[-1]}: {reason}")


if __name__ == "__main__":
    ran = unittest.main(argv=sys.argv, exit=False, testRunner=unittest.TextTestRunner(sys.stdout, verbosity=0, resultclass=Told)).result
    bad = len(ran.failures) + len(ran.errors)
    print(f"{ran.testsRun - bad - len(ran.skipped)} passed, {bad} failed")
    sys.exit(1 if bad else 0)
