//! An image with CUDA content, made by hand: a service on torch, above a devel image.

use std::collections::BTreeMap;
use std::sync::Arc;

use cutaway::cuda::links::{
    Links, Need, Object, ObjectId, Open, Reached, Resolution, Root, RootKind, SearchStep,
};
use cutaway::cuda::{
    BaseImage, Class, ClassBytes, Component, Duplicate, Flavor, ForwardCompat, Framework, GpuCode,
    GpuCodeSum, GpuHolder, HolderKind, Identical, Inventory, Level, Library, Package, Pick, Role, StackLevel,
    Strategy, SuppliedBy, Supplier, Toolkit, Use, VersionSource, WeightFile,
};
use cutaway::formats::fatbin::{
    ClassSum, CodeClass, CodeSample, Compression, ContainerFacts, ContainerGroup, GpuKind, Suffix,
};
use cutaway::rootfs::{NodeId, Rootfs};

const MIB: u64 = 1 << 20;
const CUDA: &str = "/usr/local/cuda-13.0/targets/x86_64-linux/lib";
const SITE: &str = "/usr/lib/python3/dist-packages";

/// Paths of the image by layer, without the slash at their front.
pub(crate) fn files() -> [Vec<String>; 6] {
    let all = |names: &[(&str, &str)]| {
        names.iter().map(|(folder, name)| format!("{}/{name}", &folder[1..])).collect::<Vec<_>>()
    };
    [
        all(&[("/usr/bin", "python3.12"), ("/usr/lib/x86_64-linux-gnu", "libc.so.6")]),
        all(&[(CUDA, "libcudart.so.13.0.96"), ("/usr/local/cuda-13.0/compat", "libcuda.so.580.95.05")]),
        all(&[
            (CUDA, "libcublas.so.13.1.0.3"),
            (CUDA, "libcublasLt.so.13.1.0.3"),
            (CUDA, "libcufft.so.12.0.0.61"),
            (CUDA, "libnvrtc.so.13.0.88"),
            ("/usr/lib/x86_64-linux-gnu", "libnccl.so.2.28.3"),
        ]),
        all(&[
            (CUDA, "stubs/libcublas.so"),
            (CUDA, "libcublas_static.a"),
            ("/usr/local/cuda-13.0/bin", "nvcc"),
        ]),
        all(&[
            (SITE, "torch/lib/libtorch_cuda.so"),
            (SITE, "torch/_C.cpython-312-x86_64-linux-gnu.so"),
            (SITE, "nvidia/cublas/lib/libcublas.so.13"),
            (SITE, "nvidia/cublas/lib/libcublasLt.so.13"),
            (SITE, "nvidia/cudnn/lib/libcudnn.so.9"),
            (SITE, "nvidia/cudnn/lib/libcudnn_ops.so.9"),
            (SITE, "nvidia/nccl/lib/libnccl.so.2"),
            (SITE, "nvidia/nccl/lib/libnccl_arm.so.2"),
        ]),
        all(&[("/srv", "app.py"), ("/srv", "kernels.cubin"), ("/srv/models", "weights.safetensors")]),
    ]
}

/// The node of a path.
pub(crate) fn node(rootfs: &Rootfs, path: &str) -> NodeId {
    rootfs.nodes().find(|node| node.path() == path.as_bytes()).unwrap_or_else(|| panic!("no {path}")).id()
}

