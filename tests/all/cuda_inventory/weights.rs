//! Files of model weights.

use super::{column, items, number, report_of_members};
use crate::fixtures::tarball::{file, hardlink};

#[test]
fn model_files_are_told_by_name_and_size() {
    // Path, bytes, and the format; none for what holds no weights.
    let cases = [
        ("models/model-00001-of-00002.safetensors", 900, Some("safetensors")),
        ("models/llama.Q4_K_M.gguf", 800, Some("gguf")),
        ("models/net.onnx", 700, Some("onnx")),
        ("models/resnet.engine", 600, Some("tensorrt")),
        ("models/net.tflite", 500, Some("tensorflow")),
        ("models/pytorch_model.bin", (1 << 20) + 10, Some("pytorch")),
        ("root/.cache/huggingface/hub/models--x/blobs/0123456789abcdef", (1 << 20) + 20, Some("safetensors")),
        // Too small for an ending that many things have.
        ("models/training_args.bin", 5_000, None),
        ("models/model.plan", 60_000, None),
        ("models/config.json", 4_000, None),
        ("models/safetensors", 4_000, None),
        ("models/net.onnx.md", 4_000, None),
        ("opt/data.img", 2 << 20, None),
    ];
    let mut members: Vec<_> = cases.iter().map(|(path, bytes, _)| file(*path, vec![b'w'; *bytes])).collect();
    members.push(hardlink("models/second.gguf", "models/llama.Q4_K_M.gguf"));
    let report = report_of_members(members);
    let weights = &report.json["cuda"]["weights"];
    let mut expected: Vec<(String, u64, &str)> = cases
        .iter()
        .filter_map(|(path, bytes, format)| Some((format!("/{path}"), *bytes as u64, (*format)?)))
        .collect();
    expected.sort_by_key(|(_, bytes, _)| std::cmp::Reverse(*bytes));
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
    assert_eq!(column(weights, "format").len(), 7);
}
