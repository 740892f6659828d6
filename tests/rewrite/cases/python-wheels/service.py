"""Loads a library that is linked to CUDA libraries of wheels, as frameworks are; needs no GPU."""

import ctypes
import json
import os
import ssl


def main():
    probe = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe.so"))
    probe.device_error.restype = ctypes.c_char_p
    answer = {
        "error": probe.device_error().decode(),
        "curand": probe.curand_version(),
        "nvjpeg": probe.nvjpeg_major(),
        "tls": ssl.OPENSSL_VERSION.split()[0],
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
