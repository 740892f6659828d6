"""The steps of `pruned_gpu.sh`, which says what they are."""

import argparse
import concurrent.futures
import hashlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # no folder of compiled files beside the sources

import image  # noqa: E402

# How cutaway is called. An empty plan: nothing changes but GPU code.
SLIM = ["slim", "oci:{image}", "--platform", "linux/amd64", "--plan", "{plan}", "--format", "json", "-o", "oci:{out}"]
PRUNE = ["--target", "cc={target}"]
PLAN = {"schema": "cutaway.plan/1", "findings": [], "answers": []}

STEPS = ["image", "slim", "work", "startup", "wrong", "report"]
# Seconds that one program may take.
LIMITS = {"slim": 480, "work": 170, "startup": 60}
LOADING = ["LAZY", "EAGER"]
STARTUP_RUNS = 10
# Repetitions of what had another result: does it vary in the original too?
REPEATS = 200
# Fewer kinds of work than these, compared bit for bit, are no proof.
FEWEST = 50
FIRST_KERNEL = "import torch; print((torch.ones(1000, device='cuda') * 2).sum().item())"
HERE = os.path.dirname(os.path.abspath(__file__))


class Failed(Exception):
    """A step that cannot go on."""


def measured(command, limit, log, environment=None):
    """Runs a program: (exit status or None when its time was over, seconds, processor seconds, peak MiB)."""
    with open(log, "wb") as out:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        over = threading.Event()

        def stop():
            over.set()
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(limit, stop)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    told = None if over.is_set() else process.returncode
    return told, time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def tail(path, size=2000):
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - size))
        return file.read().decode(errors="replace").strip()


def last_line(text):
    return text.splitlines()[-1] if text else ""


