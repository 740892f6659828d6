#!/usr/bin/env python3
"""The parts of build.sh that read: what was proposed, what was built, what it said when it started.

    judge.py dockerfile PROPOSALS NUMBER        the text of a proposal, the first is 0
    judge.py count PROPOSALS                    how many there are
    judge.py nothing PROPOSALS                  the reason for which there is none; a fault when there is one
    judge.py command CONFIG                     the words that a container starts, each ended by a zero byte
    judge.py compare CASE FOLDER NUMBER         all faults of a built proposal, and its figures

FOLDER has what build.sh put there: proposals.json, original.config, original.root, original.out, NUMBER.config,
NUMBER.root, NUMBER.out, NUMBER.report. Knows nothing of cutaway but the JSON that it prints.
"""

import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

# What the host gives to a container; no image has it.
OF_THE_DRIVER = re.compile(r"lib(cuda|nvidia-ml|nvcuvid|nvidia-[a-z0-9-]+|cudadebugger)\.so[.\d]*$")
# Lines that the entrypoint of the base image says before the application does.
OF_THE_BASE = re.compile(r"== a stand-in|CUDA Version |WARNING: no driver|/opt/nvidia|$")
LOADER = "/lib64/ld-linux-x86-64.so.2"
# The furthest that a predicted size may be from the built one.
TOLERANCE = 0.05
# Nothing of these lies in an image.
NOT_OF_THE_IMAGE = {"/proc", "/sys", "/dev", "/run"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def config_of(path):
    """The config of an image out of `buildah inspect --type image`."""
    return load(path)["OCIv1"]["config"]


def started(config):
    return [*(config.get("Entrypoint") or []), *(config.get("Cmd") or [])]


def elf_files(root):
    """Paths of all ELF files below a folder, each file once."""
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
            with open(full, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield full[len(root) :]


def missing(root, path, environment):
    """The names that the image's own loader does not find for a file; the loader runs nothing of the file."""
    command = [LOADER, "--list", path]
    # Not by the program chroot, which would take the image's LD_LIBRARY_PATH for its own.
    how = {"capture_output": True, "env": environment, "check": False, "preexec_fn": lambda: os.chroot(root)}
    output = subprocess.run(command, **how)
    said = (output.stdout + output.stderr).decode("utf-8", "replace")
    names = re.findall(r"^\s*(\S+) => not found", said, re.MULTILINE)
    # A missing library of a library is told as an error; with `--list` of glibc it is a line as above.
    names += re.findall(r"error while loading shared libraries: (\S+): cannot open", said)
    return {name for name in names if not OF_THE_DRIVER.match(name)}


def loader_environment(config):
    pairs = dict(entry.split("=", 1) for entry in config.get("Env") or [])
    return {name: pairs[name] for name in ("LD_LIBRARY_PATH", "LD_PRELOAD") if pairs.get(name)}


def said(path):
    return [line for line in text(path).splitlines() if not OF_THE_BASE.match(line)]


def compare_configs(original, built):
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


def compare(case, folder, number):
    """Faults, and a line of figures."""
    at = lambda name: os.path.join(folder, name)
    faults = []
    proposal = load(at("proposals.json"))["proposals"][int(number)]
    original, built = config_of(at("original.config")), config_of(at(f"{number}.config"))
    faults += compare_configs(original, built)

    ours, theirs = said(at("original.out")), said(at(f"{number}.out"))
    if ours != theirs:
        faults.append(f"starts: the original said {ours}, the proposal {theirs}")
    for pattern in text(os.path.join(case, "expected")).splitlines():
        if not any(re.fullmatch(pattern, line) for line in ours):
            faults.append(f"starts: the original did not say {pattern!r}, but {ours}")

    old_root, root = text(at("original.root")).strip(), text(at(f"{number}.root")).strip()
    environment, old_environment = loader_environment(built), loader_environment(original)
    count = 0
    for path in elf_files(root):
        count += 1
        lost = missing(root, path, environment)
        if lost and os.path.exists(old_root + path):
            lost -= missing(old_root, path, old_environment)
        if lost:
            faults.append(f"ldd: {path} does not find {', '.join(sorted(lost))}")

    report = load(at(f"{number}.report"))
    size, predicted = report["totals"]["merged_bytes"], proposal["predicted"]["merged_bytes"]
    before = load(at("original.report"))["totals"]["merged_bytes"]
    if predicted is None:
        faults.append("size: nothing is predicted")
    elif abs(predicted - size) > TOLERANCE * size:
        faults.append(f"size: {predicted:,} bytes were predicted, {size:,} were built")
    off = "unknown" if predicted is None else f"{100 * (predicted - size) / size:+.1f} %"
    # What is saved are bytes of the layers.
    saved, held = proposal["predicted"]["saved_bytes"], proposal["predicted"]["content_bytes"]
    stored = load(at("original.report"))["totals"]["content_bytes"]
    if saved is not None and saved != stored - held:
        faults.append(f"size: {saved:,} bytes saved is not {stored:,} less {held:,}")
    print(
        f"{before / 1e6:.0f} MB before, {size / 1e6:.0f} MB built, predicted {off}; {count} ELF files; "
        f"{proposal['id']} ({proposal['applicability']}) on {proposal['base_image']}"
    )
    for fault in faults:
        print(f"  {fault}")
    return 1 if faults else 0


def main():
    what, *rest = sys.argv[1:]
    if what == "dockerfile":
        sys.stdout.write(load(rest[0])["proposals"][int(rest[1])]["dockerfile"])
    elif what == "count":
        print(len(load(rest[0])["proposals"]))
    elif what == "nothing":
        answer = load(rest[0])
        if answer["proposals"] or not answer.get("reason"):
            ids = [proposal["id"] for proposal in answer["proposals"]]
            print(f"nothing was to be proposed, with a reason; there is {ids}, {answer.get('reason')!r}")
            return 1
        print(f"nothing to propose: {answer['reason']}")
    elif what == "command":
        sys.stdout.write("".join(f"{word}\0" for word in started(config_of(rest[0]))))
    elif what == "compare":
        return compare(*rest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
