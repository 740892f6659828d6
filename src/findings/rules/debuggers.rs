//! Debuggers and checkers of memory.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "debuggers",
    title: "Debuggers",
    category: Category::Debuggers,
    severity: Severity::Low,
    fix: "Leave them in a build stage, or debug in an image of its own.",
    finds: "cuda-gdb, compute-sanitizer, gdb, valgrind, strace and their files.",
    matters: "They are some 140 MB in a CUDA toolkit, and they are made to look into other processes.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
```",
    remedy: r"Build in one stage, and copy what runs into another:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```",
    source: "Packages cuda-gdb and cuda-sanitizer of CUDA 13.0.2.",
};
