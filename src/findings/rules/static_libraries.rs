//! Static libraries: archives that a linker copies code from.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "static-libraries",
    title: "Static libraries",
    category: Category::StaticLibraries,
    severity: Severity::Medium,
    fix: "Leave them in a build stage, or build on an image without them.",
    finds: "Static libraries: archives that a linker copies code from. In a CUDA toolkit those of cuBLAS, cuFFT, cuSPARSE and the others, in the system those of `-dev` packages.",
    matters: "No loader opens an archive. The static libraries of CUDA 13.0 are 2.7 GB, more than all libraries that a service can load, and every pull brings them.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
COPY service /usr/local/bin/
```",
    remedy: r"Build in one stage, and copy what runs into another:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```

`libcudadevrt.a` is the exception: Numba links it into the kernels that it compiles. Cutaway says `needed` where something of that kind is installed.",
    source: "Files of CUDA 13.0.2; numba-cuda 0.30.4; wheels of nvidia-cuda-runtime and triton.",
};
