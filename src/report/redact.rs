//! Hides secrets in a report that was made without hiding them, or by somebody else.
//!
//! What is hidden already stays as it is.

use super::model::Report;
use crate::base::redact;

impl Report {
    /// Hides what looks like a secret wherever a report has texts of the image's config, history or Dockerfile.
    pub fn redact(&mut self) {
        let image = &mut self.image;
        image.reference = redact::reference(&image.reference);
        image.tags.iter_mut().for_each(|tag| *tag = redact::reference(tag));
        if let Some(config) = &mut image.config {
            config.env.iter_mut().for_each(|pair| *pair = redact::assignment(pair));
            for words in [&mut config.entrypoint, &mut config.cmd].into_iter().flatten() {
                *words = redact::words(words);
            }
            for text in [&mut config.working_dir, &mut config.user].into_iter().flatten() {
                *text = redact::url_user_info(text).into_owned();
            }
            for (name, value) in &mut config.labels {
                *value = redact::value(name, value).into_owned();
            }
        }
        let layers = self.layers.iter_mut().filter_map(|layer| layer.created_by.as_mut());
        let findings = self.findings.iter_mut().flatten();
        let shares = findings.flat_map(|finding| &mut finding.layer_bytes);
        for text in layers.chain(shares.filter_map(|share| share.created_by.as_mut())) {
            *text = redact::instruction(text);
        }
        for proposal in self.proposals.iter_mut().flatten() {
            for base in proposal.base_image.iter_mut() {
                *base = redact::reference(base);
            }
            for text in [&mut proposal.dockerfile, &mut proposal.diff].into_iter().flatten() {
                *text = dockerfile(text);
            }
        }
    }
}

/// A Dockerfile, or a unified diff of two, as it may be shown. Instructions are looked at whole, over their
/// continued lines, since a value may stand on the line after its name.
pub(super) fn dockerfile(text: &str) -> String {
    let diff = text.starts_with("--- ");
    let mut shown = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if diff && line.starts_with(['@', '\\']) || line.starts_with("--- ") || line.starts_with("+++ ") {
            shown.push_str(line);
            continue;
        }
        let mut marks = Vec::new();
        let mut whole = String::new();
        let mut last = line;
        loop {
            let (mark, rest) = last.split_at(usize::from(diff && last.starts_with([' ', '+', '-'])));
            marks.push(mark);
            whole.push_str(rest);
            let goes_on = last.trim_end().ends_with(['\\', '`']);
            match lines.next_if(|next| goes_on && !next.starts_with('@')) {
                Some(next) => last = next,
                None => break,
            }
        }
        let mut hidden = redact::instruction(&whole);
        // Quotes around what is hidden already are no secret, and a Dockerfile needs them.
        if hidden == whole.replace(&format!("\"{}\"", redact::REDACTED), redact::REDACTED) {
            hidden = whole.clone();
        }
        // A value that went over several lines took their ends with it.
        let mut marks = marks.into_iter();
        for line in hidden.split_inclusive('\n') {
            shown.push_str(marks.next().unwrap_or_default());
            shown.push_str(line);
        }
        if whole.ends_with('\n') && !shown.ends_with('\n') {
            shown.push('\n');
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::dockerfile;

    #[test]
    fn what_is_hidden_already_stays_as_it_is() {
        for text in ["ENV HF_TOKEN=\"<redacted>\"\nENV A=b HF_TOKEN=\"<redacted>\" C=d\n", " ENV HF_TOKEN=<redacted>\n"] {
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

        let diff = "--- Dockerfile\n+++ Dockerfile\n@@ -1,2 +1,3 @@\n FROM debian:12\n-ENV API_KEY \\\n-  hunter2\n+ENV API_KEY=hunter2\n \
                    RUN login --password hunter2 \\\n-  && a\n+  && b\n";
        let shown = dockerfile(diff);
        assert!(!shown.contains("hunter2"), "{shown}");
        for kept in ["@@ -1,2 +1,3 @@\n FROM debian:12\n-ENV API_KEY", "\n+ENV API_KEY=", "\n-  && a\n+  && b\n"] {
            assert!(shown.contains(kept), "{kept:?}: {shown}");
        }
        assert_eq!(dockerfile(&shown), shown);
    }
}
