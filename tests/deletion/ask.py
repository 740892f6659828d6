#!/usr/bin/env python3
"""The parts of run.sh that look into an image: what works in it, what Cutaway calls safe, what works without that.

    ask.py ask ROOT CONFIG ASKS OUT [BEFORE]    what works in the root filesystem at ROOT
    ask.py delete ROOT REPORT OUT               deletes the paths of all safe findings of REPORT from ROOT
    ask.py judge FOLDER                         what worked before and fails after; one line of figures

ROOT is an unpacked root filesystem that may be written to. CONFIG is the image's config from
`buildah inspect --type image`. The lines of ASKS are shell commands, whose exit code and output must stay the same.
With BEFORE, an earlier answer, only what worked then is asked. FOLDER has before.json, after.json, deleted.json and
report.json.

`ask` runs programs of the image as root in a chroot. run.sh starts it in namespaces of its own (mounts, processes,
network). It needs no Python in the image, and knows nothing of Cutaway.
"""

import json
import os
import re
import selectors
import shutil
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True

# Seconds that a program, an import of a module and a command of `asks` may take.
PROGRAM_LIMIT, IMPORT_LIMIT, COMMAND_LIMIT = 6, 60, 120
# Bytes of output that are kept of a command.
OUTPUT_LIMIT = 20_000
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NOT_OF_THE_IMAGE = {"/proc", "/sys", "/dev", "/run"}
# The driver's libraries come from the host when a container starts.
OF_THE_DRIVER = re.compile(r"lib(cuda|nvidia-ml|nvcuvid|nvidia-[a-z0-9-]+|cudadebugger)\.so[.\d]*$")
# Programs that act on all processes or on the machine whatever their arguments are.
NOT_STARTED = {"killall5", "reboot", "shutdown", "halt", "poweroff", "init", "telinit", "sulogin", "agetty"}
# A module of a test suite may go with its suite; nothing else may.
OF_A_TEST_SUITE = re.compile(r"(^|\.)(tests?|testing_data|idle_test|_?conftest|test_[^.]*|[^.]*_test)(\.|$)")

# Runs in the image's Python. Lists the modules below sys.path without importing any; packages without an
# `__init__` count in the folders of installed packages only.
LIST_MODULES = r"""
import importlib.machinery as m, json, os, sys
suffixes = sorted(m.all_suffixes(), key=len, reverse=True)
found = {}
def stem(name):
    for suffix in suffixes:
        if name.endswith(suffix):
            return name[:-len(suffix)]
def walk(folder, prefix, depth, loose):
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return False
    some = False
    for name in entries:
        full = os.path.join(folder, name)
        if os.path.isdir(full):
            if not name.isidentifier() or name == "__pycache__" or depth > 12:
                continue
            inside = os.listdir(full)
            if any(stem(each) == "__init__" for each in inside):
                found.setdefault(prefix + name, full)
                walk(full, prefix + name + ".", depth + 1, False)
                some = True
            elif loose and walk(full, prefix + name + ".", depth + 1, True):
                found.setdefault(prefix + name, full)
                some = True
        else:
            module = stem(name)
            if module and module.isidentifier() and module not in ("__init__", "__main__"):
                found.setdefault(prefix + module, full)
                some = True
    return some
for folder in sys.path:
    if folder and os.path.isdir(folder):
        walk(folder, "", 0, "-packages" in folder)
json.dump({"prefix": sys.prefix, "modules": found}, sys.stdout)
"""

# Runs in the image's Python: imports the modules that it reads, and says of each whether that worked.
IMPORT_MODULES = r"""
import importlib, os, sys, warnings
warnings.simplefilter("ignore")
out = os.fdopen(os.dup(1), "w")
null = os.open(os.devnull, os.O_RDWR)
names = sys.stdin.read().split()
for number in 0, 1, 2:
    os.dup2(null, number)
sys.argv = ["ask"]
for name in names:
    out.write("> %s\n" % name); out.flush()
    try:
        importlib.import_module(name)
        words = "ok"
    except BaseException as error:
        words = "%s: %s" % (type(error).__name__, str(error).replace("\n", " ")[:200])
    out.write("%s\n" % words); out.flush()
os._exit(0)
"""

