#!/usr/bin/env python3
"""The parts of build.sh that read: what is proposed, what is built, what it prints when it starts.

    judge.py context CASE FOLDER [FILES NUMBER]  the build context of a case, with the files of a proposal
    judge.py change CASE FOLDER WORD             changes the source file of a context that the case names
    judge.py setting CASE NAME                   a value of the case, empty when it has none
    judge.py dockerfile PROPOSALS NUMBER         the text of a proposal, the first is 0
    judge.py count PROPOSALS                     how many there are
    judge.py nothing PROPOSALS CASE              the reason for which there is none; a fault when there is one
    judge.py command CONFIG                      the words that a container starts, each ended by a zero byte
    judge.py weigh ROOT                          the bytes of a root filesystem, each inode once
    judge.py layers LAYOUT TAG                   the layers of an image, as JSON
    judge.py buildkit LAYOUT TAG DOCKERFILE      words the history of an image as BuildKit does
    judge.py compare CASE FOLDER NUMBER          all faults of a built proposal, or of `reference`, below its row
    judge.py failed CASE FOLDER NUMBER [WORDS]   the same for one that is not built or does not start

FOLDER has what build.sh put there. Of the original, the reference and each proposal (`original`, `reference`,
`0`, ...): .Dockerfile, .config, .root, .bytes, .layers, .out, and after the change .changed.layers and .changed.log.
Beside them proposals.json. Knows nothing of cutaway but the JSON that it prints.

case.json of a case:
    about           what it shows
    change          the source file that changes between two builds
    generated       files of the context that are made here: {path: bytes}
    git             bytes of a .git folder in the context
    dockerfile      false when the program does not get the file, but rebuilds it from the history
    nothing         true when there must be no proposal
    stages          the fewest and the most stages
    bases           images that the final stage may be on
    has, final_has  patterns that the file, or its final stage, must match
    final_lacks     patterns that the final stage must not match
"""

import gzip
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile

sys.dont_write_bytecode = True

# What the host gives to a container; no image has it.
OF_THE_DRIVER = re.compile(r"lib(cuda|nvidia-ml|nvcuvid|nvidia-[a-z0-9-]+|cudadebugger)\.so[.\d]*$")
# Lines that the entrypoint of the base image prints before the application does.
OF_THE_BASE = re.compile(r"== a stand-in|CUDA Version |WARNING: no driver|/opt/nvidia|$")
LOADER = "/lib64/ld-linux-x86-64.so.2"
# The furthest that a predicted size may be from the built one.
TOLERANCE = 0.03
# The least part of the reference's saving that a first proposal must bring.
LEAST_SAVING = 0.75
# A cache in the image that is no larger is not worth a line of a Dockerfile.
WORTH_A_LINE = 1 << 20
# Paths that one command of a RUN, or one COPY, may list.
MOST_PATHS = 5
# Nothing of these is in an image.
NOT_OF_THE_IMAGE = {"/proc", "/sys", "/dev", "/run"}
# Files of a case that are not of its context.
OF_THE_TEST = {"expected", "case.json", "reference.Dockerfile", "reference.dockerignore"}
USER_TABLES = re.compile(r"/etc/(passwd|shadow|group|gshadow|subuid|subgid)-?$")
APT = re.compile(r"\bapt(-get)?\b[^&|;]*\b(install|update|upgrade|dist-upgrade)\b")
APT_CLEAN = re.compile(r"rm -rf [^&|;]*/var/lib/apt/lists|--mount=type=(cache|tmpfs),\S*/var/lib/apt")
LEFT_BEHIND = {
    "a cache": re.compile(r"/root/\.cache/.|/home/[^/]+/\.cache/."),
    "version control": re.compile(r".*/\.git/"),
    "sources": re.compile(r"/src/."),
    "object files": re.compile(r"(?!/usr/(lib|lib64|local/cuda)[/-]).*\.o$"),
}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def case_of(folder):
    path = os.path.join(folder, "case.json")
    return load(path) if os.path.exists(path) else {}


# Contexts


