//! Which names are secret.

/// Replacement of a secret value.
pub const REDACTED: &str = "<redacted>";

const SECRET_WORDS: [&str; 6] = ["token", "secret", "password", "passwd", "credential", "key"];

/// Whether a variable, label or argument of this name is secret: its name contains token, secret, password, passwd,
/// credential or key, in any case.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}
