//! C, C++ and CUDA headers.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "headers",
    title: "Headers",
    category: Category::Headers,
    severity: Severity::Low,
    fix: "Keep them in a build stage, or use a base image without them.",
    finds: "C, C++ and CUDA headers: `/usr/include`, `include` of a CUDA toolkit, those of cuDNN, NCCL and TensorRT.",
    matters: "Only compilers read them. They are small but many: each is a file to unpack on every pull. Some frameworks compile at run time and fail without their headers.",
    example: r"```dockerfile
RUN apt-get install -y libcublas-dev-13-0
```",
    proven: "By path and by the package that owns the files. `needed` when an installed framework reads them: CuPy, Numba and NVRTC users read the CUDA headers; torch.compile and Triton read the system and Python headers.",
    remedy: r"Install the runtime package instead of the development package (`libcublas-13-0`), and build in a separate stage:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```",
    source: "Files of CUDA 13.0.2; cupy/cupy issue 8466; triton 3.9.0.",
};
