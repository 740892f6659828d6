//! Lines to paste: configuration of platforms for an image.
//!
//! Names, commands and ports are from the image, which is untrusted: every text is quoted ([`quote`]), references and
//! users have a strict form, and a command that contains a secret is not copied.

mod azureml;
mod cerebrium;
mod docker;
mod input;
mod kubernetes;
mod quote;

pub use input::{MachineName, SnippetInput};

use crate::base::words::{json_words, words};

/// The image's place when it has no name at a registry.
pub const PLACEHOLDER: &str = "registry.example.com/app:tag";

/// What the lines are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SnippetFormat {
    /// `cerebrium.toml`.
    Cerebrium,
    /// Azure ML environments and an online deployment.
    AzureMl,
    /// A pod and a job.
    Kubernetes,
    /// `docker run`.
    Docker,
    /// A compose file.
    Compose,
}

words!(SnippetFormat {
    Cerebrium = "cerebrium",
    AzureMl = "azureml",
    Kubernetes = "kubernetes",
    Docker = "docker",
    Compose = "compose",
});

json_words!(SnippetFormat);

impl SnippetFormat {
    /// Name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Cerebrium => "cerebrium.toml",
            Self::AzureMl => "Azure ML YAML",
            Self::Kubernetes => "Kubernetes manifests",
            Self::Docker => "docker run",
            Self::Compose => "Compose file",
        }
    }

    /// Usual file name, for a save dialog.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Cerebrium => "cerebrium.toml",
            Self::AzureMl => "azureml.yml",
            Self::Kubernetes => "pod.yml",
            Self::Docker => "run.sh",
            Self::Compose => "compose.yaml",
        }
    }

    /// Language of the text, for display.
    pub const fn language(self) -> &'static str {
        match self {
            Self::Cerebrium => "toml",
            Self::Docker => "sh",
            Self::AzureMl | Self::Kubernetes | Self::Compose => "yaml",
        }
    }

    /// The usual one for a platform, by the id of its profile.
    pub fn of_profile(id: &str) -> Self {
        match id {
            "cerebrium" => Self::Cerebrium,
            "azureml" => Self::AzureMl,
            "kubernetes" | "gke" | "eks" => Self::Kubernetes,
            _ => Self::Docker,
        }
    }
}

/// The lines for an image. YAML of several objects has several documents.
pub fn snippet(format: SnippetFormat, input: &SnippetInput) -> String {
    match format {
        SnippetFormat::Cerebrium => cerebrium::write(input),
        SnippetFormat::AzureMl => azureml::write(input),
        SnippetFormat::Kubernetes => kubernetes::write(input),
        SnippetFormat::Docker => docker::run(input),
        SnippetFormat::Compose => docker::compose(input),
    }
}