PERL_MODULES = r"""
my %seen;
sub walk { my ($folder, $prefix) = @_; opendir my $h, $folder or return;
  for my $name (readdir $h) { next if $name =~ /^\.\.?$/; my $full = "$folder/$name";
    if (-d $full && !-l $full) { walk($full, "$prefix$name/") } elsif ($name =~ /\.pm$/) { $seen{"$prefix$name"} = 1 } } }
walk($_, "") for @INC;
print "$_\n" for sort keys %seen;
"""

PERL_REQUIRE = r"""
$| = 1; open my $out, ">&", \*STDOUT; select $out; $| = 1;
for my $n (@ARGV) { local @ARGV; local $_; my $ok = eval { local $SIG{__WARN__} = sub {}; require $n; 1 };
  print $out "\n\x01 $n ", ($ok ? 0 : 1), "\n"; }
"""

NODE_REQUIRE = r"""
process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
const fs = require('fs');
for (const name of process.argv.slice(1)) {
  let words = 1;
  try { require(name); words = 0; } catch (error) { }
  fs.writeSync(1, `\n\x01 ${name} ${words}\n`);
}
process.exit(0);
"""

NODE_MODULES = r"""
const fs = require('fs'), path = require('path'), found = new Set();
const walk = (folder) => {
  for (const name of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    if (name.startsWith('.')) continue;
    const full = path.join(folder, name);
    if (name.startsWith('@')) { walk(full); continue; }
    if (!fs.existsSync(path.join(full, 'package.json'))) continue;
    found.add(full);
    walk(path.join(full, 'node_modules'));
  }
};
process.argv.slice(1).forEach(walk);
console.log(JSON.stringify([...found].sort()));
"""


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, sort_keys=True)


def note(words):
    print(f"ask: {words}", file=sys.stderr, flush=True)


class Image:
    """An unpacked image and how its programs are started. `enter` makes its root that of this process."""

    def __init__(self, root, config):
        self.root = os.path.realpath(root)
        self.config = config
        pairs = dict(entry.split("=", 1) for entry in config.get("Env") or [] if "=" in entry)
        self.environment = {"PATH": DEFAULT_PATH, "HOME": "/root", "TERM": "dumb", **pairs}
        # Two cores, and a before that must not leave anything for the after.
        self.environment.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
        self.folder = config.get("WorkingDir") or "/"
        # How much longer than the limits something may take.
        self.patience = 1

    def enter(self):
        os.chroot(self.root)
        os.chdir("/")
        self.root = ""
        if not os.path.isdir(self.folder):
            self.folder = "/"

    def start(self, words, **options):
        return subprocess.Popen(words, env=self.environment, cwd=self.folder, start_new_session=True, **options)

    def run(self, words, limit):
        """Exit code (or "time limit", or the reason why it does not start) and output."""
        try:
            pipe = subprocess.PIPE
            process = self.start(words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT)
        except OSError as error:
            return error.strerror, ""
        try:
            output, _ = process.communicate(timeout=limit * self.patience)
            code = process.returncode
        except subprocess.TimeoutExpired:
            output, code = b"", "time limit"
        end(process)
        return code, output.decode("utf-8", "replace")

    def at(self, path):
        return self.root + path

    def walk(self):
        """Every path that is no folder, with its status."""
        for folder, folders, names in os.walk(os.fsencode(self.root or "/")):
            inside = os.fsdecode(folder)[len(self.root) :] or "/"
            folders[:] = [
                name for name in folders if os.path.join(inside, os.fsdecode(name)) not in NOT_OF_THE_IMAGE
            ]
            for name in names:
                full = os.path.join(folder, name)
                yield os.fsdecode(full)[len(self.root) :], os.lstat(full)

    def resolves(self, path):
        """The path behind links; none when there is nothing. Only inside."""
        done = os.path.realpath(path)
        return done if os.path.exists(done) else None