class Proof:
    def __init__(self, options):
        self.options, self.folder = options, options.work
        os.makedirs(self.folder, exist_ok=True)
        self.state_path = self.at("result.json")
        self.state = {"problems": {}}
        if os.path.exists(self.state_path):
            with open(self.state_path, encoding="utf-8") as file:
                self.state = json.load(file)

    def at(self, *names):
        return os.path.join(self.folder, *names)

    def save(self):
        with open(self.state_path + ".part", "w", encoding="utf-8") as file:
            json.dump(self.state, file, indent=1)
        os.replace(self.state_path + ".part", self.state_path)

    def site(self, tree):
        return self.at(tree, self.state["image"]["prefix"])

    def need(self, step):
        if step not in self.state:
            raise Failed(f"the step '{step}' has to come first")

    # image ------------------------------------------------------------------------------------------

    def image(self):
        for name in ("image", "original"):
            shutil.rmtree(self.at(name), ignore_errors=True)
        start = time.monotonic()
        made = image.make(self.at("image"), self.options.package, self.options.site)
        made["seconds"] = round(time.monotonic() - start, 1)
        made["unpacked"] = image.unpack(self.at("image"), self.at("original"))
        self.state["image"] = made
        return []

    # slim -------------------------------------------------------------------------------------------

    def slim_to(self, name, target):
        """Writes and unpacks an image for a target, next to the original."""
        self.need("image")
        for one in (f"{name}-image", name):
            shutil.rmtree(self.at(one), ignore_errors=True)
        with open(self.at("plan.json"), "w", encoding="utf-8") as file:
            json.dump(PLAN, file)
        names = {"image": self.at("image"), "out": self.at(f"{name}-image"), "plan": self.at("plan.json"), "target": target}
        command = [part.format(**names) for part in SLIM + PRUNE] + self.options.slim_args
        # Only standard output holds the JSON: what is told beside it goes to the log.
        report, log = self.at(f"{name}.json"), self.at(f"{name}.log")
        shell = ["sh", "-c", 'out=$1; shift; exec "$@" >"$out"', "sh", report, self.options.cutaway, *command]
        environment = {**os.environ, "CUTAWAY_NO_CACHE": "1"}
        status, seconds, processor, memory = measured(shell, LIMITS["slim"], log, environment)
        row = {"command": [os.path.basename(self.options.cutaway), *command], "status": status}
        row.update(seconds=round(seconds, 1), processor_seconds=round(processor, 1), peak_mib=round(memory))
        if status != 0:
            raise Failed(f"cutaway slim {'took too long' if status is None else f'ended with status {status}'}: {tail(log)}")
        with open(report, encoding="utf-8") as file:
            told = json.load(file)
        row["gpu_code"] = told.get("gpu_code")
        row["before"], row["after"] = told.get("before"), told.get("after")
        row["unpacked"] = image.unpack(self.at(f"{name}-image"), self.at(name))
        row["changed"] = changed(self.at("original"), self.at(name))
        row["told"] = tail(log)
        return row

    def problems_of_slim(self, row):
        if not row["changed"]["differ"]:
            return ["not one file was changed"]
        found = [f"{path} is missing in one of both" for path in row["changed"]["missing"]]
        listed = {one["path"].lstrip("/") for one in (row["gpu_code"] or {}).get("libraries", [])}
        if not listed:
            return [*found, "the report names no pruned library"]
        return found + [f"{path} was changed, and the report does not name it" for path in row["changed"]["differ"] if path not in listed]

    def slim(self):
        self.state["slim"] = self.slim_to("pruned", self.options.target)
        return self.problems_of_slim(self.state["slim"])

    # work -------------------------------------------------------------------------------------------

    def python(self, tree, loading):
        """A command and an environment in which only the packages of a tree are found."""
        cache = tempfile.mkdtemp(dir=self.at("tmp"))
        environment = {
            **os.environ,
            "PYTHONPATH": self.site(tree),
            "PYTHONSAFEPATH": "1",
            "PYTHONNOUSERSITE": "1",
            "CUDA_MODULE_LOADING": loading,
            # Nothing that another run compiled is taken from a cache.
            "CUDA_CACHE_DISABLE": "1",
            "USE_PYTORCH_KERNEL_CACHE": "0",
            "TORCHINDUCTOR_CACHE_DIR": os.path.join(cache, "inductor"),
            "TRITON_CACHE_DIR": os.path.join(cache, "triton"),
            "TMPDIR": cache,
            # One process and one GPU: multicast is of no use, and it can upset machines that others share.
            "NCCL_NVLS_ENABLE": "0",
            "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
            "NVSHMEM_DISABLE_NVLS": "1",
        }
        environment.pop("PYTHONHOME", None)
        return [sys.executable, "-S"], environment, cache

    def one_run(self, tree, loading, number, again=()):
        name = f"{tree}-{loading.lower()}-{number}"
        lines, log = self.at(f"{name}.jsonl"), self.at(f"{name}.log")
        command, environment, cache = self.python(tree, loading)
        command += [os.path.join(HERE, "work.py"), "--device", self.options.device, "-o", lines]
        if again:
            command += ["--repeat", str(REPEATS), "--only", *again]
        elif self.options.only:
            command += ["--only", *self.options.only]
        status, seconds, _, memory = measured(command, LIMITS["work"], log, environment)
        shutil.rmtree(cache, ignore_errors=True)
        rows, end = {}, None
        if os.path.exists(lines):
            with open(lines, encoding="utf-8") as file:
                for line in file:
                    row = json.loads(line)
                    if row.get("end"):
                        end = row
                    else:
                        rows[row["name"]] = row
        made = {"tree": tree, "loading": loading, "status": status, "seconds": round(seconds, 1), "peak_mib": round(memory)}
        made.update(rows=rows, end=end)
        if status != 0 or end is None:
            made["told"] = tail(log)
        return made

    def problems_of_run(self, run):
        """What makes a run no proof of its tree: it did not come to its end, or ran other libraries."""
        name = f"{run['tree']}, {run['loading'].lower()}"
        if run["status"] != 0 or run["end"] is None:
            how = "took too long" if run["status"] is None else f"ended with status {run['status']}"
            return [f"{name}: {how} after {len(run['rows'])} kinds of work: {last_line(run.get('told', ''))}"]
        root = os.path.realpath(self.at(run["tree"]))
        ours = {file for _, _, files in os.walk(root) for file in files if ".so" in file}
        return [
            f"{name}: {path} was loaded from elsewhere"
            for path in run["end"]["libraries"]
            if os.path.basename(path) in ours and not os.path.realpath(path).startswith(root + os.sep)
        ]

    def work(self):
        self.need("slim")
        order = [("original", "LAZY", 1), ("pruned", "LAZY", 1), ("original", "LAZY", 2), ("original", "EAGER", 1), ("pruned", "EAGER", 1)]
        runs = self.state.setdefault("runs", {})
        # A call that had no time for all of them goes on where the last one ended.
        if len(runs) == len(order):
            runs.clear()
        begin = time.monotonic()
        for tree, loading, number in order:
            name = f"{tree}-{loading.lower()}-{number}"
            if name not in runs and time.monotonic() - begin < self.options.seconds:
                runs[name] = self.one_run(tree, loading, number)
                self.save()
        missing = [f"{tree}-{loading.lower()}-{number}" for tree, loading, number in order]
        missing = [name for name in missing if name not in runs]
        if missing:
            return [f"no time was left for {', '.join(missing)}: call the step again"]
        problems = [problem for run in runs.values() for problem in self.problems_of_run(run)]
        self.state["work"], found = judge(runs)
        doubtful = [row["name"] for row in self.state["work"]["rows"] if row.get("other_result")]
        if doubtful:
            repeats = {tree: self.one_run(tree, "LAZY", 3, doubtful) for tree in ("original", "pruned")}
            self.state["repeats"] = repeats
            problems += [problem for run in repeats.values() for problem in self.problems_of_run(run)]
            self.state["work"], found = judge(runs, repeats)
        return problems + found

    # startup ----------------------------------------------------------------------------------------

    def startup(self):
        self.need("slim")
        times = {"original": [], "pruned": []}
        kernel = FIRST_KERNEL.replace("'cuda'", repr(self.options.device))
        # The first round warms up: it compiles Python's files and reads the libraries into memory.
        for number in range(STARTUP_RUNS + 1):
            # The order turns with every round.
            for tree in sorted(times, reverse=number % 2 == 1):
                command, environment, cache = self.python(tree, "LAZY")
                log = self.at("startup.log")
                status, seconds, _, _ = measured([*command, "-c", kernel], LIMITS["startup"], log, environment)
                shutil.rmtree(cache, ignore_errors=True)
                if status != 0:
                    raise Failed(f"the first kernel of the {tree} copy failed: {last_line(tail(log))}")
                if number:
                    times[tree].append(round(seconds, 3))
        medians = {tree: statistics.median(rows) for tree, rows in times.items()}
        ratio = medians["pruned"] / medians["original"]
        self.state["startup"] = {"seconds": times, "median": medians, "ratio": round(ratio, 4)}
        return [f"start-up takes {ratio:.3f} times as long"] if ratio > 1.05 else []

    # wrong ------------------------------------------------------------------------------------------

    def wrong(self):
        row = self.slim_to("wrong", self.options.wrong_target)
        self.state["wrong"] = row
        problems = self.problems_of_slim(row)
        run = self.one_run("wrong", "LAZY", 1)
        # A process in which calls fail may well end badly: each line is judged for itself.
        rows = run["rows"]
        reference = self.state.get("runs", {}).get("original-lazy-1", {}).get("rows", {})
        stable = {one["name"] for one in self.state.get("work", {}).get("rows", []) if one["verdict"] == "same"}
        row["run"] = run
        row["no_kernel_image"] = sorted(name for name, one in rows.items() if one.get("no_kernel_image"))
        row["other_errors"] = {name: one["error"] for name, one in rows.items() if not one["ok"] and not one.get("no_kernel_image")}
        row["succeeded"] = sorted(name for name, one in rows.items() if one["ok"])
        row["codes"] = sorted({one["code"] for one in rows.values() if one.get("no_kernel_image") and one.get("code") is not None})
        first = rows.get("elementwise", {})
        if not first.get("no_kernel_image"):
            problems.append(f"without its code a kernel gives not 'no kernel image' but {first.get('error', 'a result')}")
        if any(code != 209 for code in row["codes"]):
            problems.append(f"the codes of 'no kernel image' are {row['codes']} in place of 209")
        for name in row["succeeded"]:
            if name in stable and rows[name]["digest"] != reference[name]["digest"]:
                problems.append(f"{name}: without its code the result is another one instead of an error")
        shutil.rmtree(self.at("wrong"), ignore_errors=True)
        shutil.rmtree(self.at("wrong-image"), ignore_errors=True)
        return problems

    # report -----------------------------------------------------------------------------------------

    def report(self):
        from table import table

        text = table(self.state, self.options)
        os.makedirs(self.options.out, exist_ok=True)
        with open(os.path.join(self.options.out, "table.md"), "w", encoding="utf-8") as file:
            file.write(text)
        print(text)
        return []

    def run(self, steps):
        os.makedirs(self.at("tmp"), exist_ok=True)
        failed = False
        for step in steps:
            start = time.monotonic()
            try:
                problems = getattr(self, step)()
            except (Failed, OSError, ValueError, tarfile.TarError) as error:
                problems = [str(error)]
            if step != "report":
                self.state["problems"][step] = problems
            self.save()
            print(f"step {step}: {time.monotonic() - start:.1f} s, {len(problems)} problems", file=sys.stderr, flush=True)
            for problem in problems[:20]:
                print(f"  {step}: {problem}", file=sys.stderr, flush=True)
            failed |= bool(problems)
        os.makedirs(self.options.out, exist_ok=True)
        shutil.copy(self.state_path, os.path.join(self.options.out, "result.json.part"))
        os.replace(os.path.join(self.options.out, "result.json.part"), os.path.join(self.options.out, "result.json"))
        return failed or any(self.state["problems"].values())