/// One container with all of it, that packs to a half.
fn containers(codes: &[GpuCode]) -> ContainerFacts {
    let class = |code: &GpuCode| CodeClass {
        kind: code.kind,
        arch: code.arch,
        suffix: code.suffix,
        compression: code.compression,
        is_known: true,
        without_kernel: false,
    };
    let mut classes: Vec<ClassSum> = codes
        .iter()
        .map(|code| ClassSum {
            class: class(code),
            entries: code.entries,
            bytes: code.bytes,
            uncompressed_bytes: code.uncompressed_bytes,
        })
        .collect();
    classes.sort_by_key(|sum| sum.class);
    let sample = |code: &GpuCode| CodeSample {
        kind: code.kind,
        arch: code.arch,
        suffix: code.suffix,
        compression: code.compression,
        bytes: MIB,
        deflated_bytes: MIB / 2,
    };
    ContainerFacts {
        groups: vec![ContainerGroup { containers: 1, classes }],
        fixed_bytes: 0,
        samples: codes.iter().map(sample).collect(),
    }
}

fn code(arch: u32, kind: GpuKind, mib: u64) -> GpuCode {
    GpuCode {
        arch,
        suffix: (arch == 90 && kind == GpuKind::Sass).then_some(Suffix::A),
        kind,
        isa: (kind == GpuKind::Ptx).then_some((9, 0)),
        compression: Compression::Zstd,
        entries: 200,
        bytes: mib * MIB,
        without_kernel: 0,
        uncompressed_bytes: mib * MIB * 3,
    }
}

/// A library in a few words.
struct Line {
    path: String,
    soname: &'static str,
    component: &'static str,
    version: &'static str,
    mib: u64,
    layer: u16,
    supplier: Supplier,
    role: Role,
    codes: Vec<(u32, GpuKind, u64)>,
}

#[allow(clippy::too_many_lines, reason = "one list, written out")]
fn lines() -> Vec<Line> {
    use GpuKind::{Lto, Ptx, Sass};
    use Supplier::{Toolkit, Wheel};
    let line =
        |folder: &str, name: &str, soname, component, version, mib, layer, supplier, codes: &[_]| Line {
            path: format!("{folder}/{name}"),
            soname,
            component,
            version,
            mib,
            layer,
            supplier,
            role: if folder.ends_with("stubs") {
                Role::Stub
            } else if folder.ends_with("compat") {
                Role::Compat
            } else {
                Role::Runtime
            },
            codes: codes.to_vec(),
        };
    let lt =
        [(75, Sass, 60), (80, Sass, 110), (86, Sass, 40), (90, Sass, 180), (100, Sass, 130), (120, Ptx, 5)];
    let blas = [(75, Sass, 11), (80, Sass, 15), (90, Sass, 20), (100, Sass, 18), (120, Ptx, 2)];
    let torch = [(75, Sass, 140), (80, Sass, 170), (86, Sass, 160), (90, Sass, 210), (120, Ptx, 40)];
    vec![
        line(
            "/usr/local/cuda-13.0/compat",
            "libcuda.so.580.95.05",
            "libcuda.so.1",
            "driver",
            "580.95.05",
            92,
            1,
            Toolkit,
            &[],
        ),
        line(CUDA, "libcublas.so.13.1.0.3", "libcublas.so.13", "cublas", "13.1.0.3", 96, 2, Toolkit, &blas),
        line(
            CUDA,
            "libcublasLt.so.13.1.0.3",
            "libcublasLt.so.13",
            "cublas",
            "13.1.0.3",
            560,
            2,
            Toolkit,
            &lt,
        ),
        line(CUDA, "libcudart.so.13.0.96", "libcudart.so.13", "cudart", "13.0.96", 1, 1, Toolkit, &[]),
        line(
            CUDA,
            "libcufft.so.12.0.0.61",
            "libcufft.so.12",
            "cufft",
            "12.0.0.61",
            266,
            2,
            Toolkit,
            &[(75, Sass, 60), (80, Sass, 70), (90, Sass, 80), (90, Lto, 20)],
        ),
        line(CUDA, "libnvrtc.so.13.0.88", "libnvrtc.so.13", "nvrtc", "13.0.88", 104, 2, Toolkit, &[]),
        line(
            &format!("{CUDA}/stubs"),
            "libcublas.so",
            "libcublas.so.13",
            "cublas",
            "13.1",
            0,
            3,
            Toolkit,
            &[],
        ),
        line(
            "/usr/lib/x86_64-linux-gnu",
            "libnccl.so.2.28.3",
            "libnccl.so.2",
            "nccl",
            "2.28.3",
            177,
            2,
            Toolkit,
            &[(80, Sass, 50), (90, Sass, 70), (120, Ptx, 10)],
        ),
        line(
            SITE,
            "nvidia/cublas/lib/libcublas.so.13",
            "libcublas.so.13",
            "cublas",
            "13.1.0.3",
            96,
            4,
            Wheel,
            &blas,
        ),
        line(
            SITE,
            "nvidia/cublas/lib/libcublasLt.so.13",
            "libcublasLt.so.13",
            "cublas",
            "13.1.0.3",
            560,
            4,
            Wheel,
            &lt,
        ),
        line(SITE, "nvidia/cudnn/lib/libcudnn.so.9", "libcudnn.so.9", "cudnn", "9.14.0", 1, 4, Wheel, &[]),
        line(
            SITE,
            "nvidia/cudnn/lib/libcudnn_ops.so.9",
            "libcudnn_ops.so.9",
            "cudnn",
            "9.14.0",
            110,
            4,
            Wheel,
            &[(75, Sass, 20), (80, Sass, 30), (90, Sass, 40)],
        ),
        line(
            SITE,
            "nvidia/nccl/lib/libnccl.so.2",
            "libnccl.so.2",
            "nccl",
            "2.28.3",
            177,
            4,
            Wheel,
            &[(80, Sass, 50), (90, Sass, 70), (120, Ptx, 10)],
        ),
        line(
            SITE,
            "nvidia/nccl/lib/libnccl_arm.so.2",
            "libnccl.so.2",
            "nccl",
            "2.28.3",
            180,
            4,
            Wheel,
            &[(90, Sass, 70)],
        ),
        line(SITE, "torch/lib/libtorch_cuda.so", "libtorch_cuda.so", "torch", "2.9.1", 980, 4, Wheel, &torch),
    ]
}

