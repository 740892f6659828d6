//! Build systems and version control.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "build-tools",
    title: "Build tools",
    category: Category::BuildTools,
    severity: Severity::Medium,
    fix: "Keep them in a build stage, or install and purge them in one RUN.",
    finds: "Build tools: make, cmake, ninja, autotools, bison, flex, pkg-config, ccache, git.",
    matters: "About 100 MB that a running service does not use. Exceptions: FlashInfer and torch.utils.cpp_extension run ninja, GitPython and wandb run git.",
    example: r"```dockerfile
RUN apt-get update && apt-get install -y build-essential cmake git
RUN cmake -B build && make -C build install
```",
    proven: "By path and by the package that owns the files. `needed` when an installed component is known to run a tool, `unsure` when a file or command mentions one.",
    remedy: r"Build in one stage, and copy the result into another:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```",
    source: "File lists of Debian and Fedora; documentation of torch.utils.cpp_extension, GitPython and wandb.",
};