def make_context(case, folder, proposals=None, number=None):
    settings = case_of(case)
    skip = lambda _, names: [name for name in names if name in OF_THE_TEST]
    shutil.copytree(case, folder, ignore=skip)
    for path, size in settings.get("generated", {}).items():
        write(os.path.join(folder, path), random.Random(path).randbytes(size))
    if settings.get("git"):
        pack = f"{hashlib.sha1(case.encode()).hexdigest()}.pack"
        write(os.path.join(folder, ".git", "HEAD"), b"ref: refs/heads/main\n")
        write(os.path.join(folder, ".git", "config"), b"[core]\n\trepositoryformatversion = 0\n")
        write(os.path.join(folder, ".git", "objects", "pack", f"pack-{pack}"), random.Random(1).randbytes(settings["git"]))
    if number == "reference":
        ignore = os.path.join(case, "reference.dockerignore")
        if os.path.exists(ignore):
            shutil.copy(ignore, os.path.join(folder, ".dockerignore"))
    elif number not in (None, "original"):
        # A .dockerignore is part of a proposal; its lines are added to those of the context.
        for hint in load(proposals)["proposals"][int(number)]["hints"]:
            if hint["file"] == ".dockerignore":
                with open(os.path.join(folder, ".dockerignore"), "a", encoding="utf-8") as ignore:
                    ignore.write("".join(f"{line}\n" for line in hint["lines"]))
    # Times are not those of the checkout, so that layers are found again.
    for place, folders, names in os.walk(folder):
        for name in folders + names:
            os.utime(os.path.join(place, name), (1735689600, 1735689600), follow_symlinks=False)


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def change(case, folder, word):
    name = case_of(case)["change"]
    in_c = f'__attribute__((used)) static const char change[] = "{word}";\n'
    comment = in_c if name.endswith(".c") else f"# change: {word}\n"
    with open(os.path.join(folder, name), "a", encoding="utf-8") as file:
        file.write(comment)


# Images


def config_of(path):
    """The config of an image out of `buildah inspect --type image`."""
    return load(path)["OCIv1"]["config"]


def started(config):
    return [*(config.get("Entrypoint") or []), *(config.get("Cmd") or [])]


def regular_files(root):
    """Paths of all regular files below a folder, each inode once, with their status."""
    seen = set()
    for folder, folders, names in os.walk(root):
        inside = folder[len(root) :] or "/"
        folders[:] = [name for name in folders if os.path.join(inside, name) not in NOT_OF_THE_IMAGE]
        for name in names:
            full = os.path.join(folder, name)
            status = os.lstat(full)
            if os.path.islink(full) or not os.path.isfile(full) or status.st_ino in seen:
                continue
            seen.add(status.st_ino)
            yield full, status


def elf_files(root):
    """Paths of all ELF files below a folder, each file once."""
    for full, _ in regular_files(root):
        with open(full, "rb") as file:
            if file.read(4) == b"\x7fELF":
                yield full[len(root) :]


def blob(layout, digest):
    return os.path.join(layout, "blobs", *digest.split(":"))


def manifest_of(layout, tag):
    for entry in load(os.path.join(layout, "index.json"))["manifests"]:
        if (entry.get("annotations") or {}).get("org.opencontainers.image.ref.name") == tag:
            return entry, load(blob(layout, entry["digest"]))
    sys.exit(f"no image {tag} in {layout}")


def layers_of(layout, tag):
    """Digest, bytes of regular files, and names of regular files of each layer, from the bottom."""
    _, manifest = manifest_of(layout, tag)
    for layer in manifest["layers"]:
        path = blob(layout, layer["digest"])
        names, content = [], 0
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isreg():
                    content += member.size
                    names.append("/" + member.name.lstrip("./"))
        yield {"digest": layer["digest"], "blob": path, "content_bytes": content, "names": names}


def word_history(layout, tag, dockerfile):
    """Images on registries are built by BuildKit: the history of this one is worded as theirs is."""
    entry, manifest = manifest_of(layout, tag)
    config = load(blob(layout, manifest["config"]["digest"]))
    instructions = [step for step in instructions_of(text(dockerfile))]
    last = max(place for place, step in enumerate(instructions) if step.word == "FROM")
    instructions = instructions[last + 1 :]
    history = config["history"]
    if len(history) < len(instructions):
        sys.exit("the history is shorter than the Dockerfile")
    arguments = []
    for step, line in zip(instructions, history[-len(instructions) :], strict=True):
        rest = re.sub(r"\s*\\\n\s*", " ", step.rest)
        if step.word == "ARG":
            arguments.append(rest)
        if step.word == "RUN":
            before = f"|{len(arguments)} {' '.join(arguments)} " if arguments else ""
            rest = re.sub(r"\\\n", "", step.rest)
            line["created_by"] = f"RUN {before}/bin/sh -c {rest} # buildkit"
        elif step.word in ("COPY", "ADD"):
            line["created_by"] = f"{step.word} {rest} # buildkit"
        elif step.word == "EXPOSE":
            line["created_by"] = f"EXPOSE map[{rest}/tcp:{{}}]"
        elif step.word in ("CMD", "ENTRYPOINT"):
            line["created_by"] = f"{step.word} [{' '.join(json.dumps(word) for word in json.loads(rest))}]"
        else:
            line["created_by"] = f"{step.word} {rest}"
        line["comment"] = "buildkit.dockerfile.v0"
    manifest["config"].update(store(layout, config))
    entry.update(store(layout, manifest))
    index = load(os.path.join(layout, "index.json"))
    for other in index["manifests"]:
        if other.get("annotations") == entry["annotations"]:
            other.update(entry)
    with open(os.path.join(layout, "index.json"), "w", encoding="utf-8") as file:
        json.dump(index, file)


