//! `os/architecture[/variant]`, in Go's names as in the OCI specification.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Operating system and architecture.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[schemars(rename = "PlatformPart")]
pub struct Platform {
    /// Operating system.
    pub os: String,
    /// Architecture in Go's names.
    pub architecture: String,
    /// Variant of the architecture.
    pub variant: Option<String>,
}

impl Platform {
    /// Linux on this machine's architecture, the default choice from an index.
    pub fn host() -> Self {
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            "powerpc64" if cfg!(target_endian = "little") => "ppc64le",
            "powerpc64" => "ppc64",
            "loongarch64" => "loong64",
            other => other,
        };
        Self { os: "linux".into(), architecture: architecture.into(), variant: None }
    }

    /// Whether an image for `offered` satisfies the request. A missing variant matches every variant; `arm64` and
    /// `arm64/v8` are equal.
    pub fn accepts(&self, offered: &Self) -> bool {
        let (wanted, offered) = (self.normalised(), offered.normalised());
        wanted.os == offered.os
            && wanted.architecture == offered.architecture
            && (wanted.variant.is_none() || wanted.variant == offered.variant)
    }

    fn normalised(&self) -> Self {
        let (architecture, implied) = match self.architecture.as_str() {
            "x86_64" | "x86-64" => ("amd64", None),
            "aarch64" => ("arm64", None),
            "armhf" => ("arm", Some("v7")),
            "armel" => ("arm", Some("v6")),
            other => (other, None),
        };
        let variant = match (architecture, self.variant.as_deref().or(implied)) {
            ("arm64", Some("v8" | "8")) | ("amd64", Some("v1")) | (_, Some("")) => None,
            (_, variant) => variant.map(str::to_owned),
        };
        Self { os: self.os.to_ascii_lowercase(), architecture: architecture.into(), variant }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)?;
        match &self.variant {
            Some(variant) => write!(f, "/{variant}"),
            None => Ok(()),
        }
    }
}

/// Invalid platform.
#[derive(Debug, thiserror::Error)]
#[error("invalid platform '{0}', expected os/architecture[/variant]")]
pub struct PlatformError(String);

impl FromStr for Platform {
    type Err = PlatformError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split('/');
        let (os, architecture, variant) = (parts.next(), parts.next(), parts.next());
        match (os, architecture, parts.next()) {
            (Some(os), Some(architecture), None)
                if !os.is_empty() && !architecture.is_empty() && variant != Some("") =>
            {
                Ok(Self {
                    os: os.into(),
                    architecture: architecture.into(),
                    variant: variant.map(str::to_owned),
                })
            }
            _ => Err(PlatformError(text.into())),
        }
    }
}
