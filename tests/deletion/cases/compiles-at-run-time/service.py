"""Compiles at start, as services do that take kernels from their users."""
import subprocess

import cffi
import numba
import numpy
import pyximport

pyximport.install(language_level=3, build_dir="/tmp/pyxbld", setup_args={"include_dirs": numpy.get_include()})
import fast

builder = cffi.FFI()
builder.cdef("int cube(int n);")
builder.set_source("_cube", "int cube(int n) { return n * n * n; }")
builder.compile(tmpdir="/tmp")
program = b"#include <stdio.h>\n#include <zlib.h>\nint main(void) { puts(zlibVersion()); }"
subprocess.run(["gcc", "-static", "-x", "c", "-", "-x", "none", "-lz", "-o", "/tmp/made"], input=program, check=True)
subprocess.run(["/tmp/made"], check=True)
print(fast.total(numpy.ones(4)), numba.njit(lambda x: x + 1)(1))
