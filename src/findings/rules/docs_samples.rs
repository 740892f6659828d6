//! Documentation, manual pages and samples of CUDA and of the system.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "docs-samples",
    title: "Documentation and samples",
    category: Category::DocsSamples,
    severity: Severity::Low,
    fix: "Leave them out: exclude them when packages are installed.",
    finds: "Documentation, manual pages and samples of CUDA and of the system. Licences are left alone.",
    matters: "No service reads them. In the system they are many small files, which slow unpacking down.",
    example: r"```dockerfile
RUN apt-get install -y libcudnn9-samples-cuda-13
```",
    remedy: r"Do not install samples, and tell dpkg to leave documentation out before the first install:

```dockerfile
RUN printf 'path-exclude /usr/share/doc/*\npath-include /usr/share/doc/*/copyright\npath-exclude /usr/share/man/*\n' > /etc/dpkg/dpkg.cfg.d/no-docs
```",
    source: "Files of CUDA 13.0.2; dpkg(1), path-exclude.",
};
