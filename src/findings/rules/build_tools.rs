//! Compilers of the system and what belongs to them: gcc, g++, binutils, make, cmake, ninja, ccache, git.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "build-tools",
    title: "Build tools",
    category: Category::BuildTools,
    severity: Severity::Medium,
    fix: "Leave them in a build stage, or install and purge them in one RUN instruction.",
    finds: "Compilers of the system and what belongs to them: gcc, g++, binutils, make, cmake, ninja, ccache, git.",
    matters: "They are some 200 MB to 1 GB and attack surface. Triton and torch.compile need a C compiler at run time, though: in an image with them gcc is told as `needed`.",
    example: r"```dockerfile
RUN apt-get update && apt-get install -y build-essential cmake git
RUN cmake -B build && make -C build install
```",
    remedy: r"Build in one stage, and copy what runs into another:

```dockerfile
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04 AS build
COPY . /src
RUN make -C /src install DESTDIR=/out

FROM nvidia/cuda:13.0.2-runtime-ubuntu24.04
COPY --from=build /out/ /
```",
    source: "File lists of Debian and Fedora; pytorch/pytorch pull request 170235 on the compiler in runtime images.",
};