def store(layout, value):
    data = json.dumps(value).encode()
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    write(blob(layout, digest), data)
    return {"digest": digest, "size": len(data)}


# What runs


def missing(root, path, environment):
    """The names that the image's own loader does not find for a file; the loader runs nothing of the file."""
    command = [LOADER, "--list", path]
    # Not by the program chroot, which would take the image's LD_LIBRARY_PATH for its own.
    how = {"capture_output": True, "env": environment, "check": False, "preexec_fn": lambda: os.chroot(root)}
    output = subprocess.run(command, **how)
    printed = (output.stdout + output.stderr).decode("utf-8", "replace")
    names = re.findall(r"^\s*(\S+) => not found", printed, re.MULTILINE)
    # A missing library of a library is an error; with `--list` of glibc it is a line as above.
    names += re.findall(r"error while loading shared libraries: (\S+): cannot open", printed)
    return {name for name in names if not OF_THE_DRIVER.match(name)}


def loader_environment(config):
    pairs = dict(entry.split("=", 1) for entry in config.get("Env") or [])
    return {name: pairs[name] for name in ("LD_LIBRARY_PATH", "LD_PRELOAD") if pairs.get(name)}


def printed(path):
    return [line for line in text(path).splitlines() if not OF_THE_BASE.match(line)]


def config_faults(original, built):
    """What the user set must be there still."""
    for name in "User", "WorkingDir", "ExposedPorts", "Volumes", "StopSignal", "Cmd":
        ours, theirs = original.get(name) or None, built.get(name) or None
        if ours != theirs and (name != "WorkingDir" or {ours, theirs} != {None, "/"}):
            yield f"config: {name} was {ours!r} and is {theirs!r}"
    ours, theirs = original.get("Entrypoint") or [], built.get("Entrypoint") or []
    if ours != theirs and ours[:1] != ["/opt/nvidia/nvidia_entrypoint.sh"]:
        yield f"config: Entrypoint was {ours!r} and is {theirs!r}"
    environment = dict(entry.split("=", 1) for entry in built.get("Env") or [])
    for name in "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES":
        if not environment.get(name):
            yield f"config: {name} is not set, so that a container gets no GPU"


def users_of(root):
    lines = (line.split(":") for line in text(os.path.join(root, "etc/passwd")).splitlines())
    return {int(line[2]): line[0] for line in lines if len(line) > 3}


def owner_faults(old_root, root):
    """A file of the application's user belongs to that user still."""
    old_users, users = users_of(old_root), users_of(root)
    for full, status in regular_files(old_root):
        path = full[len(old_root) :]
        if status.st_uid < 1 or path.startswith(("/var/", "/tmp/")) or not os.path.lexists(root + path):
            continue
        ours, theirs = old_users.get(status.st_uid), users.get(os.lstat(root + path).st_uid)
        if ours != theirs:
            yield f"owner: {path} was of {ours} and is of {theirs}"


def run_faults(case, at, number):
    """What the image prints, and what its loader finds, against the original."""
    original, built = config_of(at("original.config")), config_of(at(f"{number}.config"))
    yield from config_faults(original, built)
    ours, theirs = printed(at("original.out")), printed(at(f"{number}.out"))
    if ours != theirs:
        yield f"starts: the original printed {ours}, this {theirs}"
    for pattern in text(os.path.join(case, "expected")).splitlines():
        if not any(re.fullmatch(pattern, line) for line in ours):
            yield f"starts: the original did not print {pattern!r}, but {ours}"
    old_root, root = text(at("original.root")).strip(), text(at(f"{number}.root")).strip()
    environment, old_environment = loader_environment(built), loader_environment(original)
    for path in elf_files(root):
        lost = missing(root, path, environment)
        if lost and os.path.exists(old_root + path):
            lost -= missing(old_root, path, old_environment)
        if lost:
            yield f"ldd: {path} does not find {', '.join(sorted(lost))}"
    yield from list(owner_faults(old_root, root))[:3]


