"""Loads CUDA libraries out of wheels, as frameworks do; needs no GPU."""

import ctypes
import importlib.util
import json
import os
import ssl


def library(package, name):
    """A library of a wheel, by its place beside the package."""
    folder = importlib.util.find_spec(package).submodule_search_locations[0]
    return ctypes.CDLL(os.path.join(folder, "lib", name))


def main():
    number = ctypes.c_int()
    runtime = library("nvidia.cuda_runtime", "libcudart.so.12")
    curand = library("nvidia.curand", "libcurand.so.10")
    nvjpeg = library("nvidia.nvjpeg", "libnvjpeg.so.12")
    runtime.cudaGetErrorName.restype = ctypes.c_char_p
    answer = {"error": runtime.cudaGetErrorName(runtime.cudaGetDeviceCount(ctypes.byref(number))).decode()}
    curand.curandGetVersion(ctypes.byref(number))
    answer["curand"] = number.value
    nvjpeg.nvjpegGetProperty(0, ctypes.byref(number))
    answer["nvjpeg"] = number.value
    answer["tls"] = ssl.OPENSSL_VERSION.split()[0]
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
