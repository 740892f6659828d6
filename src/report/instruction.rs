//! Build instructions as they appear in a Dockerfile.

/// An instruction as one reads it in a Dockerfile: no `/bin/sh -c`, no `#(nop)`, no `# buildkit`.
pub fn short_instruction(created_by: &str) -> String {
    let text = created_by.trim().trim_end_matches("# buildkit").trim_end();
    if let Some(nop) = text.strip_prefix("/bin/sh -c #(nop)") {
        return nop.trim_start().to_owned();
    }
    let command = text.strip_prefix("RUN ").unwrap_or(text);
    match command.find("/bin/sh -c ") {
        // Build arguments may precede the shell: `|1 A=b /bin/sh -c …`.
        Some(place) if place == 0 || command.starts_with('|') => {
            format!("RUN {}", command[place + "/bin/sh -c ".len()..].trim_start())
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::short_instruction;

    #[test]
    fn instructions_read_like_a_dockerfile() {
        let cases = [
            ("/bin/sh -c #(nop)  ENV A=b", "ENV A=b"),
            ("/bin/sh -c #(nop) ADD file:abc in / ", "ADD file:abc in /"),
            ("RUN /bin/sh -c apt-get update # buildkit", "RUN apt-get update"),
            ("RUN |1 A=b /bin/sh -c make # buildkit", "RUN make"),
            ("|1 A=b /bin/sh -c make", "RUN make"),
            ("/bin/sh -c make", "RUN make"),
            ("COPY a /b # buildkit", "COPY a /b"),
            ("bazel build //x", "bazel build //x"),
        ];
        for (text, shown) in cases {
            assert_eq!(short_instruction(text), shown);
        }
    }
}
