#!/usr/bin/env python3
"""Makes a prefix as conda leaves it, out of Debian's packages and of wheels.

    make_prefix.py PREFIX WHEELS

Each package is unpacked into PREFIX/pkgs/NAME-VERSION-BUILD with its `info`, then linked into PREFIX, and written
down in PREFIX/conda-meta. No channel of conda is asked for anything.
"""

import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile

PREFIX, WHEELS = sys.argv[1:]
PKGS = os.path.join(PREFIX, "pkgs")
TRIPLE = "/usr/lib/x86_64-linux-gnu"
SITE = "lib/python3.11/site-packages"


def files_below(folder):
    for inside, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(os.path.join(inside, name), folder)


class Package:
    def __init__(self, name, version, build):
        self.name, self.version, self.build = name, version, build
        self.dist = f"{name}-{version}-{build}"
        self.folder = os.path.join(PKGS, self.dist)
        os.makedirs(os.path.join(self.folder, "info"))

    def place(self, path):
        full = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        return full

    def copy(self, source, path):
        """A file or a link."""
        shutil.copy2(source, self.place(path), follow_symlinks=False)

    def tree(self, source, path):
        shutil.copytree(source, self.place(path), symlinks=True, dirs_exist_ok=True)

    def library(self, pattern):
        """Libraries of Debian with their links, found beside each other as conda has it."""
        for path in glob.glob(f"{TRIPLE}/{pattern}"):
            self.copy(path, f"lib/{os.path.basename(path)}")
            if not os.path.islink(path) and ".so" in path:
                origin(os.path.join(self.folder, "lib", os.path.basename(path)), "$ORIGIN")

    def finish(self):
        files = sorted(path for path in files_below(self.folder) if not path.startswith("info/"))
        paths = []
        for path in files:
            full = os.path.join(self.folder, path)
            entry = {"_path": path, "path_type": "softlink" if os.path.islink(full) else "hardlink"}
            if os.path.isfile(full):
                with open(full, "rb") as file:
                    entry["sha256"] = hashlib.sha256(file.read()).hexdigest()
                entry["size_in_bytes"] = os.stat(full).st_size
            paths.append(entry)
        index = {"name": self.name, "version": self.version, "build": self.build, "build_number": 0,
                 "arch": "x86_64", "platform": "linux", "subdir": "linux-64", "depends": []}
        write = lambda name, value: json.dump(value, open(self.place(f"info/{name}"), "w"), indent=2)
        write("index.json", index)
        write("paths.json", {"paths": paths, "paths_version": 1})
        write("about.json", {"summary": f"{self.name}, packed as conda does it"})
        write("repodata_record.json", {**index, "channel": "https://conda.invalid/main", "fn": f"{self.dist}.conda"})
        with open(self.place("info/files"), "w") as file:
            file.write("".join(f"{path}\n" for path in files))
        # The archive that it was unpacked from stays too.
        with zipfile.ZipFile(f"{self.folder}.conda", "w") as archive:
            archive.writestr("metadata.json", '{"conda_pkg_format_version": 2}')
            archive.writestr(f"pkg-{self.dist}.tar.zst", os.urandom(200_000))
        for path in files:
            target = os.path.join(PREFIX, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.link(os.path.join(self.folder, path), target, follow_symlinks=False)
        record = {**index, "files": files, "paths_data": {"paths": paths, "paths_version": 1},
                  "link": {"source": self.folder, "type": 1}, "extracted_package_dir": self.folder,
                  "package_tarball_full_path": f"{self.folder}.conda", "fn": f"{self.dist}.conda",
                  "channel": "https://conda.invalid/main", "requested_spec": self.name}
        meta = os.path.join(PREFIX, "conda-meta")
        os.makedirs(meta, exist_ok=True)
        with open(os.path.join(meta, f"{self.dist}.json"), "w") as file:
            json.dump(record, file, indent=2)
        with open(os.path.join(PKGS, "urls.txt"), "a") as file:
            file.write(f"https://conda.invalid/main/linux-64/{self.dist}.conda\n")
        print(self.dist, len(files))


def origin(path, value):
    subprocess.run(["patchelf", "--set-rpath", value, path], check=True)


def python():
    package = Package("python", "3.11.2", "h955ad1f_0")
    package.copy("/usr/bin/python3.11", "bin/python3.11")
    for name in "python3", "python":
        os.symlink("python3.11", package.place(f"bin/{name}"))
    package.tree("/usr/lib/python3.11", "lib/python3.11")
    # Debian's Python looks for packages in folders of its own; conda's does not.
    site = package.place("lib/python3.11/site.py")
    with open(site) as file:
        text = file.read()
    with open(site, "w") as file:
        file.write(text.replace("dist-packages", "site-packages").replace('"local/lib"', '"lib"'))
    for name in "EXTERNALLY-MANAGED", "sitecustomize.py", "dist-packages":
        full = package.place(f"lib/python3.11/{name}")
        shutil.rmtree(full) if os.path.isdir(full) else os.path.lexists(full) and os.unlink(full)
    package.tree(sysconfig.get_path("include"), "include/python3.11") if os.path.isdir(
        sysconfig.get_path("include")
    ) else None
    origin(package.place("bin/python3.11"), "$ORIGIN/../lib")
    for path in glob.glob(f"{package.folder}/lib/python3.11/lib-dynload/*.so"):
        origin(path, "$ORIGIN/../..")
    for text, path in (("python", "share/man/man1/python3.11.1"), ("license", "lib/python3.11/LICENSE.txt")):
        with open(package.place(path), "w") as file:
            file.write(text)
    subprocess.run([sys.executable, "-m", "compileall", "-q", f"{package.folder}/lib/python3.11"], check=False)
    package.finish()


def libraries():
    for name, version, patterns, headers in (
        ("openssl", "3.0.17", ["libssl.*", "libcrypto.*"], ["openssl"]),
        ("zlib", "1.2.13", ["libz.*"], ["zlib.h", "zconf.h"]),
        ("sqlite", "3.40.1", ["libsqlite3.*"], ["sqlite3.h"]),
        ("expat", "2.5.0", ["libexpat.*"], ["expat.h"]),
        ("libffi", "3.4.4", ["libffi.*"], []),
        ("ncurses", "6.4", ["libncursesw.so*", "libtinfo.so*", "libpanelw.so*"], []),
        ("readline", "8.2", ["libreadline.so*"], []),
        ("bzip2", "1.0.8", ["libbz2.so*"], []),
        ("xz", "5.4.1", ["liblzma.so*"], []),
        ("libuuid", "2.38.1", ["libuuid.so*"], []),
    ):
        package = Package(name, version, "h5eee18b_0")
        for pattern in patterns:
            package.library(pattern)
            for place in (TRIPLE, f"/lib/x86_64-linux-gnu"):
                for path in glob.glob(f"{place}/pkgconfig/{pattern.split('.')[0]}*.pc"):
                    package.copy(path, f"lib/pkgconfig/{os.path.basename(path)}")
        for header in headers:
            full = f"/usr/include/{header}"
            package.tree(full, f"include/{header}") if os.path.isdir(full) else package.copy(full, f"include/{header}")
        package.finish()
    tk = Package("tk", "8.6.13", "h39e8969_0")
    tk.tree("/usr/share/tcltk", "lib/tcltk")
    with open(tk.place("lib/tk8.6/demos/hello"), "w") as file:
        file.write("puts hello\n")
    tk.finish()


def wheel(path):
    name, version = os.path.basename(path).split("-")[:2]
    package = Package(name.lower(), version, "py311h5f9d8c6_0")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(package.place(SITE + "/"))
    scripts = glob.glob(f"{package.folder}/{SITE}/*.dist-info/entry_points.txt")
    for script in scripts:
        section = ""
        for line in open(script):
            section = line.strip() if line.startswith("[") else section
            if section == "[console_scripts]" and "=" in line:
                command, target = (word.strip() for word in line.split("=", 1))
                module, function = target.split("[")[0].strip().split(":")
                full = package.place(f"bin/{command}")
                with open(full, "w") as file:
                    file.write(f"#!{PREFIX}/bin/python\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n")
                os.chmod(full, 0o755)
    subprocess.run([sys.executable, "-m", "compileall", "-q", f"{package.folder}/{SITE}"], check=False)
    package.finish()


def main():
    libraries()
    python()
    for path in sorted(glob.glob(f"{WHEELS}/*.whl")):
        wheel(path)
    os.makedirs(os.path.join(PKGS, "cache"))
    for name in "497deca9", "09cdf8bf":
        with open(os.path.join(PKGS, "cache", f"{name}.json"), "w") as file:
            json.dump({"packages": {}, "info": {"subdir": "linux-64"}, "filler": "x" * 500_000}, file)
    with open(os.path.join(PREFIX, "conda-meta", "history"), "w") as file:
        file.write("==> 2025-06-01 00:00:00 <==\n# cmd: conda install numpy\n")


main()
