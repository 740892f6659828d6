"""Opens a library that is linked to CUPTI, and CUPTI by its path; needs no GPU."""

import ctypes
import os

tracer = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libtracer.so"))
tracer.tracer_device.restype = ctypes.c_char_p
print(f"cupti {tracer.tracer_cupti()}, {tracer.tracer_device().decode()}, buffer {os.environ['TRACE_BUFFER']}")
ctypes.CDLL("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12")
