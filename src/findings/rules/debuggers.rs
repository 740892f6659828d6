//! Debuggers and memory checkers.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "debuggers",
    title: "Debuggers",
    category: Category::Debuggers,
    severity: Severity::Low,
    fix: "Keep them in a build stage, or debug in a separate image.",
    finds: "cuda-gdb, compute-sanitizer, gdb, valgrind, strace and their files.",
    matters: "About 140 MB in a CUDA toolkit. They can inspect other processes.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
```",
    proven: "By path and by the package that owns the files. `needed` or `unsure` when a file or command mentions one.",
    remedy: r"Build in one stage, and copy the result into another:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```",
    source: "Packages cuda-gdb and cuda-sanitizer of CUDA 13.0.2.",
};