def changed(before, after):
    """Files whose content differs, and those that one of both lacks."""

    def listed(root):
        return {os.path.relpath(os.path.join(at, name), root) for at, _, names in os.walk(root) for name in names}

    def digest(path):
        if os.path.islink(path):
            return os.readlink(path)
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else slow_digest(file)

    def differs(name):
        return digest(os.path.join(before, name)) != digest(os.path.join(after, name))

    old, new = listed(before), listed(after)
    # Python compiles what it imports, in the tree that ran.
    missing = sorted(name for name in old ^ new if "__pycache__" not in name)
    both = sorted(old & new)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        differ = [name for name, other in zip(both, pool.map(differs, both)) if other]
    return {"files": len(both), "differ": [name for name in differ if "__pycache__" not in name], "missing": missing}


def slow_digest(file):
    made = hashlib.sha256()
    while piece := file.read(1 << 20):
        made.update(piece)
    return made.hexdigest()


def judge(runs, repeats=None):
    """Each kind of work: same, differs, not deterministic in the original, or not done there at all."""
    originals = [run for run in runs.values() if run["tree"] == "original"]
    pruned = [run for run in runs.values() if run["tree"] == "pruned"]
    names = list(dict.fromkeys(name for run in runs.values() for name in run["rows"]))
    rows, problems = [], []
    for name in names:
        before = [run["rows"].get(name, {"ok": False, "error": "the run ended before it"}) for run in originals]
        after = [(run, run["rows"].get(name, {"ok": False, "error": "the run ended before it"})) for run in pruned]
        row = {"name": name}
        if not any(one["ok"] for one in before):
            row.update(verdict="not done", why=before[0]["error"])
        elif not all(one["ok"] for one in before):
            row.update(verdict="unstable", why=next(one["error"] for one in before if not one["ok"]))
        else:
            broken = [f"{run['loading'].lower()}: {one['error']}" for run, one in after if not one["ok"]]
            digests = {one["digest"] for one in before}
            others = [run["loading"].lower() for run, one in after if one["ok"] and one["digest"] not in digests]
            if broken:
                row.update(verdict="differs", why="; ".join(broken))
            elif len(digests) > 1:
                row.update(verdict="not deterministic", why="two runs of the original differ")
            elif others:
                results = {tree: run["rows"].get(name, {}).get("digests", {}) for tree, run in (repeats or {}).items()}
                if len(results.get("original", {})) > 1:
                    counts = f"{len(results['original'])} results in {REPEATS} repetitions of the original"
                    shared = len(set(results["original"]) & set(results["pruned"]))
                    row.update(verdict="not deterministic", why=f"{counts}, {len(results['pruned'])} of the pruned, {shared} in both")
                else:
                    row.update(verdict="differs", why=f"another result ({', '.join(others)})", other_result=True)
            else:
                row.update(verdict="same", digest=digests.pop())
        rows.append(row)
        if row["verdict"] == "differs":
            problems.append(f"{name}: {row['why']}")
    same = sum(row["verdict"] == "same" for row in rows)
    if same < FEWEST:
        problems.append(f"only {same} kinds of work were compared bit for bit; {FEWEST} are wanted")
    return {"rows": rows, "same": same}, problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cutaway", required=True)
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "cutaway-pruned-gpu"))
    parser.add_argument("--out", default=os.environ.get("OUT"))
    parser.add_argument("--target", default="9.0")
    parser.add_argument("--wrong-target", default="8.0")
    parser.add_argument("--slim-args", default="--shrink", type=str.split)
    parser.add_argument("--package", action="append")
    parser.add_argument("--site", action="append")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    options = parser.parse_args()
    options.out, options.package = options.out or options.work, options.package or ["torch"]
    options.cutaway = os.path.abspath(options.cutaway)
    steps = options.steps.split(",")
    if set(steps) - set(STEPS):
        parser.error(f"the steps are {','.join(STEPS)}")
    if not os.access(options.cutaway, os.X_OK):
        parser.error(f"{options.cutaway} is no program")
    sys.exit(1 if Proof(options).run(steps) else 0)


if __name__ == "__main__":
    main()
