//! Include folders and static libraries in Python packages.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "python-build-leftovers",
    title: "Headers and static libraries",
    category: Category::Headers,
    severity: Severity::Low,
    fix: "Delete them in the RUN instruction that installs the package.",
    finds: "Include folders and static libraries in Python packages: torch, tensorflow and the NVIDIA wheels.",
    matters: "tensorflow installs 399 MB of headers, triton 50 MB of static libraries. They are for compiling extensions.",
    example: r"```dockerfile
RUN pip install tensorflow
```",
    proven: "By path. `needed` when an installed framework reads them: torch.utils.cpp_extension reads `torch/include`.",
    remedy: r"If nothing compiles extensions, delete them in the same instruction:

```dockerfile
RUN pip install --no-cache-dir tensorflow \
 && rm -rf /usr/local/lib/python3.12/site-packages/tensorflow/include
```",
    source: "Wheels tensorflow 2.21.0, triton 3.9.0, torch 2.9.1.",
};