# Dockerfiles


class Instruction:
    """A word, the text after it, the stage that it is in, and the comments above it."""

    def __init__(self, word, rest, stage, comments):
        self.word, self.rest, self.stage, self.comments = word, rest, stage, comments

    @property
    def line(self):
        return " ".join(f"{self.word} {self.rest}".replace("\\\n", " ").split())

    def words(self):
        """The operands of a COPY or ADD."""
        rest = self.rest.replace("\\\n", " ").strip()
        while rest.startswith("--"):
            rest = rest.partition(" ")[2].strip()
        return json.loads(rest) if rest.startswith("[") else rest.split()


def instructions_of(dockerfile):
    stage, comments, pending, found = -1, [], "", []
    for line in dockerfile.splitlines():
        if line.lstrip().startswith("#"):
            if not re.match(r"#\s*(syntax|escape|check)\s*=", line):
                comments.append(line.strip())
            continue
        if not line.strip() and not pending:
            continue
        pending += line
        if line.rstrip().endswith("\\"):
            pending += "\n"
            continue
        word, _, rest = pending.strip().partition(" ")
        word = word.upper()
        stage += word == "FROM"
        found.append(Instruction(word, rest.strip(), stage, comments))
        comments, pending = [], ""
    return found


def stages_that_ship(steps):
    """The numbers of the final stage and of the stages that it is from, and the image below them."""
    froms = [step for step in steps if step.word == "FROM"]
    names = {}
    for step in froms:
        words = [word for word in step.rest.split() if not word.startswith("--")]
        if len(words) == 3:
            names[words[2].lower()] = step.stage
    stage, shipped = froms[-1].stage, []
    while True:
        shipped.append(stage)
        words = [word for word in froms[stage].rest.split() if not word.startswith("--")]
        below = names.get(words[0].lower())
        if below is None or below >= stage:
            return shipped, words[0]
        stage = below


def arguments_of(steps):
    values = {}
    for step in steps:
        if step.word == "FROM":
            break
        if step.word == "ARG" and "=" in step.rest:
            name, _, value = step.rest.partition("=")
            values[name] = value.strip("\"'")
    return values


def file_faults(settings, original, proposed):
    """What a reviewer would not merge, from the text alone."""
    before, after = instructions_of(original), instructions_of(proposed)
    known = {step.line for step in before}
    lines = lambda file: sum(1 for line in file.splitlines() if line.strip())
    if lines(proposed) > 1.5 * lines(original) + 8:
        yield f"file: {lines(proposed)} lines, of {lines(original)}"
    shipped, base = stages_that_ship(after)
    base = re.sub(r"\$\{?(\w+)\}?", lambda name: arguments_of(after).get(name[1], name[0]), base)
    base = re.sub(r"@sha256:\w+$|^docker\.io/(library/)?", "", base)
    if settings.get("bases") and base not in settings["bases"]:
        yield f"file: the final stage is on {base}"
    count = 1 + max(step.stage for step in after)
    least, most = settings.get("stages", [1, 99])
    if not least <= count <= most:
        yield f"file: {count} stages, where {least} to {most} are wanted"
    for step in after:
        if step.word in ("COPY", "ADD"):
            sources = step.words()
            if len(sources) - 1 > MOST_PATHS:
                yield f"file: a COPY of {len(sources) - 1} paths"
            if any(USER_TABLES.match(word) for word in sources):
                yield f"file: copies tables of users: {step.line[:80]}"
            if step.stage in shipped and any(re.search(r"(^|/)\.(git|cache)(/|$)|\.o$|^/src/?$", word) for word in sources[:-1]):
                yield f"file: copies what stays behind: {step.line[:80]}"
        if step.word == "RUN" and step.line not in known:
            for command in re.split(r"&&|;|\|", step.line):
                paths = [word for word in command.split() if word.startswith("/") or re.search(r"\w/\w", word)]
                if len(paths) > MOST_PATHS:
                    yield f"file: a RUN with {len(paths)} paths: {command.strip()[:60]}"
        if step.word == "RUN" and APT.search(step.line) and not APT_CLEAN.search(step.line):
            # A line of the user in a stage that does not ship is left alone.
            if step.stage in shipped or step.line not in known:
                yield f"file: leaves the lists of apt: {step.line[:80]}"
    theirs = {comment for step in before for comment in step.comments}
    # Above the first FROM is the place for words about the whole file; a rebuilt one says there what is missing.
    if len(after[0].comments) > (2 if settings.get("dockerfile", True) else 4):
        yield f"file: {len(after[0].comments)} comments at its head"
    for stage in range(count):
        added = [text for step in after[1:] if step.stage == stage for text in step.comments if text not in theirs]
        if len(added) > 1:
            yield f"file: {len(added)} comments in stage {stage}"
    # Each instruction on a line of its own, for the patterns.
    whole = "\n".join(step.line for step in after)
    final = "\n".join(step.line for step in after if step.stage in shipped)
    for pattern in settings.get("has", []):
        if not re.search(pattern, whole):
            yield f"file: no {pattern!r}"
    for pattern in settings.get("final_has", []):
        if not re.search(pattern, final):
            yield f"file: no {pattern!r} in the final stage"
    for pattern in settings.get("final_lacks", []):
        if found := re.search(pattern, final):
            yield f"file: {found[0]!r} in the final stage"


