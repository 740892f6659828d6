//! User info in URLs and image references.

use std::borrow::Cow;

use super::name::REDACTED;

/// Replaces the user info of every URL (`https://user:secret@host`) in `text`.
pub fn url_user_info(text: &str) -> Cow<'_, str> {
    if !text.contains("://") {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let ends_url = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
    for part in text.split_inclusive(ends_url) {
        let url = part.trim_end_matches(ends_url);
        push_part(&mut shown, url);
        shown.push_str(&part[url.len()..]);
    }
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// A part without white space and quotes, which may have several URLs. The last `@` is searched once, so that the cost
/// is linear.
fn push_part(shown: &mut String, part: &str) {
    let last_at = last_user_at(part);
    let mut start = 0;
    while let Some(scheme) = part[start..].find("://") {
        let authority = start + scheme + 3;
        shown.push_str(&part[start..authority]);
        start = authority;
        let (end, user_end) = user_info(part, authority, last_at);
        if let Some(at) = user_end {
            shown.push_str(REDACTED);
            start = at;
        }
        let end = end.max(start);
        // The scheme of the next URL in a list is not part of this one.
        let next_scheme = part[..end].ends_with(':') && part[end..].starts_with("//");
        let end = if next_scheme && end > start { end - 1 } else { end };
        shown.push_str(&part[start..end]);
        start = end;
    }
    shown.push_str(&part[start..]);
}

/// The end of the authority that begins at `start`, and the `@` that ends its user info.
fn user_info(part: &str, start: usize, last_at: Option<usize>) -> (usize, Option<usize>) {
    let end = part[start..].find(['/', '?', '#']).map_or(part.len(), |length| start + length);
    let authority = &part[start..end];
    let at = authority.rfind('@').map(|at| start + at);
    let host = at.map_or(authority, |at| &part[at + 1..end]);
    // A password may contain a slash: then the apparent authority ends inside it.
    let beyond = last_at.filter(|last| *last >= end && !is_host(host, at.is_some()));
    match beyond {
        Some(last) if authority.contains(':') => (end, Some(last)),
        _ => (end, at),
    }
}

/// Whether this can only be a host; with `known`, user info precedes it.
fn is_host(host: &str, known: bool) -> bool {
    let port = host.rsplit_once(':').map(|(_, port)| port);
    let has_port = port.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    host.starts_with('[') || has_port || known && (host.contains('.') || host == "localhost")
}

/// The last `@` that does not begin a digest.
fn last_user_at(text: &str) -> Option<usize> {
    let at = text.rfind('@')?;
    if is_digest(&text[at + 1..]) { text[..at].rfind('@') } else { Some(at) }
}

fn is_digest(text: &str) -> bool {
    text.split_once(':').is_some_and(|(algorithm, hex)| {
        let known = matches!(algorithm, "sha256" | "sha384" | "sha512");
        // Text with a slash or a dot is a host or a path, with a digest after it.
        let plain =
            algorithm.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'_'));
        known || plain && hex.len() >= 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Length of the prefix of an image reference that names its transport, and whether a path follows.
type Prefix = fn(&str) -> Option<(usize, bool)>;

/// Redacts an image reference: user info of a URL, or before a host without a scheme (`user:secret@host/image`). A
/// digest stays.
pub fn reference(text: &str, prefix: Prefix) -> String {
    match text.split_once("://") {
        Some((before, _)) if before.contains('@') => before_host(&url_user_info(text), prefix),
        Some(_) => url_user_info(text).into_owned(),
        None => before_host(text, prefix),
    }
}

/// [`reference`] with user info before a host without a scheme.
fn before_host(text: &str, prefix: Prefix) -> String {
    let known = prefix(text);
    let start = known.map_or(0, |(length, _)| length);
    let body = &text[start..];
    let first = body.find('/').unwrap_or(body.len());
    let has_colon = body[..first].contains(':');
    let (_, user_end) = user_info(body, 0, last_user_at(body));
    let Some(at) = user_end else { return text.to_owned() };
    let before = &body[..at];
    // `name@sha256:…`, `FILE:@0` and a file `a@b.tar` name no user.
    let is_path = !has_colon && known.map_or(first == body.len(), |(_, is_path)| is_path);
    if before.is_empty() || is_digest(&body[at + 1..]) || before.ends_with(':') || is_path {
        return text.to_owned();
    }
    format!("{}{REDACTED}{}", &text[..start], &body[at..])
}
