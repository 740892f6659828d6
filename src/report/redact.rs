//! Redacts a report that was built without redaction, or by another program.
//!
//! Redacted values stay unchanged.

use super::model::{ImagePart, Report};
use super::proposal::ProposalLine;
use crate::base::redact;
use crate::source::redacted;

impl ImagePart {
    /// Redacts secrets in the reference, the names and the container config.
    pub(super) fn redact(&mut self) {
        self.reference = redacted(&self.reference);
        self.tags.iter_mut().for_each(|tag| *tag = redacted(tag));
        let Some(config) = &mut self.config else { return };
        config.env.iter_mut().for_each(|pair| *pair = redact::assignment(pair));
        for words in [&mut config.entrypoint, &mut config.cmd].into_iter().flatten() {
            *words = redact::words(words);
        }
        for text in [&mut config.working_dir, &mut config.user].into_iter().flatten() {
            *text = redact::value("", text).into_owned();
        }
        for (name, value) in &mut config.labels {
            *value = redact::value(name, value).into_owned();
        }
    }
}

impl Report {
    /// Redacts secrets in all texts from the image's config, history or Dockerfile.
    pub fn redact(&mut self) {
        self.image.redact();
        // Generated sentences, which may quote the image.
        for warning in &mut self.warnings {
            for text in [&mut warning.message, &mut warning.subject] {
                *text = redact::url_user_info(text).into_owned();
            }
        }
        let stack = self.cuda.iter_mut().flat_map(|cuda| &mut cuda.stack);
        for note in stack.filter_map(|level| level.note.as_mut()) {
            *note = redact::url_user_info(note).into_owned();
        }
        let layers = self.layers.iter_mut().filter_map(|layer| layer.created_by.as_mut());
        let findings = self.findings.iter_mut().flatten();
        let shares = findings.flat_map(|finding| &mut finding.layer_bytes);
        for text in layers.chain(shares.filter_map(|share| share.created_by.as_mut())) {
            *text = redact::instruction(text);
        }
        self.proposals.iter_mut().flatten().for_each(ProposalLine::redact);
    }
}

impl ProposalLine {
    /// Redacts secrets in the Dockerfile and its diff.
    pub(super) fn redact(&mut self) {
        self.base_image = self.base_image.as_deref().map(redacted);
        let new = self.dockerfile.as_deref().unwrap_or_default();
        self.diff = self.diff.as_deref().map(|text| diff(text, new));
        self.dockerfile = self.dockerfile.as_deref().map(dockerfile);
    }
}

/// Redacts a Dockerfile. Instructions are processed completely, over their continued lines, because a value may follow
/// on the next line.
fn dockerfile(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(first) = lines.next() {
        let mut whole = first.to_owned();
        let mut last = first;
        while let Some(next) = lines.next_if(|_| goes_on(last)) {
            whole.push_str(next);
            last = next;
        }
        shown.push_str(&instruction(&whole));
    }
    shown
}

/// Redacts a unified diff whose new text is `new`. For an instruction that begins before a hunk, the lines before are
/// taken from `new`: they are equal in both texts.
fn diff(text: &str, new: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = String::new();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(first) = lines.next() {
        if let Some(head) = first.strip_prefix("@@ ") {
            before = begun(head, new);
        }
        if !first.starts_with([' ', '+', '-']) || first.starts_with("--- ") || first.starts_with("+++ ") {
            shown.push_str(first);
            continue;
        }
        let mut marks = Vec::new();
        let mut whole = std::mem::take(&mut before);
        let hidden = whole.lines().count();
        let mut last = first;
        loop {
            let (mark, rest) = last.split_at(1);
            marks.push(mark);
            whole.push_str(rest);
            match lines.next_if(|next| goes_on(last) && next.starts_with([' ', '+', '-'])) {
                Some(next) => last = next,
                None => break,
            }
        }
        // A value that went over several lines took their ends with it.
        let whole = instruction(&whole);
        let mut rest = whole.split_inclusive('\n').skip(hidden);
        let gone = format!("{}\n", redact::REDACTED);
        for mark in marks {
            shown.push_str(mark);
            shown.push_str(rest.next().unwrap_or(&gone));
        }
        shown.extend(rest);
    }
    shown
}

