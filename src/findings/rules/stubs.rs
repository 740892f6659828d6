//! Stub libraries: names without code.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "stubs",
    title: "Stub libraries",
    category: Category::Stubs,
    severity: Severity::Low,
    fix: "Keep them in a build stage: link with -L, and never copy them.",
    finds: "Libraries in `stubs` folders: they have the names of driver and CUDA libraries but no code, for linking on a machine without a driver.",
    matters: "They are small. But if the loader resolves to one instead of the driver, the first CUDA call fails with error 34, CUDA_ERROR_STUB_LIBRARY.",
    example: r"```dockerfile
COPY --from=build /usr/local/cuda/lib64/stubs/libcuda.so /usr/lib/libcuda.so.1
```",
    proven: "By path. A stub that a reachable program loads is reported by `stubs-on-loader-path`.",
    remedy: r"Link against the stub in the build stage only. The container toolkit mounts the driver:

```dockerfile
RUN g++ main.o -L/usr/local/cuda/lib64/stubs -lcuda -o service
```",
    source: "Files of CUDA 13.0.2; NVIDIA/nvidia-container-toolkit issues 185 and 668.",
};