def end(process):
    """Ends a program with everything that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass
    for pipe in process.stdin, process.stdout:
        if pipe:
            try:
                pipe.close()
            except OSError:
                pass
    process.wait()


def mount_devices(root):
    """What programs expect of any container; run.sh made the namespace that this stays in."""
    mount = lambda *words: subprocess.run(["mount", *words], check=True)
    for name in "proc", "dev", "run":
        os.makedirs(f"{root}/{name}", exist_ok=True)
    mount("-t", "proc", "proc", f"{root}/proc")
    mount("-t", "tmpfs", "tmpfs", f"{root}/dev")
    for name in "null", "zero", "full", "random", "urandom":
        open(f"{root}/dev/{name}", "wb").close()
        mount("--bind", f"/dev/{name}", f"{root}/dev/{name}")
    os.mkdir(f"{root}/dev/shm", 0o1777)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{root}/dev/{name}")
    os.symlink("/proc/self/fd", f"{root}/dev/fd")
    # No mount: programs of an image may have left something there that counts.
    os.makedirs(f"{root}/tmp", exist_ok=True)


# --- what is asked ---


def interpreter_of(full):
    """The loader that an ELF file names; none when it is no ELF file or names none."""
    try:
        with open(full, "rb") as file:
            head = file.read(4096)
    except OSError:
        return None
    if head[:4] != b"\x7fELF":
        return None
    found = re.search(rb"(/lib[a-z0-9/_.-]*/ld-[a-z0-9_.-]+\.so\.?\d*)\0", head)
    return found.group(1).decode() if found else ""


def ask_elf(image):
    """The names that the image's own loader does not find for each ELF file."""
    loaders, seen = {}, set()
    for path, status in image.walk():
        if stat.S_ISREG(status.st_mode) and status.st_ino not in seen and status.st_size >= 64:
            loader = interpreter_of(path)
            if loader is not None:
                seen.add(status.st_ino)
                loaders[path] = loader or "/lib64/ld-linux-x86-64.so.2"

    def links(path):
        code, output = image.run([loaders[path], "--list", path], PROGRAM_LIMIT)
        missing = re.findall(r"^\s*(\S+) => not found", output, re.MULTILINE)
        missing += re.findall(r"error while loading shared libraries: (\S+): cannot open", output)
        return [code, sorted({name for name in missing if not OF_THE_DRIVER.match(name)})]

    return side_by_side(links, loaders)


def ask_programs(image, known):
    """How each program on PATH can be started: [option, exit code, file behind links]. The option is --help where
    only that works. After the deletion the programs that worked before are asked the same."""
    if known:
        files = {path: words for path, words in known.items() if words[1] == 0}
        again = lambda path, option, _, target: [option, image.run([path, option], PROGRAM_LIMIT)[0], target]
        return side_by_side(lambda path: again(path, *files[path]), files)
    files = {}
    for folder in dict.fromkeys(image.environment["PATH"].split(":")):
        full = image.resolves(folder) if folder.startswith("/") else None
        for name in sorted(os.listdir(full)) if full else []:
            target = image.resolves(f"{full}/{name}")
            if target and name not in NOT_STARTED and os.path.isfile(target) and os.access(target, os.X_OK):
                files[f"{full}/{name}"] = target

    def start(path):
        for option in "--version", "--help":
            code, _ = image.run([path, option], PROGRAM_LIMIT)
            if code in (0, "time limit"):
                break
        return [option, code, files[path]]

    return side_by_side(start, files)


def side_by_side(question, names):
    """Answers by name; some programs wait rather than work."""
    with ThreadPoolExecutor(3) as pool:
        return dict(zip(names, pool.map(question, names)))


def pythons(image):
    """One interpreter for each prefix: (path, prefix, modules)."""
    found = {}
    for path, status in image.walk():
        if not re.search(r"/bin/python(3(\.\d+)?)?$", path):
            continue
        target = image.resolves(path)
        if not target or not os.access(target, os.X_OK):
            continue
        code, output = image.run([path, "-c", LIST_MODULES], PROGRAM_LIMIT * 4)
        if code != 0:
            continue
        answer = json.loads(output[output.index("{") :])
        if answer["prefix"] not in found:
            found[answer["prefix"]] = (path, answer["modules"])
    return found


def import_all(image, python, names):
    """What importing each of these says, in one process as long as that lives."""
    answers, rest = {}, list(names)
    limit = IMPORT_LIMIT * image.patience
    while rest:
        pipe = subprocess.PIPE
        process = image.start([python, "-c", IMPORT_MODULES], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        try:
            process.stdin.write("\n".join(rest).encode())
            process.stdin.close()
        except OSError:
            pass
        current, buffer, deadline, reason = None, b"", time.monotonic() + limit, "the process ended"
        selector = selectors.DefaultSelector()
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0, deadline - time.monotonic())):
                reason = "time limit"
                break
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                break
            buffer += piece
            *lines, buffer = buffer.split(b"\n")
            for line in lines:
                words = line.decode("utf-8", "replace")
                if words.startswith("> "):
                    current = words[2:]
                    deadline = time.monotonic() + limit
                elif current:
                    answers[current], current = words, None
        selector.close()
        end(process)
        if current:
            answers[current] = reason
        left = [name for name in rest if name not in answers]
        if len(left) == len(rest):
            answers.update({name: reason for name in left})
            left = []
        rest = left
    return answers


