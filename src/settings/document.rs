//! Parsing of a settings file: every fault with its line and column.

use std::io;
use std::path::PathBuf;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::{MOST_HOSTS, Settings, TEXT_SIZES, Theme, Written};
use crate::base::size::{self, Units};
use crate::base::text::line_and_column;

/// Maximum bytes of a settings file: a thousand allowed registries take some 30 KiB.
pub(super) const FILE_BYTES: usize = 1 << 20;
/// Maximum targets in one file: the catalogue has fewer.
const MOST_TARGETS: usize = 200;
/// The longest name that a host can have, with its port.
const HOST_LENGTH: usize = 262;

/// Why settings cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// There is no place for them.
    #[error("no home folder for the settings; set CUTAWAY_SETTINGS")]
    NoHome,
    /// A relative path would mean another file in each working directory.
    #[error("CUTAWAY_SETTINGS is {0:?}, expected an absolute path")]
    Relative(String),
    /// It cannot be read.
    #[error("cannot read the settings {file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// It cannot be written.
    #[error("cannot write the settings {file}: {source}")]
    Unwritable {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// It exceeds the size limit.
    #[error("cannot read the settings {file}: more than {limit} bytes")]
    TooLarge {
        /// The file.
        file: String,
        /// What is allowed.
        limit: usize,
    },
    /// Invalid TOML, an unknown key, or an invalid value.
    #[error("invalid {file}, line {line}, column {column}: {message}")]
    Fault {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// What to try.
        hint: Option<String>,
    },
}

impl SettingsError {
    /// A fault of a value that is found when it is used.
    pub fn at(file: &str, value: &Written, message: String, hint: Option<String>) -> Self {
        let (line, column) = value.at;
        Self::Fault { file: file.to_owned(), line, column, message, hint }
    }

