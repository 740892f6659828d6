//! Names that indicate secrets, and the names of redacted values.

use std::collections::BTreeSet;

use crate::base::redact::REDACTED;
use crate::base::text::{elide_end, printable};

/// Whether a name indicates a secret. Narrower than redaction, which prefers false positives:
/// `TOKENIZERS_PARALLELISM` and `--keyserver` would be false positives here.
pub(super) fn tells(name: &str) -> bool {
    /// Public names: keys that packages are signed with.
    const PUBLIC: [&str; 4] = ["nopasswd", "gpg_key", "public_key", "apt_key"];
    const WORDS: [&str; 10] = [
        "token",
        "secret",
        "secrets",
        "password",
        "passwd",
        "passphrase",
        "credential",
        "credentials",
        "apikey",
        "key",
    ];
    const ENDS: [&str; 7] = ["token", "secret", "password", "passwd", "passphrase", "apikey", "secretkey"];
    let mut plain = String::new();
    let mut before = ' ';
    for letter in name.chars() {
        // `apiKey` has two words, `APIKEY` one.
        if letter.is_ascii_uppercase() && before.is_ascii_lowercase() {
            plain.push('_');
        }
        plain.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' });
        before = letter;
    }
    // `adduser --disabled-password`
    if let Some((first, "password" | "passwd")) = plain.split_once('_')
        && ["disable", "disabled", "no", "without"].contains(&first)
    {
        return false;
    }
    if PUBLIC.iter().any(|public| plain.ends_with(public)) {
        return false;
    }
    // The last word describes the value: the file or the name of a secret is not a secret.
    let last = plain.rsplit('_').next().unwrap_or_default();
    if matches!(
        last,
        "file" | "path" | "dir" | "url" | "uri" | "id" | "name" | "type" | "length" | "size" | "server"
    ) {
        return false;
    }
    plain.split('_').map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit())).any(|word| {
        // `PGPASSWORD` and `authtoken` end with the word; `key` counts only as a word of its own.
        WORDS.contains(&word) || ENDS.iter().any(|end| word.ends_with(end))
    })
}

/// Whether a value cannot be a secret: empty, a number, a boolean, a path, or the name of another variable.
pub(super) fn is_plain(value: &str) -> bool {
    let value = value.trim().trim_matches(['"', '\'']);
    value.is_empty()
        || value.starts_with(['$', '/', '<'])
        || value.parse::<f64>().is_ok()
        || matches!(
            value.to_ascii_lowercase().as_str(),
            "true" | "false" | "yes" | "no" | "none" | "null" | "on" | "off"
        )
}

/// Names of the redacted values of a text.
pub(super) fn held(text: &str, shown: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = text;
    let mut parts = shown.split(REDACTED);
    let mut before = parts.next().unwrap_or_default();
    for after in parts {
        // The text between two redacted values is unchanged: so a value ends where it begins.
        rest = rest.get(before.len()..).unwrap_or_default();
        let end = if after.is_empty() { rest.len() } else { rest.find(after).unwrap_or(rest.len()) };
        let value = rest.get(..end).unwrap_or_default();
        rest = rest.get(end..).unwrap_or_default();
        let name = before.trim_end_matches([' ', '=', ':', '"', '\'', '\\', ',']);
        if before.ends_with("://") {
            found.insert("user info in a URL".to_owned());
        } else {
            let start =
                name.rfind(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).map_or(0, |at| at + 1);
            let name = name.get(start..).unwrap_or(name).trim_start_matches('-');
            if tells(name) && !is_plain(value) {
                found.insert(shown_name(name));
            }
        }
        before = after;
    }
    found
}

/// A name, safe to show.
pub(super) fn shown_name(name: &str) -> String {
    elide_end(&printable(name), 80)
}

#[cfg(test)]
mod tests {
    use super::{held, is_plain, tells};
    use crate::base::redact;

    #[test]
    fn names_of_secrets_are_told_from_their_like() {
        for name in [
            "HF_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "db_password",
            "apiKey",
            "OPENAI_API_KEY",
            "NPM_TOKEN",
            "x.credentials",
            "DISABLED_AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(tells(name), "{name}");
        }
        for name in [
            "TOKENIZERS_PARALLELISM",
            "GPG_KEY",
            "MAX_TOKENS",
            "MONKEY",
            "KEYSERVER",
            "keyserver",
            "recv-keys",
            "SECRET_FILE",
            "TOKEN_URL",
            "AWS_ACCESS_KEY_ID",
            "NOPASSWD",
            "PATH",
            "disabled-password",
            "no-password",
        ] {
            assert!(!tells(name), "{name}");
        }
        for value in ["", "12", "false", "$TOKEN", "${TOKEN}", "/run/secrets/x", "\"\""] {
            assert!(is_plain(value), "{value}");
        }
        assert!(!is_plain("hf_abc"));
    }

    #[test]
    fn history_gives_names_and_no_values() {
        let names = |text: &str| held(text, &redact::instruction(text)).into_iter().collect::<Vec<_>>();
        assert_eq!(names("RUN |2 HF_TOKEN=hf_abc PORT=80 /bin/sh -c ./download # buildkit"), ["HF_TOKEN"]);
        assert_eq!(names("RUN /bin/sh -c curl -u me --password hunter2 https://x.example/"), ["password"]);
        assert_eq!(names("RUN /bin/sh -c git clone https://me:pw@git.example/x"), ["user info in a URL"]);
        for text in [
            "ARG HF_TOKEN",
            "RUN /bin/sh -c gpg --batch --keyserver hkps://keys.example --recv-keys \"$GPG_KEY\"",
            "ENV GPG_KEY=7169605F62C751356D054A26A821E680E5FA6305",
            "RUN /bin/sh -c curl -fsSL x.pub | apt-key add -",
            "ENV TOKENIZERS_PARALLELISM=false",
            "RUN /bin/sh -c pip install tokenizers==0.19",
            "RUN /bin/sh -c huggingface-cli login --token $HF_TOKEN",
        ] {
            assert_eq!(names(text), Vec::<String>::new(), "{text}");
        }
    }
}