def ask_python(image, known):
    """Which modules can be imported, by prefix. After the deletion those that were there before are asked."""
    answers = {}
    found = {prefix: tuple(value[:2]) for prefix, value in known.items()} if known else pythons(image)
    for prefix, (python, modules) in sorted(found.items()):
        if known:
            # In the same order with what failed by an exception: that may have left parts of it loaded, without
            # which others fail as well. What ended the process or took too long would only take long again.
            ends = ("time limit", "the process ended")
            modules = {name: file for name, file in modules.items() if known[prefix][2].get(name) not in ends}
        packages = {}
        for name in sorted(modules):
            packages.setdefault(name.partition(".")[0], []).append(name)
        said = {}
        for _, names in sorted(packages.items()):
            said.update(import_all(image, python, names))
        # What one module needs of another that failed before it may differ: alone it must work. A few are enough
        # to tell whether it is that.
        worked = {name for name, words in known[prefix][2].items() if words == "ok"} if known else set()
        failed = [name for name in sorted(worked) if said.get(name) != "ok"]
        for name in failed if len(failed) <= 20 else []:
            said.update(import_all(image, python, [name]))
        note(f"{python}: {len(said)} modules of {len(packages)} top-level names")
        answers[prefix] = [python, modules, said]
    return answers


def ask_perl(image):
    perl = next((path for path in ("/usr/bin/perl", "/usr/local/bin/perl") if image.resolves(path)), None)
    if not perl:
        return {}
    code, output = image.run([perl, "-e", PERL_MODULES], PROGRAM_LIMIT * 4)
    names = [name for name in output.split("\n") if name] if code == 0 else []
    return many(image, [perl, "-e", PERL_REQUIRE], [perl, "-e", "require $ARGV[0]; 1"], names)


def many(image, several, alone, names):
    """Exit codes of loading each of these, a few in one process. What ends such a process is asked alone."""
    answers = {}
    for start in range(0, len(names), 30):
        part = names[start : start + 30]
        _, output = image.run([*several, *part], PROGRAM_LIMIT * 4)
        said = dict(line[2:].rsplit(" ", 1) for line in output.split("\n") if re.match("\x01 .* [01]$", line))
        for name in part:
            answers[name] = int(said[name]) if name in said else image.run([*alone, name], PROGRAM_LIMIT)[0]
    return answers


def ask_node(image):
    node = next((path for path in ("/usr/bin/node", "/usr/local/bin/node") if image.resolves(path)), None)
    if not node:
        return {}
    roots = []
    for folder, folders, _ in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in NOT_OF_THE_IMAGE]
        if os.path.basename(folder) == "node_modules":
            roots.append(folder)
            folders[:] = []
    code, output = image.run([node, "-e", NODE_MODULES, *roots], PROGRAM_LIMIT * 4)
    names = json.loads(output) if code == 0 else []
    return many(image, [node, "-e", NODE_REQUIRE], [node, "-e", "require(process.argv[1])"], names)


def ask_r(image):
    if not image.resolves("/usr/bin/Rscript"):
        return {}
    listing = "cat(rownames(installed.packages()), sep='\\n')"
    code, output = image.run(["/usr/bin/Rscript", "-e", listing], PROGRAM_LIMIT * 4)
    answers = {}
    for name in output.split() if code == 0 else []:
        load_it = f"suppressMessages(library({name}, character.only = FALSE)); library(help = {name})"
        answers[name] = image.run(["/usr/bin/Rscript", "-e", load_it], PROGRAM_LIMIT * 4)[0]
    return answers


