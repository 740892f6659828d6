//! Nsight Compute, Nsight Systems, nvprof, the Visual Profiler, and CUPTI libraries.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "profilers",
    title: "Profilers",
    category: Category::Profilers,
    severity: Severity::Medium,
    fix: "Profile in a separate image, or with the tools of the host.",
    finds: "Nsight Compute, Nsight Systems, nvprof, the Visual Profiler, and the CUPTI libraries in their folders.",
    matters: "Nsight Compute alone is 1.3 GB. A service does not run it.",
    example: r"```dockerfile
RUN apt-get install -y cuda-toolkit-13-0
```",
    proven: "By path and by the package that owns the files. `needed` when something loads them: a torch built on the toolkit loads its libcupti; torch wheels ship their own.",
    remedy: r"Install libraries instead of the whole toolkit, and mount a profiler when you need one:

```dockerfile
RUN apt-get install -y --no-install-recommends cuda-libraries-13-0
```",
    source: "Packages of CUDA 13.0.2; libtorch_cpu.so of torch 2.9.1.",
};
