//! What the fuzzers start from: one or a few inputs for each target, made by the fixtures.

use std::io::Write as _;

use crate::fixtures::elf::{Elf, archive, object};
use crate::fixtures::fatbin::{Coding, Entry, container, section, wrapper};
use crate::fixtures::packages::{
    apk_installed, conda_meta, dpkg_list, dpkg_status, pip_metadata, pip_record,
};
use crate::fixtures::packing::Packing;
use crate::fixtures::rpm;
use crate::fixtures::sparse::Sparse;
use crate::fixtures::tarball::{
    Long, Member, block_device, dir, fifo, file, hardlink, member, opaque, pax_records, symlink, tar,
    whiteout,
};

use super::images;

/// One file of a corpus.
pub struct Seed {
    /// The target.
    pub target: &'static str,
    /// The file's name.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// All seeds that code makes.
pub fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    let mut add = |target, name, bytes: Vec<u8>| seeds.push(Seed { target, name, bytes });
    layers(&mut add);
    binaries(&mut add);
    packages(&mut add);
    texts(&mut add);
    images::seeds(&mut add);
    seeds
}

/// A layer with whatever the layer rules know.
pub fn small_layer() -> Vec<u8> {
    tar([
        dir("usr/lib"),
        file("usr/lib/a.txt", "text"),
        hardlink("usr/lib/b.txt", "usr/lib/a.txt"),
        symlink("usr/lib/c.so", "a.txt"),
        whiteout("etc/gone"),
        opaque("var/cache"),
        fifo("run/pipe"),
        file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
        file("usr/bin/run", "#!/bin/sh\nexec nvcc -lcublas x.cu\n").mode(0o755),
    ])
}

/// Names and numbers in all the ways that writers have for them.
fn long_names() -> Vec<u8> {
    let long = |letter: &str| format!("{}/{}", letter.repeat(90), letter.repeat(60));
    let mut numbers = file("numbers", "12").owned_by(3_000_000, 7);
    numbers.base256 = true;
    let mut header = member(b'g', "pax_global_header");
    header.body = pax_records(&[(b"comment".to_vec(), b"of all".to_vec())]);
    tar([
        header,
        file(long("p"), "pax").pax("mtime", "1767323045.5").pax("SCHILY.xattr.user.a", [0, 255, 10]),
        symlink("g", long("g")).long(Long::Gnu),
        file(long("g"), "gnu").long(Long::Gnu).gnu(),
        file(long("u"), "ustar").long(Long::Prefix),
        file("sized", "1234567").claiming(0).pax("size", "7"),
        numbers,
        file("v7/", "").v7(),
        block_device("dev/sda"),
    ])
}

fn sparse() -> Vec<u8> {
    let (few, many) = (Sparse::regular(2, 4096), Sparse::regular(6, 512));
    tar([few.pax_0_0("a"), few.pax_0_1("b"), few.pax_1_0("c"), many.old_gnu("d")])
}