/// The lines before a part of a diff, of the instruction in which it begins; `head` is `-1,7 +1,8 @@`.
fn begun(head: &str, new: &str) -> String {
    let start =
        head.split_once('+').and_then(|(_, rest)| rest.split([',', ' ']).next()?.parse::<usize>().ok());
    let lines: Vec<&str> =
        new.split_inclusive('\n').take(start.unwrap_or_default().saturating_sub(1)).collect();
    let first = lines.iter().rposition(|line| !goes_on(line)).map_or(0, |place| place + 1);
    lines.get(first..).unwrap_or_default().concat()
}

/// Whether an instruction continues on the next line: by a backslash, or the character set by `# escape`.
fn goes_on(line: &str) -> bool {
    line.trim_end().ends_with(['\\', '`'])
}

/// One instruction, with its line end.
fn instruction(text: &str) -> String {
    let mut hidden = redact::instruction(text);
    // Quotes around a redacted value are no secret, and a Dockerfile needs them.
    if hidden == text.replace(&format!("\"{}\"", redact::REDACTED), redact::REDACTED) {
        return text.to_owned();
    }
    if text.ends_with('\n') && !hidden.ends_with('\n') {
        hidden.push('\n');
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::{diff, dockerfile};

    #[test]
    fn what_is_hidden_already_stays_as_it_is() {
        for text in [
            "ENV HF_TOKEN=\"<redacted>\"\nENV A=b HF_TOKEN=\"<redacted>\" C=d\n",
            " ENV HF_TOKEN=<redacted>\n",
        ] {
            assert_eq!(dockerfile(text), text);
        }
    }

    #[test]
    fn secrets_of_a_dockerfile_and_of_its_diff_are_hidden() {
        let text = "FROM debian:12\nARG GIT_TOKEN=hunter2\nENV A=b \\\n    API_KEY=hunter2\nENV DB_PASSWORD \\\n    hunter2 words\n\
                    RUN git clone https://me:hunter2@example.org/x \\\n && npm config set _authToken=hunter2\nCMD [\"app\"]\n";
        let shown = dockerfile(text);
        assert!(!shown.contains("hunter2"), "{shown}");
        for kept in ["FROM debian:12\n", "ENV A=b \\\n", "example.org/x", "CMD [\"app\"]\n"] {
            assert!(shown.contains(kept), "{kept:?}: {shown}");
        }
        assert_eq!(dockerfile(&shown), shown);

        let text = "--- Dockerfile\n+++ Dockerfile\n@@ -1,2 +1,3 @@\n FROM debian:12\n-ENV API_KEY \\\n-  hunter2\n+ENV API_KEY=hunter2\n \
                    RUN login --password hunter2 \\\n-  && a\n+  && b\n";
        let shown = diff(text, "");
        assert!(!shown.contains("hunter2"), "{shown}");
        for kept in
            ["@@ -1,2 +1,3 @@\n FROM debian:12\n-ENV API_KEY", "\n+ENV API_KEY=", "\n-  && a\n+  && b\n"]
        {
            assert!(shown.contains(kept), "{kept:?}: {shown}");
        }
        assert_eq!(diff(&shown, ""), shown);
    }

    #[test]
    fn a_part_of_a_diff_may_begin_within_an_instruction() {
        let new =
            "FROM debian:12\nENV API_KEY \\\n  hunter2\nRUN a \\\n  --password \\\n  hunter2\nRUN new\n";
        for (text, wanted) in [
            ("@@ -3,1 +3,2 @@\n   hunter2\n+RUN a\n", "@@ -3,1 +3,2 @@\n <redacted>\n+RUN a\n"),
            (
                "@@ -6,2 +6,2 @@\n   hunter2\n-RUN old\n+RUN new\n",
                "@@ -6,2 +6,2 @@\n   <redacted>\n-RUN old\n+RUN new\n",
            ),
        ] {
            assert_eq!(diff(text, new), wanted);
            assert_eq!(diff(wanted, &dockerfile(new)), wanted);
        }
    }
}
