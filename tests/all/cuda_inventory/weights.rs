//! Files of model weights.

use super::{column, image, items, number, only_warns_of, report_of};
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, hardlink};

const MIB: usize = 1 << 20;

/// `size` bytes that begin so.
fn body(start: &[u8], size: usize) -> Vec<u8> {
    let mut body = start.to_vec();
    body.resize(size, b'w');
    body
}

#[test]
fn model_files_are_told_by_name_size_and_first_bytes() {
    const ZIP: &[u8] = b"PK\x03\x04";
    const SAFETENSORS: &[u8] = b"\x40\0\0\0\0\0\0\0{\"a\":1}";
    let hub = "root/.cache/huggingface/hub/models--x/blobs";
    let blob = |name: &str| format!("{hub}/{name}");
    let program = crate::fixtures::elf::Elf::program("ncu-ui").build();
    // Path, first bytes, size, and the format; none for what holds no weights.
    let cases = [
        ("models/model-00001-of-00002.safetensors".to_owned(), SAFETENSORS, 900, Some("safetensors")),
        ("models/llama.Q4_K_M.gguf".into(), b"GGUF", 800, Some("gguf")),
        ("models/net.onnx".into(), b"\x08\x07", 700, Some("onnx")),
        ("models/resnet.engine".into(), b"ftrt", MIB + 40, Some("tensorrt")),
        ("models/variables.data-00003-of-00012".into(), b"", 450, Some("tensorflow")),
        ("models/net.tflite".into(), b"", 500, Some("tensorflow")),
        ("models/model.plan".into(), b"ftrt", MIB + 70, Some("tensorrt")),
        ("models/pytorch_model.bin".into(), ZIP, MIB + 10, Some("pytorch")),
        ("models/old.pt".into(), b"\x80\x02", MIB + 11, Some("pytorch")),
        (blob("0123456789abcdef"), SAFETENSORS, MIB + 20, Some("safetensors")),
        (blob("fedcba9876543210"), b"GGUF", MIB + 21, Some("gguf")),
        // Too small for an ending that many things have.
        ("models/training_args.bin".into(), ZIP, 5_000, None),
        ("models/small.plan".into(), b"", 60_000, None),
        // The ending says weights, the first bytes do not.
        ("models/firmware.bin".into(), b"\x7fFW", MIB + 30, None),
        ("opt/nvidia/nsight-compute/ncu-ui.bin".into(), &program, 2 * MIB, None),
        ("models/pytorch_model.gguf".into(), &program, 2 * MIB + 1, None),
        ("models/config.json".into(), b"{", 4_000, None),
        ("models/gantt.plan".into(), b"{\"a\":1}", MIB + 80, None),
        ("data/train.npy".into(), b"\x93NUMPY", 17 * MIB, None),
        ("models/safetensors".into(), SAFETENSORS, 4_000, None),
        ("models/net.onnx.md".into(), b"#", 4_000, None),
        ("opt/data.img".into(), b"", 2 * MIB, None),
    ];
    let mut members: Vec<_> =
        cases.iter().map(|(path, start, size, _)| file(path, body(start, *size))).collect();
    members.push(hardlink("models/second.gguf", "models/llama.Q4_K_M.gguf"));
    let mut expected: Vec<(String, u64, &str)> = cases
        .iter()
        .filter_map(|(path, _, bytes, format)| Some((format!("/{path}"), *bytes as u64, (*format)?)))
        .collect();
    expected.sort_by_key(|(_, bytes, _)| std::cmp::Reverse(*bytes));
    for packing in [Packing::Gzip, Packing::Plain] {
        let report = report_of(&image(packing, std::slice::from_ref(&members)));
        only_warns_of(&report, &[]);
        let weights = &report.json["cuda"]["weights"];
        let found: Vec<(String, u64, &str)> = items(weights)
            .iter()
            .map(|file| {
                let text = |field: &str| file[field].as_str().unwrap();
                (text("path").to_owned(), number(&file["bytes"]), text("format"))
            })
            .collect();
        assert_eq!(found, expected, "largest first");
        let class: u64 = report.layers().iter().map(|layer| number(&layer["class_bytes"]["weights"])).sum();
        assert_eq!(class, expected.iter().map(|(_, bytes, _)| bytes).sum::<u64>());
        assert_eq!(column(weights, "format").len(), expected.len());
    }
}
