"""Runs in a conda environment, with a wheel that uses the toolkit's libraries; needs no GPU."""

import ctypes
import os
import sys

import cupy

blas = ctypes.CDLL(os.path.join(sys.prefix, "lib", "libopenblas.so.0"))
print(f"python of {sys.prefix}, openblas {blas.openblas_stand_in()}")
print(f"cupy {cupy.__version__}: curand {cupy.curand_version()}, nvrtc {cupy.nvrtc_version()}")
