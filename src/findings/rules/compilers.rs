//! CUDA and system compilers.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "compilers",
    title: "Compilers",
    category: Category::Compilers,
    severity: Severity::Medium,
    fix: "Keep them in a build stage, or use a base image without them.",
    finds: "Compilers with their assemblers and linkers. CUDA: nvcc, cicc, cudafe++, ptxas, nvlink, fatbinary, libnvvm, libdevice, cuobjdump, nvdisasm. C and C++: gcc, g++, cc1, clang, as, ld, and the gcc folder.",
    matters: "About 260 MB for nvcc and its parts and 200 MB for gcc. A compiler in the image is also attack surface. Some frameworks compile at run time: removing what they need breaks them.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
RUN pip install torch
```",
    proven: "By path and by the package that owns the files. `needed` when an installed framework reads them, unless it uses its own copy in a wheel: XLA (JAX, TensorFlow) runs ptxas and reads libdevice; Numba loads libnvvm; FlashInfer, DeepSpeed, SGLang and `torch.utils.cpp_extension` run nvcc; Triton and torch.compile run gcc.",
    remedy: r"Build on the runtime flavor, or on the plain distribution when wheels ship their own CUDA:

```dockerfile
FROM python:3.12-slim
RUN pip install --no-cache-dir torch
```",
    source: "Files of CUDA 13.0.2; jax-ml/jax issues 989 and 4452; wheels jax-cuda12-plugin, numba-cuda, flashinfer; file lists of gcc and binutils of Debian and Fedora; pytorch/pytorch pull request 170235 on the compiler in runtime images.",
};
