"""Compiles a kernel when it starts, against headers of the toolkit; needs no GPU."""

import ctypes
import os

KERNEL = b"""
#include <cuda_fp16.h>
#include <cuda/std/type_traits>
static_assert(cuda::std::is_trivially_copyable<__half>::value, "");
extern "C" __global__ void scale(__half *values, float factor) {
    values[threadIdx.x] = __float2half(__half2float(values[threadIdx.x]) * factor);
}
"""
nvrtc = ctypes.CDLL("libnvrtc.so.12")


def check(status, program=None):
    if status == 0:
        return
    if program:
        log = ctypes.create_string_buffer(4096)
        nvrtc.nvrtcGetProgramLog(program, log)
        print(log.value.decode())
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    raise SystemExit(nvrtc.nvrtcGetErrorString(status).decode())


def main():
    include = os.path.join(os.environ.get("CUDA_PATH", "/usr/local/cuda"), "include")
    options = [b"--gpu-architecture=compute_80", b"-I" + include.encode()]
    program, size, major, minor = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_int(), ctypes.c_int()
    check(nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), KERNEL, b"scale.cu", 0, None, None))
    words = (ctypes.c_char_p * len(options))(*options)
    check(nvrtc.nvrtcCompileProgram(program, len(options), words), program)
    check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)))
    print(f"nvrtc {major.value}.{minor.value}: {size.value} bytes of PTX")


if __name__ == "__main__":
    main()
