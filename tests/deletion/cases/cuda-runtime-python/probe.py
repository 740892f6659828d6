"""Opens CUDA's libraries by their names and those of the wheels, and compiles a kernel with NVRTC."""
import ctypes
import glob
import os
import sys

for name in "libcudart.so.12", "libcurand.so.10", "libnvrtc.so.12", "libcublas.so.12":
    ctypes.CDLL(name)
folder = next(path for path in sys.path if os.path.isdir(f"{path}/nvidia"))
for path in sorted(glob.glob(f"{folder}/nvidia/*/lib/*.so*")):
    ctypes.CDLL(path)
    print(os.path.basename(path))
nvrtc = ctypes.CDLL(f"{folder}/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
program = ctypes.c_void_p()
print(nvrtc.nvrtcCreateProgram(ctypes.byref(program), b'#include <cuda_fp16.h>\n__global__ void f(__half *a) { *a = __hadd(*a, *a); }', b"a.cu", 0, None, None))
options = [f"-I{folder}/nvidia/cuda_runtime/include".encode(), b"-arch=compute_80"]
print(nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)))
