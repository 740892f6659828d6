//! Nsight Compute, Nsight Systems, nvprof, the Visual Profiler, and the libraries of CUPTI beside them.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "profilers",
    title: "Profilers",
    category: Category::Profilers,
    severity: Severity::Medium,
    fix: "Profile in an image of its own, or with the tools of the host.",
    finds: "Nsight Compute, Nsight Systems, nvprof, the Visual Profiler, and the libraries of CUPTI beside them.",
    matters: "Nsight Compute alone is 1.3 GB. Nothing starts it in a service.",
    example: r"```dockerfile
RUN apt-get install -y cuda-toolkit-13-0
```",
    remedy: r"Install libraries instead of the whole toolkit, and mount a profiler when one is wanted:

```dockerfile
RUN apt-get install -y --no-install-recommends cuda-libraries-13-0
```

The wheels of torch need libcupti and bring it along; a torch that was built on the toolkit loads the copy there, which is then told as `needed`.",
    source: "Packages of CUDA 13.0.2; libtorch_cpu.so of torch 2.9.1.",
};
