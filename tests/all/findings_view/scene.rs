//! Findings made by hand, over the files of the scene of the CUDA view, so that no rule changes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use cutaway::analysis::Analysis;
use cutaway::cuda::links::ObjectId;
use cutaway::findings::{Finding, Findings, Item, Share, User, Verdict, rule};
use cutaway::rootfs::Merge;

use crate::cuda_view::scene;
use crate::models::{layers, sized};

/// How many headers there are.
pub(crate) const HEADERS: usize = 1_200;
const CUDA: &str = "/usr/local/cuda-13.0";

/// The image, its inventory, and what `make` finds in it.
pub(crate) fn with(make: impl FnOnce(&Merge) -> Findings) -> Arc<Analysis> {
    let size = |path: &str| match path.rsplit('/').next() {
        Some("libcublas_static.a") => 6 << 20,
        Some("nvcc") => 3 << 20,
        Some("libtorch_cuda.so") => 9 << 20,
        _ => 8,
    };
    let mut files =
        scene::files().map(|paths| paths.iter().map(|path| sized(path, size(path))).collect::<Vec<_>>());
    let header = |number| sized(&format!("{}/include/header_{number:04}.h", &CUDA[1..]), 1_000 + number);
    files[3].extend((0..HEADERS).map(header));
    files[4].push(sized("root/.cache/pip/http/torch-2.9.1.whl", 2 << 20));
    files[4].push(sized("srv/model.bin", 1 << 20));
    files[5].push(sized("srv/model.bin", 16));
    let mut analysis = Analysis::clone(&layers(files));
    let merge = Arc::clone(analysis.merge.as_ref().unwrap());
    analysis.inventory = Some(Arc::new(scene::inventory(&merge.rootfs)));
    analysis.findings = Some(Arc::new(make(&merge)));
    Arc::new(analysis)
}

/// The file that a container sees at a path.
fn seen(merge: &Merge, path: &str) -> Item {
    let node = merge.rootfs.node(scene::node(&merge.rootfs, path));
    let (layer, entry) = node.content().unwrap();
    Item { layer, entry, node: Some(node.id()), bytes: node.bytes() }
}

/// A library that a process comes to over others.
fn loaded(merge: &Merge) -> ObjectId {
    let path = "/usr/lib/python3/dist-packages/nvidia/cublas/lib/libcublasLt.so.13";
    let node = scene::node(&merge.rootfs, path);
    let inventory = scene::inventory(&merge.rootfs);
    inventory.libraries.iter().find(|library| library.node == node).unwrap().object
}

fn finding(id: &str, verdict: Verdict, title: &str, mut items: Vec<Item>) -> Finding {
    items.sort();
    let mut shares: BTreeMap<u16, Share> = BTreeMap::new();
    for item in &items {
        let empty = Share { layer: item.layer, bytes: 0, files: 0, merged_bytes: 0 };
        let share = shares.entry(item.layer).or_insert(empty);
        share.bytes += item.bytes;
        share.files += 1;
        share.merged_bytes += if item.node.is_some() { item.bytes } else { 0 };
    }
    let rule = rule(id).unwrap_or_else(|| panic!("no rule {id}"));
    Finding {
        id: format!("{id}:{}", verdict.as_str()),
        rule,
        severity: rule.severity,
        verdict,
        category: rule.category,
        title: title.into(),
        reason: "Unreferenced: no reachable program loads these files.".into(),
        proof: vec!["not reachable from the entrypoint /usr/bin/python3.12".into()],
        question: None,
        readers: Vec::new(),
        reading: Vec::new(),
        fix: format!("{} They are in layer 2; deleting them in an upper layer frees no space.", rule.fix),
        bytes: items.iter().map(|item| item.bytes).sum(),
        merged_bytes: shares.values().map(|share| share.merged_bytes).sum(),
        layers: shares.into_values().collect(),
        items,
        subjects: Vec::new(),
        packages: Vec::new(),
        users: Vec::new(),
        potential_bytes: 0,
        potential_compressed_bytes: Some(0),
        rests_on: Vec::new(),
    }
}

/// Findings of every kind.
pub(crate) fn findings(merge: &Merge) -> Findings {
    use Verdict::{Needed, Safe, Unsure};
    let file = |path: &str| seen(merge, path);
    let lib = format!("{CUDA}/targets/x86_64-linux/lib");
    let headers = (0..HEADERS).map(|number| file(&format!("{CUDA}/include/header_{number:04}.h")));
    let hidden = merge.rootfs.hidden()[0];
    let hidden_bytes = merge.rootfs.layer(hidden.layer).size(hidden.entry);
    let hidden = Item { layer: hidden.layer, entry: hidden.entry, node: None, bytes: hidden_bytes };
    let list = vec![
        Finding {
            packages: vec![1],
            ..finding(
                "static-libraries",
                Safe,
                "Static libraries in the CUDA 13.0 toolkit",
                vec![file(&format!("{lib}/libcublas_static.a"))],
            )
        },
        finding(
            "package-caches",
            Safe,
            "pip download cache in /root/.cache/pip",
            vec![file("/root/.cache/pip/http/torch-2.9.1.whl")],
        ),
        finding("headers", Safe, "Headers in the CUDA 13.0 toolkit", headers.collect()),
        finding("overwritten", Safe, "Files overwritten by layer 5", vec![hidden]),
        Finding {
            question: Some("Does the service compile kernels at run time?".into()),
            users: vec![
                User::Package("torch 2.9.1".into(), b"/usr/lib/python3/dist-packages/torch".to_vec()),
                User::File(scene::node(&merge.rootfs, "/srv/app.py")),
                User::Setting("ENV CUDA_HOME".into()),
            ],
            ..finding("compilers", Unsure, "CUDA compiler", vec![file(&format!("{CUDA}/bin/nvcc"))])
        },
        Finding {
            subjects: vec!["NVIDIA_VISIBLE_DEVICES".into()],
            ..finding("visible-devices", Unsure, "The image selects GPUs", Vec::new())
        },
        Finding {
            potential_bytes: 800 << 20,
            potential_compressed_bytes: Some(300 << 20),
            subjects: vec!["sm_75".into(), "sm_86".into()],
            ..finding("unused-gpu-code", Unsure, "GPU code for 2 architectures without a target", Vec::new())
        },
        Finding {
            users: vec![User::Object(loaded(merge))],
            ..finding(
                "stubs",
                Needed,
                "Stub library, linked by a used library",
                vec![file(&format!("{lib}/stubs/libcublas.so"))],
            )
        },
    ];
    Findings { list, ..Findings::default() }
}

/// The image with findings of every kind.
pub(crate) fn analysis() -> Arc<Analysis> {
    with(findings)
}
