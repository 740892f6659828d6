//! Tests installed with Python and its packages.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "python-tests",
    title: "Python tests",
    category: Category::DocsSamples,
    severity: Severity::Low,
    fix: "Delete them in the RUN instruction that installs the package.",
    finds: "The test suite of Python's standard library (`test`, `idlelib/idle_test`, `lib2to3/tests`, `tkinter/test`, `unittest/test` and similar), and `tests` and `test` folders of installed Python packages.",
    matters: "The standard library's test suite is about 100 MB in a conda environment. pandas, scipy, scikit-learn and sympy install tens of MB of tests.",
    example: r"```dockerfile
RUN conda create -n app python=3.12 pandas scikit-learn
```",
    proven: "Always `unsure`: some packages import tests at run time (`test.support` of the standard library, helpers in their own `tests` folder).",
    remedy: r"If nothing imports them, delete them in the same instruction:

```dockerfile
RUN conda create -n app python=3.12 pandas scikit-learn \
 && cd /opt/conda/envs/app/lib/python3.12 && rm -rf test site-packages/pandas/tests site-packages/sklearn/tests
```

Import everything that the service uses before and after the deletion.",
    source: "CPython, Lib/test and Doc/library/test.rst; contents of the wheels pandas 2.3, scipy 1.16 and scikit-learn 1.7.",
};
