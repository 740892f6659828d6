//! Compilers of CUDA and of the system.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "compilers",
    title: "Compilers",
    category: Category::Compilers,
    severity: Severity::Medium,
    fix: "Leave them in a build stage, or build on an image without them.",
    finds: "Compilers with their assemblers and linkers. Of CUDA: nvcc, cicc, cudafe++, ptxas, nvlink, fatbinary, libnvvm, libdevice, cuobjdump, nvdisasm. Of C and C++: gcc, g++, cc1, clang, as, ld, and the folder of gcc.",
    matters: "nvcc and its parts are some 260 MB, gcc some 200 MB, and they are attack surface: with a compiler inside, an intruder brings sources. Frameworks that compile at run time need some of them; a naive clean-up breaks those.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
RUN pip install torch
```",
    remedy: r"Build on the runtime flavour, or on the plain distribution when wheels bring their own CUDA:

```dockerfile
FROM python:3.12-slim
RUN pip install --no-cache-dir torch
```

XLA (JAX, TensorFlow) runs ptxas and reads libdevice; Numba loads libnvvm; FlashInfer, DeepSpeed, SGLang and `torch.utils.cpp_extension` run nvcc. Triton and torch.compile start gcc. They are told as `needed`, unless a wheel beside them brings its own copy.",
    source: "Files of CUDA 13.0.2; jax-ml/jax issues 989 and 4452; wheels jax-cuda12-plugin, numba-cuda, flashinfer; file lists of gcc and binutils of Debian and Fedora; pytorch/pytorch pull request 170235 on the compiler in runtime images.",
};
