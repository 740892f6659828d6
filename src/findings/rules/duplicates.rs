//! Duplicates: libraries of one name of which one copy is loaded, and identical files.

mod copies;
mod same;

use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "duplicates",
    title: "Duplicates",
    category: Category::Duplicates,
    severity: Severity::Medium,
    fix: "Use one supplier for the libraries: wheels on a plain base image, or the toolkit and packages built against it.",
    finds: "Libraries with two copies for the same CUDA, of which one is loaded and the other is unreferenced. Libraries of a toolkit or the system that only Python packages load, and only if the packages have not loaded their own copies first (`onnxruntime.preload_dlls()`, another import). Large identical files.",
    matters: "torch wheels ship their own CUDA. On an image with a toolkit, cuBLAS, cuDNN, cuFFT and others exist twice: more than 1.5 GB with CUDA 13.0. Which copy is loaded depends on the order of search folders, and may change with it.",
    example: r"```dockerfile
FROM nvidia/cuda:13.0.2-cudnn-runtime-ubuntu24.04
RUN pip install torch
```",
    proven: "The loader's search is followed for every reachable program. A toolkit copy is removable only when everything that loads the library is in the same site-packages folder as the loaded copy. A wheel copy needs review: pip records it as installed, and packages that depend on it may look there. Identical files are compared by BLAKE3 hash.",
    remedy: r"The wheels ship everything they need except the driver:

```dockerfile
FROM python:3.12-slim
RUN pip install --no-cache-dir torch
```",
    source: "Files of CUDA 13.0.2 and of the torch 2.9 wheels; ld.so(8) for which copy is loaded.",
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut drafts = copies::find(facts);
    drafts.extend(same::find(facts));
    drafts
}
