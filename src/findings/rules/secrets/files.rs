//! Files with names of secrets, in all layers. Their content is not read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::RULE;
use crate::base::convert::layer16;
use crate::base::text::{elide_middle, escape};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Item, Severity, Verdict};
use crate::layer::EntryKind;

/// Whether a path is that of a secret file; `Some(true)` when it is one only sometimes.
fn is_secret_file(path: &[u8]) -> Option<bool> {
    let path = String::from_utf8_lossy(path);
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let name = parts.pop()?;
    let folder = parts.last().copied().unwrap_or_default();
    let foreign = |part: &&str| {
        matches!(
            *part,
            "site-packages" | "dist-packages" | "node_modules" | "test" | "tests" | "testdata" | "examples"
        )
    };
    let of_system = [
        "/etc/ssl",
        "/etc/pki",
        "/usr/share",
        "/usr/lib",
        "/usr/include",
        "/usr/local/share/ca-certificates",
    ];
    if parts.iter().any(foreign) || of_system.iter().any(|start| path.starts_with(start)) {
        return None;
    }
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let of_people =
        matches!(parts.first().copied(), Some("root" | "home" | "app" | "srv" | "opt" | "workspace"));
    match (folder, name) {
        (".ssh", name) if name.starts_with("id_") && extension != Some("pub") => Some(false),
        (".aws", "credentials")
        | (".huggingface" | "huggingface", "token" | "stored_tokens")
        | (".docker", "config.json")
        | (_, ".netrc" | ".git-credentials" | ".pypirc" | ".dockercfg" | ".pgpass") => Some(false),
        (".kaggle" | "kaggle", "kaggle.json") | ("gcloud", "application_default_credentials.json") => {
            Some(false)
        }
        (_, ".env" | ".npmrc") => Some(true),
        ("pip" | ".pip" | "etc", "pip.conf") => Some(true),
        (_, "cacert.pem" | "ca-bundle.pem" | "cert.pem" | "fullchain.pem") => None,
        _ if matches!(extension, Some("pem" | "p12" | "pfx")) && of_people => Some(true),
        _ => None,
    }
}

/// Maximum files listed by name; all of them are among the items.
const MAX_SHOWN: usize = 100;

fn shown(path: &[u8]) -> String {
    elide_middle(&escape(path), 200)
}

/// Finds secret files in all layers, including shadowed files.
pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut found: BTreeMap<bool, Vec<(Item, Vec<u8>)>> = BTreeMap::new();
    for layer in 0..layer16(facts.input.layers.len()) {
        if facts.layer(layer).is_none() {
            continue;
        }
        let index = facts.rootfs.layer(layer);
        for entry in index.entries().filter(|entry| index.kind(*entry) == EntryKind::File) {
            // Paths are built only for names that may be secrets.
            if index.size(entry) == 0 || !may_be_secret(index.name(entry)) {
                continue;
            }
            let path = [&index.dir_path(index.dir(entry))[..], b"/", index.name(entry)].concat();
            if let Some(sometimes) = is_secret_file(&path) {
                let item = item(&facts.classification, facts.rootfs, (layer, entry));
                let files = found.entry(sometimes).or_default();
                // Paths beyond the listed files are not kept.
                files.push((item, if files.len() < MAX_SHOWN { path } else { Vec::new() }));
            }
        }
    }
    let draft = |(sometimes, files): (bool, Vec<(Item, Vec<u8>)>)| {
        let title =
            if sometimes { "Files that may contain secrets, by name" } else { "Secret files, by name" };
        let mut draft = Draft::new(&RULE, Verdict::Unsure, title.to_owned());
        draft.severity = Some(if sometimes { Severity::Medium } else { Severity::High });
        draft.reason =
            "Files with these names contain passwords, tokens or private keys. Their content was not read."
                .into();
        let hidden = files.iter().filter(|(item, _)| item.node.is_none()).count();
        if hidden > 0 {
            write!(
                draft.reason,
                " {hidden} of them {} shadowed by an upper layer: everyone who pulls the image still gets {}.",
                if hidden == 1 { "is" } else { "are" },
                if hidden == 1 { "it" } else { "them" },
            )
            .ok();
        }
        for (item, path) in files.iter().take(MAX_SHOWN) {
            let hidden = if item.node.is_none() { ", shadowed by an upper layer" } else { "" };
            draft.proof.push(format!("{} in layer {}{hidden}", shown(path), item.layer));
        }
        draft.subjects = files.iter().take(MAX_SHOWN).map(|(_, path)| shown(path)).collect();
        draft.subjects.sort();
        draft.subjects.dedup();
        let more = files.len().saturating_sub(MAX_SHOWN);
        draft.proof.extend((more > 0).then(|| format!("and {more} more")));
        draft.items = files.into_iter().map(|(item, _)| item).collect();
        draft.question = Some(
            "Are all of these files free of secrets, such as examples, test keys or public keys?".to_owned(),
        );
        draft.fix = "Keep them out with RUN --mount=type=secret and .dockerignore; deleting them in an upper layer removes nothing. Replace the secrets.".into();
        draft
    };
    found.into_iter().map(draft).collect()
}

/// A cheap test of a file name.
fn may_be_secret(name: &[u8]) -> bool {
    let is_name = matches!(
        name,
        b".netrc"
            | b".git-credentials"
            | b".pypirc"
            | b".dockercfg"
            | b".pgpass"
            | b".env"
            | b".npmrc"
            | b"pip.conf"
            | b"credentials"
            | b"token"
            | b"stored_tokens"
            | b"config.json"
            | b"kaggle.json"
    );
    let is_key = matches!(
        name,
        [.., b'.', b'p', b'e', b'm'] | [.., b'.', b'p', b'1', b'2'] | [.., b'.', b'p', b'f', b'x']
    );
    is_name || is_key || name.starts_with(b"id_") || name.ends_with(b"_default_credentials.json")
}

#[cfg(test)]
mod tests {
    use super::{is_secret_file, may_be_secret};

    #[test]
    fn files_are_told_by_their_names() {
        for (path, wanted) in [
            ("/root/.ssh/id_ed25519", Some(false)),
            ("/root/.ssh/id_ed25519.pub", None),
            ("/home/me/.aws/credentials", Some(false)),
            ("/root/.cache/huggingface/token", Some(false)),
            ("/root/.docker/config.json", Some(false)),
            ("/models/bert/config.json", None),
            ("/root/.netrc", Some(false)),
            ("/app/.env", Some(true)),
            ("/app/key.pem", Some(true)),
            ("/etc/ssl/certs/x.pem", None),
            ("/usr/lib/python3/dist-packages/certifi/cacert.pem", None),
            ("/opt/venv/lib/python3.12/site-packages/x/tests/key.pem", None),
        ] {
            assert_eq!(is_secret_file(path.as_bytes()), wanted, "{path}");
            if wanted.is_some() {
                assert!(may_be_secret(path.rsplit('/').next().unwrap().as_bytes()), "{path}");
            }
        }
    }
}