/// Objects in the order of [`links`].
const PYTHON: ObjectId = ObjectId(15);
const EXTENSION: ObjectId = ObjectId(16);

fn need(name: &str, to: ObjectId, step: SearchStep) -> Need {
    Need { name: name.into(), found: vec![Resolution::Found { object: to, step }] }
}

/// python3.12 opens torch's extension, which needs `libtorch_cuda`, which needs cublas, which needs cublasLt.
fn links(rootfs: &Rootfs, lines: &[Line]) -> Links {
    let object = |path: &str| Object {
        node: node(rootfs, path),
        needs: Vec::new(),
        needed_by: Vec::new(),
        opens: Vec::new(),
        opened_by: Vec::new(),
        root: None,
        usage: Use::Unreferenced,
        reached: None,
    };
    let mut objects: Vec<Object> = lines.iter().map(|line| object(&line.path)).collect();
    objects.push(object("/usr/bin/python3.12"));
    objects.push(object(&format!("{SITE}/torch/_C.cpython-312-x86_64-linux-gnu.so")));
    let at = |name: &str| {
        let place = lines.iter().position(|line| line.path.ends_with(name)).unwrap();
        ObjectId(u32::try_from(place).unwrap())
    };
    let torch = at("libtorch_cuda.so");
    let (blas, lt) = (at("nvidia/cublas/lib/libcublas.so.13"), at("nvidia/cublas/lib/libcublasLt.so.13"));
    let (dnn, ops, nccl) = (at("libcudnn.so.9"), at("libcudnn_ops.so.9"), at("nvidia/nccl/lib/libnccl.so.2"));
    let why = |kind, why: &str| Some(Root { kind, why: why.into() });
    let run = |folder: &str| SearchStep::Runpath(format!("{SITE}/nvidia/{folder}/lib"));
    let mut link = |from: ObjectId, to: ObjectId, name: &str, step: SearchStep| {
        objects[from.0 as usize].needs.push(need(name, to, step.clone()));
        let target = &mut objects[to.0 as usize];
        target.needed_by.push(from);
        target.usage = Use::Needed;
        target.reached = Some(Reached { from, name: name.into(), step, opened: false });
    };
    let rpath = SearchStep::Rpath(EXTENSION, format!("{SITE}/torch/lib"));
    link(EXTENSION, torch, "libtorch_cuda.so", rpath);
    link(torch, blas, "libcublas.so.13", run("cublas"));
    link(torch, dnn, "libcudnn.so.9", run("cudnn"));
    link(torch, nccl, "libnccl.so.2", run("nccl"));
    link(blas, lt, "libcublasLt.so.13", run("cublas"));
    objects[torch.0 as usize].needs.push(Need { name: "libcuda.so.1".into(), found: vec![Resolution::Host] });
    objects[torch.0 as usize]
        .needs
        .push(Need { name: "libcupti.so.13".into(), found: vec![Resolution::Missing] });
    objects[dnn.0 as usize].opens.push(Open {
        name: "libcudnn_ops.so.9".into(),
        found: Resolution::Found {
            object: ops,
            step: SearchStep::Table("opened by cuDNN's front library".into()),
        },
        optional: false,
        source: "cuDNN support matrix".into(),
    });
    let step = SearchStep::Table("opened by cuDNN's front library".into());
    let opened = &mut objects[ops.0 as usize];
    opened.opened_by.push(dnn);
    opened.usage = Use::Dlopen;
    opened.reached = Some(Reached { from: dnn, name: "libcudnn_ops.so.9".into(), step, opened: true });
    let python = &mut objects[PYTHON.0 as usize];
    python.root = why(RootKind::Entrypoint, "the interpreter of the image's entrypoint");
    python.usage = Use::Needed;
    let extension = &mut objects[EXTENSION.0 as usize];
    extension.root = why(RootKind::Extension, "an extension module of Python");
    extension.usage = Use::Needed;
    Links { objects, ..Links::default() }
}

