//! Headers of C, C++ and CUDA.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "headers",
    title: "Headers",
    category: Category::Headers,
    severity: Severity::Low,
    fix: "Leave them in a build stage, or build on an image without them.",
    finds: "Headers of C, C++ and CUDA: `/usr/include`, `include` of a CUDA toolkit, those of cuDNN, NCCL and TensorRT.",
    matters: "Only compilers read them. They are small but many: each is a file to unpack when a machine pulls the image. Some frameworks compile at run time and need theirs; taking those away is an outage.",
    example: r"```dockerfile
RUN apt-get install -y libcublas-dev-13-0
```",
    remedy: r"Install what runs instead of what builds (`libcublas-13-0`), and build in a stage of its own:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```

CuPy, Numba and programs that use NVRTC read the CUDA headers at run time; torch.compile and Triton read those of the system and of Python. They are told as `needed`.",
    source: "Files of CUDA 13.0.2; cupy/cupy issue 8466; triton 3.9.0.",
};
