"""Compiles a launcher and a kernel when it starts, as Triton does; needs no GPU."""

import torch
import triton
from kernels import scale

kernel = triton.compile("scale", scale.PTX)
print(f"torch {torch.__version__}, triton {triton.__version__}")
print(f"launcher answers {kernel.launch(20)}, ptxas wrote {len(kernel.cubin) > 0}")
