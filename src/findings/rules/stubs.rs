//! Libraries in `stubs` folders, which have names and no code.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "stubs",
    title: "Stub libraries",
    category: Category::Stubs,
    severity: Severity::Low,
    fix: "Leave them in a build stage; link with -L to their folder, and never copy them.",
    finds: "Libraries in `stubs` folders: they have the names of the driver and of CUDA libraries and no code, so that a program can be linked on a machine without a driver.",
    matters: "They are small, but when the loader finds one instead of the driver, the first CUDA call fails with error 34, CUDA_ERROR_STUB_LIBRARY.",
    example: r"```dockerfile
COPY --from=build /usr/local/cuda/lib64/stubs/libcuda.so /usr/lib/libcuda.so.1
```",
    remedy: r"Link against the stub in the build stage only, and let the container toolkit bring the driver:

```dockerfile
RUN g++ main.o -L/usr/local/cuda/lib64/stubs -lcuda -o service
```",
    source: "Files of CUDA 13.0.2; NVIDIA/nvidia-container-toolkit issues 185 and 668.",
};
