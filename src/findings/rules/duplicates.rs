//! Second copies: libraries of one name of which one is loaded, and files of one content.

mod copies;
mod same;

use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "duplicates",
    title: "Second copies",
    category: Category::Duplicates,
    severity: Severity::Medium,
    fix: "Take the libraries from one supplier: the wheels on a plain base image, or the toolkit and packages built against it.",
    finds: "Libraries that lie in the image twice for the same CUDA, of which the loader takes one and nothing reaches the other; libraries of a toolkit or the system that only Python packages load, and not when the packages load copies of their own before, by `onnxruntime.preload_dlls()` or another import; and large files that have the same bytes.",
    matters: "Wheels of torch bring their own CUDA. On an image with a toolkit cuBLAS, cuDNN, cuFFT and the others are there twice: more than 1.5 GB with CUDA 13.0. Which copy is loaded depends on the order of folders, and may change with it.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-cudnn-runtime-ubuntu24.04
RUN pip install torch
```",
    remedy: r"The wheels bring all that they need but the driver:

```dockerfile
FROM python:3.12-slim
RUN pip install --no-cache-dir torch
```

A wheel's copy is told as a question: pip's records say that it is installed, and whoever needs that package may look there. A toolkit's copy is only told as removable when everything that loads the library lies in the same packages folder as the copy that is loaded. Copies of which either the toolkit's or the wheel's is loaded, as the program calls it, are a question about the toolkit's.",
    source: "Files of CUDA 13.0.2 beside the wheels of torch 2.9; ld.so(8) for which copy is taken.",
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut drafts = copies::find(facts);
    drafts.extend(same::find(facts));
    drafts
}