    /// What to try next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Fault { hint, .. } => {
                Some(hint.clone().unwrap_or_else(|| "`cutaway explain settings` lists all keys".to_owned()))
            }
            _ => None,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Document {
    display: DisplayTable,
    window: WindowTable,
    analysis: AnalysisTable,
    cache: CacheTable,
    engines: EnginesTable,
    registries: RegistriesTable,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct DisplayTable {
    theme: Option<Spanned<String>>,
    text_size: Option<Spanned<i64>>,
    units: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WindowTable {
    restore_images: Option<bool>,
    watch_files: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AnalysisTable {
    targets: Vec<Spanned<String>>,
    profile: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CacheTable {
    limit: Option<Spanned<Value>>,
    blob_limit: Option<Spanned<Value>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct EnginesTable {
    list: Option<bool>,
    docker_host: Option<Spanned<String>>,
    podman_host: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RegistriesTable {
    ask: Option<bool>,
    allowed: Vec<Spanned<String>>,
    ca_file: Option<Spanned<String>>,
}

/// A fault and its location.
struct Fault {
    at: usize,
    message: String,
}

/// A fault at a value.
fn fault<T>(value: &Spanned<T>, message: impl Into<String>) -> Fault {
    Fault { at: value.span().start, message: message.into() }
}

impl Settings {
    /// Parses a settings file. `name` is the file name in errors.
    ///
    /// # Errors
    /// Invalid TOML, an unknown key or an invalid value: with line and column.
    pub fn parse(name: &str, text: &str) -> Result<Self, SettingsError> {
        if text.len() > FILE_BYTES {
            return Err(SettingsError::TooLarge { file: name.to_owned(), limit: FILE_BYTES });
        }
        let document: Result<Document, Fault> = toml::from_str(text).map_err(|error| Fault {
            at: error.span().map_or(0, |span| span.start),
            message: error.message().to_owned(),
        });
        document.and_then(|document| Self::from_document(text, document)).map_err(|Fault { at, message }| {
            let (line, column) = line_and_column(text, at);
            SettingsError::Fault { file: name.to_owned(), line, column, message, hint: None }
        })
    }

    fn from_document(text: &str, document: Document) -> Result<Self, Fault> {
        let Document { display, window, analysis, cache, engines, registries } = document;
        let usual = Self::default();
        if let Some(first) = analysis.targets.get(MOST_TARGETS) {
            return Err(fault(first, format!("more than {MOST_TARGETS} targets")));
        }
        if let Some(first) = registries.allowed.get(MOST_HOSTS) {
            return Err(fault(first, format!("more than {MOST_HOSTS} registries")));
        }
        let written = |value: Spanned<String>| {
            let at = line_and_column(text, value.span().start);
            Ok(Written { text: filled(value)?, at })
        };
        Ok(Self {
            theme: display.theme.map_or(Ok(usual.theme), |name| theme(&name))?,
            text_size: display.text_size.map_or(Ok(usual.text_size), |percent| text_size(&percent))?,
            units: display.units.map_or(Ok(usual.units), |name| units(&name))?,
            restore_images: window.restore_images.unwrap_or(usual.restore_images),
            watch_files: window.watch_files.unwrap_or(usual.watch_files),
            targets: analysis.targets.into_iter().map(written).collect::<Result<_, _>>()?,
            profile: analysis.profile.map(written).transpose()?,
            cache_limit: cache.limit.as_ref().map(bytes).transpose()?,
            blob_limit: cache.blob_limit.as_ref().map_or(Ok(usual.blob_limit), bytes)?,
            list_engines: engines.list.unwrap_or(usual.list_engines),
            docker_host: engines.docker_host.map(filled).transpose()?,
            podman_host: engines.podman_host.map(filled).transpose()?,
            ask: registries.ask.unwrap_or(usual.ask),
            allowed: registries.allowed.into_iter().map(host).collect::<Result<_, _>>()?,
            ca_file: registries.ca_file.as_ref().map(absolute).transpose()?,
        })
    }
}

fn filled(value: Spanned<String>) -> Result<String, Fault> {
    if value.get_ref().trim().is_empty() {
        return Err(fault(&value, "empty value"));
    }
    Ok(value.into_inner())
}

fn theme(name: &Spanned<String>) -> Result<Theme, Fault> {
    let known = Theme::ALL.into_iter().find(|theme| theme.name() == name.get_ref());
    known.ok_or_else(|| {
        fault(name, format!("unknown theme {:?}; expected system, light or dark", name.get_ref()))
    })
}

fn units(name: &Spanned<String>) -> Result<Units, Fault> {
    match name.get_ref().as_str() {
        "binary" => Ok(Units::Binary),
        "decimal" => Ok(Units::Decimal),
        other => Err(fault(name, format!("unknown units {other:?}; expected binary or decimal"))),
    }
}

fn text_size(percent: &Spanned<i64>) -> Result<u16, Fault> {
    let size = u16::try_from(*percent.get_ref()).ok().filter(|size| TEXT_SIZES.contains(size));
    size.ok_or_else(|| {
        let (least, most) = (TEXT_SIZES.start(), TEXT_SIZES.end());
        fault(percent, format!("text_size must be between {least} and {most} percent"))
    })
}

fn bytes(value: &Spanned<Value>) -> Result<u64, Fault> {
    match value.get_ref() {
        Value::Integer(number) => {
            u64::try_from(*number).map_err(|_| fault(value, format!("{number} is not a size: negative")))
        }
        Value::String(text) => size::parse(text).map_err(|reason| fault(value, reason)),
        other => {
            let found = other.type_str();
            Err(fault(value, format!("expected an integer or a size such as \"4 GiB\", found {found}")))
        }
    }
}

/// A host as a registry reference has it: a name with a port, without a scheme or a path.
fn host(value: Spanned<String>) -> Result<String, Fault> {
    let text = value.get_ref();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    if text.is_empty() || text.len() > HOST_LENGTH || !text.chars().all(fits) {
        return Err(fault(&value, format!("{text:?} is not a host, such as ghcr.io or localhost:5000")));
    }
    Ok(value.into_inner())
}

fn absolute(value: &Spanned<String>) -> Result<PathBuf, Fault> {
    let path = PathBuf::from(value.get_ref());
    if !path.is_absolute() {
        return Err(fault(value, format!("{:?} is not an absolute path", value.get_ref())));
    }
    Ok(path)
}
