"""Compiles at start, as services do that take kernels from their users."""
import subprocess

import cffi
import numba
import pyximport

pyximport.install(language_level=3, build_dir="/tmp/pyxbld")
import fast

builder = cffi.FFI()
builder.cdef("int cube(int n);")
builder.set_source("_cube", "int cube(int n) { return n * n * n; }")
builder.compile(tmpdir="/tmp")
subprocess.run(["gcc", "-x", "c", "-", "-o", "/tmp/made"], input=b"#include <stdio.h>\nint main(void) { puts(\"made\"); }", check=True)
subprocess.run(["/tmp/made"], check=True)
print(fast.square(4), numba.njit(lambda x: x + 1)(1))
