//! Programs and libraries of a few bytes.

#![allow(clippy::cast_possible_truncation, reason = "all numbers are our own and small")]

/// An ELF file for x86-64 with nothing but a dynamic table.
pub(super) fn elf(
    soname: Option<&str>,
    needed: &[&str],
    runpath: Option<&str>,
    interpreter: Option<&str>,
) -> Vec<u8> {
    let mut strings = vec![0_u8];
    let mut put = |text: &str| {
        let at = strings.len() as u64;
        strings.extend(text.as_bytes());
        strings.push(0);
        at
    };
    let mut tags: Vec<(u64, u64)> = needed.iter().map(|name| (1, put(name))).collect();
    tags.extend(soname.map(|name| (14, put(name))));
    tags.extend(runpath.map(|path| (29, put(path))));
    let loader = interpreter.map(&mut put);
    let segments = 2 + usize::from(loader.is_some());
    let strings_at = (64 + 56 * segments) as u64;
    let dynamic_at = (strings_at + strings.len() as u64).next_multiple_of(8);
    tags.extend([(5, strings_at), (10, strings.len() as u64), (0, 0)]);
    let end = dynamic_at + 16 * tags.len() as u64;
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    for half in [3_u16, 62] {
        file.extend(half.to_le_bytes());
    }
    file.extend(1_u32.to_le_bytes());
    for word in [0_u64, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend(0_u32.to_le_bytes());
    for half in [64_u16, 56, segments as u16, 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    let mut segment = |kind: u32, at: u64, size: u64| {
        file.extend(kind.to_le_bytes());
        file.extend(5_u32.to_le_bytes());
        for word in [at, at, at, size, size, 8] {
            file.extend(word.to_le_bytes());
        }
    };
    if let (Some(at), Some(path)) = (loader, interpreter) {
        segment(3, strings_at + at, path.len() as u64 + 1);
    }
    segment(1, 0, end);
    segment(2, dynamic_at, end - dynamic_at);
    file.extend(strings);
    file.resize(dynamic_at as usize, 0);
    for (tag, value) in tags {
        file.extend(tag.to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file
}
