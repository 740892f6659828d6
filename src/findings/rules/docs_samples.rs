//! Documentation, manual pages and samples of CUDA and the system.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "docs-samples",
    title: "Documentation and samples",
    category: Category::DocsSamples,
    severity: Severity::Low,
    fix: "Exclude them when packages are installed.",
    finds: "Documentation, manual pages and samples of CUDA and the system. Licences are kept.",
    matters: "No service reads them. System documentation is many small files, which slows unpacking.",
    example: r"```dockerfile
RUN apt-get install -y libcudnn9-samples-cuda-13
```",
    proven: "By path and by the package that owns the files. Debian and Fedora require that packages work without their documentation.",
    remedy: r"Do not install samples, and exclude documentation in dpkg before the first install:

```dockerfile
RUN printf 'path-exclude /usr/share/doc/*\npath-include /usr/share/doc/*/copyright\npath-exclude /usr/share/man/*\n' > /etc/dpkg/dpkg.cfg.d/no-docs
```",
    source: "Files of CUDA 13.0.2; dpkg(1), path-exclude.",
};
