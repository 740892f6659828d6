"""Compiles with NVRTC and the headers that CuPy brings, as it does for each kernel; no GPU is needed for that."""
import glob
import os

import cupy
from cupy.cuda import compiler

include = os.path.join(os.path.dirname(cupy.__file__), "_core", "include")
code = '#include <cupy/complex.cuh>\n#include <cupy/carray.cuh>\nextern "C" __global__ void f(complex<float> *a) { *a = *a * *a; }'
options = (f"-I{include}", "-I" + glob.glob("/usr/local/lib/python3*/dist-packages/nvidia/cuda_runtime/include")[0], "-DCUPY_USE_JITIFY=0")
try:
    print(len(compiler.compile_using_nvrtc(code, options=options, arch="80")[0]) > 0)
except Exception as error:
    print(type(error).__name__, str(error)[:300])
print(sum(len(files) for _, _, files in os.walk(include)))