fn package(manager: &'static str, name: &str, version: &str, layer: u16) -> Package {
    Package {
        manager,
        name: name.into(),
        version: version.into(),
        bytes: Some(MIB),
        files: Some(3),
        layer,
        root: None,
        maker: None,
        depends: Vec::new(),
        recommends: Vec::new(),
        suggests: Vec::new(),
        provides: Vec::new(),
        source: None,
        essential: false,
        automatic: None,
    }
}

/// The inventory of an image with [`files`].
#[allow(clippy::too_many_lines, reason = "one value, written out")]
pub(crate) fn inventory(rootfs: &Rootfs) -> Inventory {
    let lines = lines();
    let found = links(rootfs, &lines);
    let packages = vec![
        package("pip", "nvidia-cublas", "13.1.0.3", 4),
        package("dpkg", "libcublas-13-0", "13.1.0.3-1", 2),
    ];
    let libraries: Vec<Library> = lines
        .iter()
        .enumerate()
        .map(|(place, line)| {
            let codes: Vec<GpuCode> =
                line.codes.iter().map(|(arch, kind, mib)| code(*arch, *kind, *mib)).collect();
            let sum: u64 = codes.iter().map(|code| code.bytes).sum();
            let cublas = line.path.contains("libcublas.so");
            Library {
                node: node(rootfs, &line.path),
                object: ObjectId(u32::try_from(place).unwrap()),
                hard_link_of: None,
                soname: Some(line.soname.into()),
                component: line.component.into(),
                version: Some((line.version.into(), VersionSource::FileName)),
                cuda_major: (line.component != "nccl").then(|| (13, "the folder".into())),
                role: line.role,
                bytes: line.mib * MIB + 9_000,
                layer: line.layer,
                supplier: line.supplier,
                package: cublas.then_some(usize::from(line.supplier == Supplier::Toolkit)),
                foreign: line.path.contains("_arm").then(|| "aarch64".into()),
                overhead_bytes: if sum > 0 { MIB / 2 } else { 0 },
                gpu_section_bytes: if sum > 0 { sum + MIB / 2 } else { 0 },
                forward_compat: (line.role == Role::Compat).then(|| ForwardCompat {
                    cuda_version: Some("13.0".into()),
                    driver: vec![535, 550],
                    device: Vec::new(),
                }),
                containers: containers(&codes),
                gpu_code: codes,
            }
        })
        .collect();
    let place = |path: &str| libraries.iter().position(|library| library.node == node(rootfs, path)).unwrap();
    let (own, theirs) = (
        place(&format!("{CUDA}/libcublas.so.13.1.0.3")),
        place(&format!("{SITE}/nvidia/cublas/lib/libcublas.so.13")),
    );
    let (own_nccl, their_nccl) = (
        place("/usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3"),
        place(&format!("{SITE}/nvidia/nccl/lib/libnccl.so.2")),
    );
    let torch = libraries[place(&format!("{SITE}/torch/lib/libtorch_cuda.so"))].object;
    let duplicate = |soname: &str, own, theirs, identical, mib| Duplicate {
        soname: soname.into(),
        libraries: vec![own, theirs],
        identical,
        reclaimable_bytes: mib * MIB,
        picks: vec![Pick { library: theirs, loaded_by: vec![torch] }],
    };
    let duplicates = vec![
        duplicate("libnccl.so.2", own_nccl, their_nccl, Some(false), 177),
        duplicate("libcublas.so.13", own, theirs, None, 96),
    ];
    let holders = vec![
        GpuHolder {
            node: node(rootfs, &format!("{CUDA}/libcublas_static.a")),
            kind: HolderKind::Archive,
            gpu_code: vec![code(75, GpuKind::Sass, 40), code(90, GpuKind::Sass, 90)],
            containers: ContainerFacts::default(),
        },
        GpuHolder {
            node: node(rootfs, "/srv/kernels.cubin"),
            kind: HolderKind::File,
            gpu_code: vec![code(75, GpuKind::Sass, 1)],
            containers: ContainerFacts::default(),
        },
    ];
    Inventory {
        toolkits: vec![Toolkit {
            root: b"/usr/local/cuda-13.0".to_vec(),
            version: Some("13.0.2".into()),
            evidence: "version.json".into(),
            flavor: Flavor::Devel,
            cudnn_version: None,
        }],
        toolkit: Some(0),
        gpu_code: sums(&libraries, &holders),
        components: components(&libraries),
        holders,
        duplicates,
        identical: vec![Identical {
            nodes: vec![node(rootfs, "/usr/bin/python3.12"), node(rootfs, "/usr/local/cuda-13.0/bin/nvcc")],
            bytes: 6 * MIB,
        }],
        frameworks: vec![Framework {
            name: "torch".into(),
            version: Some("2.9.1+cu130".into()),
            cuda_version: Some("13.0".into()),
            strategy: Strategy::WheelBundled,
            evidence: "its wheel needs nvidia-cublas".into(),
            path: format!("{SITE}/torch").into_bytes(),
            level: Level::Framework,
            package: None,
        }],
        stack: stack(rootfs),
        weights: vec![WeightFile {
            node: node(rootfs, "/srv/models/weights.safetensors"),
            format: "safetensors".into(),
            bytes: 900 * MIB,
        }],
        packages,
        base: Some(BaseImage {
            reference: Some("nvidia/cuda:13.0.2-devel-ubuntu24.04".into()),
            flavor: Flavor::Devel,
            cuda_version: Some("13.0.2".into()),
            cudnn_version: None,
            distribution: Some("ubuntu24.04".into()),
            layers: 4,
            below: Vec::new(),
            evidence: vec!["NV_CUDA_LIB_VERSION".into()],
        }),
        classes: ClassBytes {
            layers: Vec::new(),
            merged: BTreeMap::from([
                (Class::System, 190 * MIB),
                (Class::CudaRuntime, 2_300 * MIB),
                (Class::CudaDevel, 4_500 * MIB),
                (Class::Framework, 1_900 * MIB),
                (Class::Weights, 900 * MIB),
                (Class::Application, 12 * MIB),
            ]),
            ..ClassBytes::default()
        },
        links: found,
        libraries,
        ..Inventory::default()
    }
}