# What is built


def content_faults(settings, at, number):
    """What must not be in the image, and what must not share a layer."""
    root = text(at(f"{number}.root")).strip()
    for what, pattern in LEFT_BEHIND.items():
        found = [(full, status.st_size) for full, status in regular_files(root) if pattern.match(full[len(root) :])]
        size = sum(size for _, size in found)
        if found and (what != "a cache" or size > WORTH_A_LINE):
            yield f"image: {what}: {len(found)} files, {size:,} bytes, such as {found[0][0][len(root):]}"
    change_of, models = settings.get("change"), settings.get("generated", {})
    for layer in load(at(f"{number}.layers")):
        has = lambda path, names=layer["names"]: any(name.endswith("/" + path) for name in names)
        if change_of and has(change_of) and any(has(model) for model in models):
            yield "image: one layer has both models and code"


def pushed(at, number):
    """The compressed bytes of the layers that are new after the change, and the RUN instructions that ran again."""
    before = {layer["digest"] for layer in load(at(f"{number}.layers"))}
    sizes = [packed(layer["blob"]) for layer in load(at(f"{number}.changed.layers")) if layer["digest"] not in before]
    ran = 0
    steps = re.split(r"^(?:\[\d+/\d+\] )?STEP \d+/\d+: ", text(at(f"{number}.changed.log")), flags=re.MULTILINE)
    for step in steps[1:]:
        ran += step.startswith("RUN ") and "--> Using cache" not in step and not re.match(r"RUN ldconfig\s", step)
    return sum(sizes), ran


def packed(path):
    size = 0
    with open(path, "rb") as file:
        while part := file.read(8 << 20):
            size += len(gzip.compress(part, 1))
    return size


def cache_faults(settings, at, number):
    """Faults, and the bytes that both push."""
    if not settings.get("change") or not os.path.exists(at(f"{number}.changed.layers")):
        return [], None, None
    (ours, our_runs), (theirs, their_runs) = pushed(at, "original"), pushed(at, number)
    faults = []
    # The header of a layer is no reason.
    if theirs > ours * 1.02 + 4096:
        faults.append(f"cache: pushes {theirs:,} bytes after a change, the original {ours:,}")
    if their_runs > our_runs:
        faults.append(f"cache: runs {their_runs} instructions again, the original {our_runs}")
    return faults, ours, theirs


def size_faults(proposal, at, number):
    size, predicted = int(text(at(f"{number}.bytes"))), proposal["predicted"]["merged_bytes"]
    before = int(text(at("original.bytes")))
    if predicted is None:
        yield "size: nothing is predicted"
    elif abs(predicted - size) > TOLERANCE * size:
        yield f"size: {predicted:,} bytes are predicted, {size:,} are built ({100 * (predicted - size) / size:+.1f} %)"
    # What is saved are bytes of the layers.
    saved, held = proposal["predicted"]["saved_bytes"], proposal["predicted"].get("content_bytes")
    stored = sum(layer["content_bytes"] for layer in load(at("original.layers")))
    if saved is not None and held is not None and saved != stored - held:
        yield f"size: {saved:,} bytes saved is not {stored:,} less {held:,}"
    if os.path.exists(at("reference.bytes")):
        reference = int(text(at("reference.bytes")))
        if before - size < LEAST_SAVING * (before - reference):
            yield f"size: {size:,} bytes, the reference has {reference:,}, the original {before:,}"


