//! The built-in samples: small images made by the code in `fixtures/`, kept in `assets/samples/`.

/// A sample that needs no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Looks like a service built on a CUDA devel image.
    Devel,
    /// Looks like the same service on a runtime image.
    Runtime,
}

impl Sample {
    /// The sample of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "devel" => Some(Self::Devel),
            "runtime" => Some(Self::Runtime),
            _ => None,
        }
    }

    /// An OCI archive.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::Devel => include_bytes!("../../assets/samples/devel.tar"),
            Self::Runtime => include_bytes!("../../assets/samples/runtime.tar"),
        }
    }
}