fn sums(libraries: &[Library], holders: &[GpuHolder]) -> Vec<GpuCodeSum> {
    let mut sums: BTreeMap<(u32, Option<Suffix>, GpuKind), GpuCodeSum> = BTreeMap::new();
    let codes =
        libraries.iter().map(|library| &library.gpu_code).chain(holders.iter().map(|one| &one.gpu_code));
    for code in codes.flatten() {
        let (arch, suffix, kind) = (code.arch, code.suffix, code.kind);
        let sum = sums.entry((arch, suffix, kind)).or_insert(GpuCodeSum {
            arch,
            suffix,
            kind,
            bytes: 0,
            uncompressed_bytes: 0,
            libraries: 0,
            executables: 0,
            archives: 0,
            files: 0,
        });
        sum.bytes += code.bytes;
        sum.uncompressed_bytes += code.uncompressed_bytes;
        sum.libraries += code.bytes;
    }
    sums.into_values().collect()
}

fn components(libraries: &[Library]) -> Vec<Component> {
    let mut found: BTreeMap<Arc<str>, Component> = BTreeMap::new();
    for library in libraries {
        let name = Arc::clone(&library.component);
        let empty = Component { name: Arc::clone(&name), bytes: 0, libraries: 0, suppliers: Vec::new() };
        let component = found.entry(name).or_insert(empty);
        component.bytes += library.bytes;
        component.libraries += 1;
    }
    found.into_values().collect()
}

