//! The CUDA compiler and its parts.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "compilers",
    title: "CUDA compiler",
    category: Category::Compilers,
    severity: Severity::Medium,
    fix: "Leave it in a build stage, or build on an image without it.",
    finds: "The CUDA compiler and its parts: nvcc, cicc, cudafe++, ptxas, nvlink, fatbinary, libnvvm, libdevice, cuobjdump, nvdisasm.",
    matters: "They are some 260 MB, and they are attack surface: with a compiler inside, an intruder brings sources. Frameworks that compile kernels at run time need some of them; a naive clean-up breaks those.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
RUN pip install torch
```",
    remedy: r"Build on the runtime flavour, or on the plain distribution when wheels bring their own CUDA:

```dockerfile
FROM python:3.12-slim
RUN pip install --no-cache-dir torch
```

XLA (JAX, TensorFlow) runs ptxas and reads libdevice; Numba loads libnvvm; FlashInfer, DeepSpeed, SGLang and `torch.utils.cpp_extension` run nvcc. They are told as `needed`, unless a wheel beside them brings its own copy.",
    source: "Files of CUDA 13.0.2; jax-ml/jax issues 989 and 4452; wheels jax-cuda12-plugin, numba-cuda, flashinfer.",
};