fn documents() -> Vec<Member> {
    vec![
        file("var/lib/dpkg/status", dpkg_status("cuda-cudart-12-4", "12.4.1-1", 9, &[])),
        file(
            "var/lib/dpkg/info/cuda-cudart-12-4.list",
            dpkg_list(&["/usr/local/cuda/lib64/libcudart.so.12"]),
        ),
        file("lib/apk/db/installed", apk_installed("musl", "1.2", 99, "so:libc.so", &["/lib/libc.so"])),
        file(
            "usr/lib/python3/dist-packages/torch-2.5.dist-info/METADATA",
            pip_metadata("torch", "2.5", &["numpy"]),
        ),
        file("usr/lib/python3/dist-packages/torch/version.py", "cuda = '12.4'\n"),
        file("etc/os-release", "ID=ubuntu\nVERSION_ID=\"22.04\"\n"),
        file("usr/local/cuda-12.4/version.json", r#"{"cuda":{"name":"CUDA SDK","version":"12.4.1"}}"#),
    ]
}

fn layers(add: &mut impl FnMut(&'static str, &'static str, Vec<u8>)) {
    let small = small_layer();
    add("tar_walk", "small.tar", small.clone());
    add("tar_walk", "long-names.tar", long_names());
    add("tar_walk", "sparse.tar", sparse());
    add("tar_walk", "documents.tar", tar(documents()));
    add("tar_walk", "library.tar", tar([file("usr/lib/libcudart.so.12", library(Coding::Stored))]));
    let mut points = vec![6, 99, 1];
    points.extend_from_slice(&crate::inflate::contents(9_000, 3));
    add("gzip_points", "two-members.bin", points);
    add("gzip_points", "members.tar.gz", Packing::GzipMembers.pack(&small).1);
    add("gzip_layer", "small.tar", small.clone());
    add("gzip_layer", "members.tar.gz", Packing::GzipMembers.pack(&small).1);
    add("gzip_layer", "estargz.tar.gz", Packing::Estargz.pack(&small).1);
    add("zstd_layer", "small.tar", small.clone());
    add("zstd_layer", "frames.tar.zst", Packing::ZstdFrames.pack(&small).1);
    add("zstd_layer", "chunked.tar.zst", Packing::ZstdChunked.pack(&small).1);
    add("zstd_layer", "long.tar.zst", Packing::ZstdLong.pack(&tar([file("a", "b")])).1);
    add("sniffing", "frame.zst", Packing::Zstd.pack(b"text that is packed").1);
    add("sniffing", "chunked.tar.zst", Packing::ZstdChunked.pack(&tar([file("a", "b")])).1);
    add("layer_record", "small.tar", small);
}

/// A library with GPU code, and the pointer to it.
fn library(coding: Coding) -> Vec<u8> {
    let mut elf = Elf::library("libcudart.so.12").needing(&["libc.so.6", "libdl.so.2"]);
    elf.runpath = Some("$ORIGIN/../lib".into());
    elf.exports = vec!["cudaMalloc".into()];
    elf.with_section(".nv_fatbin", section(&[80], Some(90), 900, coding, "seed"))
        .with_section(".nvFatBinSegment", wrapper())
        .build()
}

/// A library with containers for several GPUs, in a section of their own and among data.
fn kernels() -> Vec<u8> {
    let of = |archs: &[u32], ptx| section(archs, ptx, 900, Coding::Lz4, "seed");
    let data = [b"sixteen bytes...".to_vec(), of(&[86], Some(86))].concat();
    Elf::library("libkernels.so")
        .with_section(".nv_fatbin", [of(&[50, 90], Some(90)), of(&[75], None)].concat())
        .with_section(".rodata", data)
        .build()
}

/// A library of one segment that ends with the zeros which the target appends.
fn one_segment() -> Vec<u8> {
    let bytes: u64 = 4096 + (256 << 10);
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([3_u16, 62].iter().flat_map(|half| half.to_le_bytes()));
    file.extend(1_u32.to_le_bytes());
    file.extend([0_u64, 64, 0].iter().flat_map(|word| word.to_le_bytes()));
    file.extend(0_u32.to_le_bytes());
    file.extend([64_u16, 56, 1, 64, 0, 0].iter().flat_map(|half| half.to_le_bytes()));
    file.extend([1_u32, 4].iter().flat_map(|half| half.to_le_bytes()));
    file.extend([0_u64, 0, 0, bytes, bytes, 4096].iter().flat_map(|word| word.to_le_bytes()));
    file.resize(4096, 7);
    file
}

fn binaries(add: &mut impl FnMut(&'static str, &'static str, Vec<u8>)) {
    // These targets put the magic before what they are given.
    let library = library(Coding::Zstd);
    let program = Elf::program("tool").needing(&["libcuda.so.1"]).build();
    let cubin = object(2, 190, 0x0600_5004, (0x41, 8), &[(".text.kernel", &[7; 48])]);
    add("elf", "library", library[4..].to_vec());
    add("elf", "program", program[4..].to_vec());
    add("elf", "cubin", cubin[4..].to_vec());
    let members = [("a.o".to_owned(), cubin), ("notes".to_owned(), b"odd".to_vec())];
    add("archive", "objects", archive(&members)[8..].to_vec());
    let entries = [
        Entry::cubin(80, None, 500, Coding::Stored, "a"),
        Entry::cubin(90, Some('a'), 500, Coding::Lz4, "b"),
        Entry::ptx(90, (8, 0), 200, Coding::Zstd, "c"),
    ];
    add("fatbin", "entries", container(&entries)[4..].to_vec());
    add("gpu_code_pruning", "library", kernels()[4..].to_vec());
    add("shrunk_libraries", "segment", one_segment());
}

fn headers() -> Vec<Vec<u8>> {
    let cublas =
        rpm::Package::new("libcublas-12-4", "12.4.5.8", "1").with_files(&["/usr/lib64/libcublas.so.12"]);
    vec![cublas.header(), rpm::Package::new("bash", "5.2", "3.fc40").header()]
}

fn packages(add: &mut impl FnMut(&'static str, &'static str, Vec<u8>)) {
    let status = [
        dpkg_status(
            "libcublas-12-4",
            "12.4.5.8-1",
            600,
            &[("Depends", "libc6 (>= 2.14) | libc6-udeb, cuda")],
        ),
        dpkg_status("removed", "1", 1, &[("Source", "other (2)")]),
    ];
    add("packages_system", "status", status.concat());
    add("packages_system", "list", dpkg_list(&["/usr/lib/a.so", "/usr/share/doc/a"]));
    add(
        "packages_system",
        "installed",
        apk_installed("musl", "1.2.5-r0", 400, "so:libc.musl", &["/lib/ld-musl"]),
    );
    add(
        "packages_python",
        "METADATA",
        pip_metadata("torch", "2.5.1+cu124", &["nvidia-cublas-cu12 (==12.4)"]),
    );
    add("packages_python", "RECORD", pip_record(&[("torch/a, b.py", "abc", 3), ("torch/RECORD", "", 0)]));
    add(
        "packages_python",
        "conda.json",
        conda_meta("cuda-cudart", "12.4", "0", &["cuda >=12"], &[("lib/a.so", 9)]),
    );
    add(
        "packages_python",
        "version.py",
        b"__version__ = '2.5.1+cu124'\ncuda: Optional[str] = '12.4'\n".to_vec(),
    );
    let headers = headers();
    add("rpm", "header", headers[0].clone());
    add("rpm", "Packages", rpm::berkeley(&headers, 512, false));
    add("rpm", "Packages.db", rpm::ndb(&headers));
    let schema =
        "PRAGMA page_size = 512; CREATE TABLE 'Packages' (hnum INTEGER PRIMARY KEY, blob BLOB NOT NULL);";
    add("rpm_sqlite", "rpmdb.sqlite", rpm::sqlite_of(schema, &headers, true).unwrap());
}

const POLICY: &str = r#"targets = ["h200", "sm_90"]

[budget]
compressed_bytes = "4 GiB"
devel_bytes = 0
efficiency = 0.9

[rules]
deny = ["static-libraries", "stubs"]
allow = ["headers"]

[regression]
merged_bytes = "+5%"

[[ignore]]
rule = "headers"
path = "/opt/kernels/include/**"
reason = "compiled at the first request"
expires = 2027-03-31
"#;

fn texts(add: &mut impl FnMut(&'static str, &'static str, Vec<u8>)) {
    let file = |name: &str| {
        let path = super::root().join("fixtures/dockerfiles").join(format!("{name}.Dockerfile"));
        std::fs::read(path).unwrap()
    };
    add("dockerfile", "heredocs", file("heredoc-several"));
    add("dockerfile", "every-keyword", file("every-keyword"));
    add("dockerfile", "shell", file("shell-case"));
    add("dockerfile", "backticks", file("windows-backtick"));
    add("dockerfile_edits", "stages", file("cuda-devel-two-stages"));
    add("dockerfile_edits", "continued", file("many-continuations"));
    let conf =
        "# all\ninclude /etc/ld.so.conf.d/*.conf\n/usr/local/cuda/lib64 = libc6\nhwcap 1 x\n/a[b-d]?\\*\n";
    add("loader_conf", "ld.so.conf", conf.into());
    add("loader_conf", "os-release", b"ID=rocky\nVERSION_ID=\"9.3\"\nPRETTY_NAME='Rocky'\n".to_vec());
    add("loader_conf", "version.json", br#"{"cuda":{"name":"CUDA SDK","version":"12.4.1"}}"#.to_vec());
    let script = "#!/bin/sh\n# not nvcc\ncmake . && make; gcc -I/usr/include x.c\nnvcc -lcublas\n\
        ctypes.CDLL('libcudnn.so.9')\n#include <cuda_runtime.h>\nenv CC=gcc git clone x\n";
    add("mentions", "script", script.into());
    let cerebrium = "[cerebrium.deployment]\nname = \"a\"\ndocker_base_image_url = \"nvidia/cuda:12.1.1-devel-ubuntu22.04\"\n\
        [cerebrium.hardware]\ncompute = \"HOPPER_H100\"\ngpu_count = 1\n[cerebrium.dependencies.pip]\ntorch = \"==2.6.0\"\n";
    add("platform_file", "cerebrium.toml", cerebrium.into());
    let pod = "x: &a {limits: {nvidia.com/gpu: 1}}\napiVersion: v1\nkind: Pod\nspec:\n  nodeSelector: {nvidia.com/gpu.product: \
        NVIDIA-L4}\n  containers:\n  - <<: {image: 'nvidia/cuda:12.4.1-base-ubuntu22.04', resources: *a}\n    name: a\n    env: [{name: \
        LD_LIBRARY_PATH, value: /a}]\n---\nkind: Job\n";
    add("platform_file", "pod.yaml", pod.into());
    let azure = "$schema: https://x/environment.schema.json\nimage: a\nbuild: {path: .}\nconda_file:\n  dependencies: [python=3.10, \
        {pip: [torch==2.9.1]}]\ninstance_type: Standard_NC4as_T4_v3\n";
    add("platform_file", "azure.yml", azure.into());
    add("policy", "cutaway.toml", POLICY.into());
    let digest = format!("oci-archive:a.tar@sha256:{}", "a".repeat(64));
    add("reference", "digest", digest.into_bytes());
    add("reference", "place", b"docker-archive:b.tar:@1".to_vec());
    add("reference", "user", b"docker://me:word@host.example:5000/name:tag".to_vec());
    let run = "RUN |1 TOKEN=abc /bin/sh -c curl -u me:word https://me:word@host.example/a?b \
        && echo '{\"password\": \"x\"}' # buildkit";
    add("secrets", "instruction", run.into());
    add("secrets", "words", b"serve --api-key=abc --token 'd e' -Dsecret=\"f\" export KEY=g".to_vec());
}

/// A zstd frame that says nothing of its size, as a stream writes it.
pub fn zstd_stream(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