fn stack(rootfs: &Rootfs) -> Vec<StackLevel> {
    use SuppliedBy::{BaseImage, ByHand, Host, Missing, NotUsed, Wheel};
    let level = |level, names: &[&str], by: &[SuppliedBy], path: &str, note: &str| StackLevel {
        level,
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        supplied_by: by.to_vec(),
        nodes: if path.is_empty() { Vec::new() } else { vec![node(rootfs, path)] },
        note: (!note.is_empty()).then(|| note.to_owned()),
    };
    let torch = format!("{SITE}/torch/lib/libtorch_cuda.so");
    vec![
        level(Level::Server, &["uvicorn 0.38.0"], &[Wheel], "/usr/bin/python3.12", ""),
        level(Level::Model, &["/srv/app.py", "weights.safetensors"], &[ByHand], "/srv/app.py", ""),
        level(Level::Framework, &["torch 2.9.1+cu130"], &[Wheel], &torch, ""),
        level(Level::Kernels, &[], &[NotUsed], "", ""),
        level(
            Level::Libraries,
            &["cublas 13.1.0.3", "cudnn 9.14.0", "nccl 2.28.3"],
            &[Wheel, BaseImage],
            &torch,
            "The base image brings cublas and nccl once more; nobody loads those copies.",
        ),
        level(
            Level::Runtime,
            &["cudart 13.0.96"],
            &[Missing],
            "",
            "torch needs libcupti.so.13, which is missing.",
        ),
        level(Level::Driver, &["libcuda.so.1"], &[Host], "", "At least driver 580 for CUDA 13.0."),
        level(Level::KernelDriver, &["nvidia.ko"], &[Host], "", ""),
        level(Level::System, &["Linux"], &[Host], "", ""),
        level(Level::Gpu, &["sm_75 or newer"], &[Host], "", ""),
    ]
}