def millions(size):
    return "-" if size is None else f"{size / 1e6:.{1 if size > 1e7 else 3}f}"


def table_row(case, name, lines, before, size, predicted, ours, theirs, verdict):
    off = "-" if predicted is None else f"{millions(predicted)} ({100 * (predicted - size) / size:+.1f} %)"
    columns = [case, name, lines, millions(before), millions(size), off, millions(ours), millions(theirs), verdict]
    return "| " + " | ".join(columns) + " |"


def show(row, faults):
    print(row)
    for fault in faults:
        print(f"  - {fault}")
    return 1 if faults else 0


def lines_of(at, number):
    count = lambda name: sum(1 for line in text(at(f"{name}.Dockerfile")).splitlines() if line.strip())
    return f"{count(number)} of {count('original')}"


def compare(case, folder, number):
    """Faults, and a row of the table."""
    at = lambda name: os.path.join(folder, name)
    settings, label, proposal = case_of(case), "reference", None
    if number != "reference":
        proposal = load(at("proposals.json"))["proposals"][int(number)]
    faults = list(file_faults(settings, text(at("original.Dockerfile")), text(at(f"{number}.Dockerfile"))))
    faults += run_faults(case, at, number)
    faults += content_faults(settings, at, number)
    if proposal:
        label = f"{proposal['id']} ({proposal['applicability']})"
        faults += size_faults(proposal, at, number)
    more, ours, theirs = cache_faults(settings, at, number)
    faults += more
    before, size = int(text(at("original.bytes"))), int(text(at(f"{number}.bytes")))
    predicted = proposal["predicted"]["merged_bytes"] if proposal else None
    verdict = "FAIL" if faults else "ok"
    name = os.path.basename(case)
    return show(table_row(name, label, lines_of(at, number), before, size, predicted, ours, theirs, verdict), faults)


def failed(case, folder, number, *words):
    """The row of what was not built or did not start, with what its text alone shows."""
    at = lambda name: os.path.join(folder, name)
    label, faults = "reference", list(words)
    if number != "reference":
        proposal = load(at("proposals.json"))["proposals"][int(number)]
        label = f"{proposal['id']} ({proposal['applicability']})"
    faults += file_faults(case_of(case), text(at("original.Dockerfile")), text(at(f"{number}.Dockerfile")))
    name = os.path.basename(case)
    verdict = "FAIL" if faults else "ok"
    return show(f"| {name} | {label} | {lines_of(at, number)} | | | | | | {verdict} |", faults)


def main():
    what, *rest = sys.argv[1:]
    if what == "context":
        make_context(*rest)
    elif what == "change":
        change(*rest)
    elif what == "setting":
        value = case_of(rest[0]).get(rest[1], "")
        print(json.dumps(value) if not isinstance(value, str) else value)
    elif what == "dockerfile":
        sys.stdout.write(load(rest[0])["proposals"][int(rest[1])]["dockerfile"])
    elif what == "count":
        print(len(load(rest[0])["proposals"]))
    elif what == "nothing":
        answer, name = load(rest[0]), os.path.basename(rest[1])
        ids = [proposal["id"] for proposal in answer["proposals"]]
        if ids or not answer.get("reason"):
            fault = f"nothing was to be proposed, with a reason; there is {ids}, {answer.get('reason')!r}"
            return show(f"| {name} | {', '.join(ids)} | | | | | | | FAIL |", [fault])
        print(f"| {name} | none | | | | | | | ok |")
        print(f"  {answer['reason']}")
    elif what == "command":
        sys.stdout.write("".join(f"{word}\0" for word in started(config_of(rest[0]))))
    elif what == "weigh":
        print(sum(status.st_size for _, status in regular_files(rest[0])))
    elif what == "layers":
        json.dump(list(layers_of(*rest)), sys.stdout)
    elif what == "buildkit":
        word_history(*rest)
    elif what == "compare":
        return compare(*rest)
    elif what == "failed":
        return failed(*rest)
    else:
        sys.exit(f"no such thing: {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
