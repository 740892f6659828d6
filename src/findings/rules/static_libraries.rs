//! Static libraries.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "static-libraries",
    title: "Static libraries",
    category: Category::StaticLibraries,
    severity: Severity::Medium,
    fix: "Keep them in a build stage, or use a base image without them.",
    finds: "Static libraries (`.a`): those of cuBLAS, cuFFT, cuSPARSE and others in a CUDA toolkit, and those of `-dev` packages in the system.",
    matters: "The loader never opens a static library. Those of CUDA 13.0 are 2.7 GB, more than all shared libraries, and every pull downloads them.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
COPY service /usr/local/bin/
```",
    proven: "By content (archive) and by the package that owns the files. `needed` when an installed component links them at run time: Numba links `libcudadevrt.a` into compiled kernels.",
    remedy: r"Build in one stage, and copy the result into another:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```",
    source: "Files of CUDA 13.0.2; numba-cuda 0.30.4; wheels of nvidia-cuda-runtime and triton.",
};