def ask_commands(image, lines, known):
    """The image's own command, and the lines of the case. A service that runs on is a time limit both times."""
    answers = {}
    lasts = {line for line, words in (known or {}).items() if words[0] == "time limit"}
    limit = lambda line: COMMAND_LIMIT / image.patience if line in lasts else COMMAND_LIMIT
    words = [*(image.config.get("Entrypoint") or []), *(image.config.get("Cmd") or [])]
    if words:
        name = "the image's command"
        code, output = image.run(search(image, words), limit(name))
        answers[name] = [code, output[-OUTPUT_LIMIT:]]
    for line in lines:
        code, output = image.run(["/bin/sh", "-c", line], limit(line))
        answers[line] = [code, output[-OUTPUT_LIMIT:]]
    return answers


def search(image, words):
    """The words of a command with the program's full path, as an engine would find it."""
    if "/" in words[0]:
        return words
    for folder in image.environment["PATH"].split(":"):
        if image.resolves(f"{folder}/{words[0]}"):
            return [f"{folder}/{words[0]}", *words[1:]]
    return words


def ask(root, config, asks, out, before=None):
    image = Image(root, load(config)["OCIv1"]["config"])
    known = load(before) if before else {}
    # What was in time before must not fail for being slower.
    image.patience = 5 if before else 1
    with open(asks, encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if line and not line.startswith("#")]
    mount_devices(image.root)
    # A folder of this side, since the file is written when only the image can be seen.
    folder = os.open(os.path.dirname(os.path.abspath(out)), os.O_RDONLY)
    image.enter()
    answers = {}
    for name, question in (
        ("elf", lambda: ask_elf(image)),
        ("python", lambda: ask_python(image, known.get("python"))),
        ("perl", lambda: ask_perl(image)),
        ("node", lambda: ask_node(image)),
        ("r", lambda: ask_r(image)),
        ("commands", lambda: ask_commands(image, lines, known.get("commands"))),
        # Last, since some of them write.
        ("programs", lambda: ask_programs(image, known.get("programs"))),
    ):
        begun = time.monotonic()
        answers[name] = question()
        note(f"{name}: {len(answers[name])} in {time.monotonic() - begun:.0f} s")
    os.fchdir(folder)
    save(os.path.basename(out), answers)
    return 0


# --- what is deleted ---


def path_of(shown):
    r"""A path of the report as the file system has it: `\xNN` and `\\` are bytes."""
    plain = re.sub(
        rb"\\(x[0-9a-fA-F]{2}|\\)",
        lambda found: b"\\" if found[1] == b"\\" else bytes([int(found[1][1:], 16)]),
        shown.encode(),
    )
    return os.fsdecode(plain)


def delete(root, report, out):
    """Deletes what is safe. Paths of files that an upper layer overwrote name the upper layer's file here: they
    stay. Bytes count once for an inode, and only when none of its names stay."""
    report = load(report)
    image = Image(root, {})
    inodes = {}
    for path, status in image.walk():
        if stat.S_ISREG(status.st_mode):
            inodes.setdefault(status.st_ino, (status.st_size, set()))[1].add(path)
    by_path = {path: number for number, (_, paths) in inodes.items() for path in paths}
    gone, absent, findings = {}, 0, []
    for finding in report["findings"]:
        if finding["verdict"] != "safe" or finding["category"] == "overwritten":
            continue
        count = 0
        for shown in finding["paths"]:
            path = path_of(shown)
            full = image.at(path)
            if os.path.isdir(full) and not os.path.islink(full):
                below = [name for name in by_path if name.startswith(f"{path}/")]
            elif os.path.lexists(full):
                below = [path]
            else:
                absent += 1
                continue
            for name in below:
                gone.setdefault(name, finding.get("id") or finding["rule"])
                count += 1
            (shutil.rmtree if os.path.isdir(full) and not os.path.islink(full) else os.unlink)(full)
        findings.append([finding.get("id") or finding["rule"], finding["bytes"], count])
    freed = sum(size for size, paths in inodes.values() if all(path in gone for path in paths))
    after = report["plan"]["merged_bytes_after"]
    planned = None if after is None else report["totals"]["merged_bytes"] - after
    everything = {"freed": freed, "planned": planned, "absent": absent, "findings": findings, "paths": gone}
    save(out, everything)
    note(f"deleted {len(gone)} paths, {freed} bytes; {absent} paths of findings are not in the merged view")
    return 0


# --- what failed ---

# Modules that start a compiler when they are loaded, in packages that depend on none: removing the compiler with the
# package manager breaks them as well. They are counted, not hidden.
STARTS_A_COMPILER = {("perl", "File/FcntlLock/Inline.pm")}


def without_times(output):
    """The output of a program without the times and process ids of its log lines."""
    output = re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d([.,]\d+)?", "TIME", output)
    return re.sub(r"^([IWEF])\d{4} \d\d:\d\d:\S+ +\d+ ", r"\1 ", output, flags=re.MULTILINE)


def changes(before, after, deleted):
    """Every fault as a line; how many modules went with their test suite, programs are removed, and modules start a
    compiler that is removed."""
    faults, suites, removed, compile_first = [], 0, 0, 0
    compiler_removed = any(re.search(r"/(cc1|[\w-]*gcc(-\d+)?)$", path) for path in deleted)
    for path, (code, missing) in before["elf"].items():
        now = after["elf"].get(path)
        if now is None:
            # Static data of an image may be ELF as well; what is deleted is not asked any more.
            if path not in deleted:
                faults.append(f"elf: {path} is not there any more and was not deleted")
        elif set(now[1]) - set(missing) or (code == 0 and now[0] != 0):
            faults.append(f"elf: {path} no longer finds {', '.join(sorted(set(now[1]) - set(missing)))} ({now[0]})")
    for prefix, (_, modules, said) in before["python"].items():
        then = after["python"].get(prefix, [None, None, {}])[2]
        for name, words in said.items():
            if words != "ok" or then.get(name) == "ok":
                continue
            # A module of a package that fails is there only when the failure left parts of it loaded.
            parents = [name.rsplit(".", up)[0] for up in range(1, name.count(".") + 1)]
            if any(said.get(parent, "ok") != "ok" for parent in parents):
                continue
            file = modules[name]
            if OF_A_TEST_SUITE.search(name) and (file in deleted or f"{file}/__init__.py" in deleted):
                suites += 1
                continue
            faults.append(f"python: {prefix}: import {name}: {then.get(name, 'not asked')}")
    for kind in "perl", "node", "r":
        for name, code in before[kind].items():
            if code == 0 and after[kind].get(name) != 0:
                if compiler_removed and (kind, name) in STARTS_A_COMPILER:
                    compile_first += 1
                    continue
                faults.append(f"{kind}: {name}: {after[kind].get(name, 'not there any more')}")
    for path, (option, code, target) in before["programs"].items():
        if code != 0 or after["programs"][path][1] == 0:
            continue
        if target in deleted:
            removed += 1
        else:
            faults.append(f"program: {path} {option}: {after['programs'][path][1]}")
    for line, (code, output) in before["commands"].items():
        now = after["commands"].get(line, ["not asked", ""])
        same = now[0] == code and without_times(now[1]) == without_times(output)
        if not same and code in (0, "time limit"):
            words = " | ".join(now[1].strip()[-300:].splitlines())
            faults.append(f"command: {line}: {now[0]} after, {code} before: {words}")
    return faults, suites, removed, compile_first


def judge(folder):
    at = lambda name: load(os.path.join(folder, name))
    before, after, deleted = at("before.json"), at("after.json"), at("deleted.json")
    faults, suites, removed, compile_first = changes(before, after, deleted["paths"])
    if deleted["planned"] is not None and deleted["planned"] != deleted["freed"]:
        faults.append(f"bytes: {deleted['planned']:,} are planned, {deleted['freed']:,} are freed")
    worked = sum(words == "ok" for _, _, said in before["python"].values() for words in said.values())
    others = [f"{len(before[kind])} {kind} modules" for kind in ("perl", "node", "r") if before[kind]]
    others += [f"{suites} modules of test suites removed"] if suites else []
    others += [f"{removed} programs removed"] if removed else []
    others += [f"{compile_first} modules that start the removed compiler"] if compile_first else []
    figures = [
        f"{len(deleted['paths'])} safe paths, {deleted['freed'] / 1e6:.1f} MB",
        f"{worked} Python modules",
        f"{len(before['elf'])} ELF files",
        f"{sum(code == 0 for _, code, _ in before['programs'].values())} programs",
        *others,
        f"{len(before['commands'])} commands",
        f"{len(faults)} faults",
    ]
    print("; ".join(figures))
    for fault in faults:
        print(f"  {fault}")
    return 1 if faults else 0


def main():
    what, *rest = sys.argv[1:]
    return {"ask": ask, "delete": delete, "judge": judge}[what](*rest)


if __name__ == "__main__":
    sys.exit(main())
