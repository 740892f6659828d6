//! Why a step of the child failed.

/// The failure, before its interpretation for this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A call into the driver returned an error.
    Cuda {
        /// Return code.
        code: i32,
        /// Name of the function.
        call: &'static str,
    },
    /// The driver library lacks a function.
    Missing(&'static str),
    /// The JIT compiler rejected the kernel, with its log.
    Compiler { code: i32, log: String },
    /// A failure detected by this program.
    Own {
        /// Name of the error.
        name: &'static str,
        /// What happened.
        message: String,
    },
}

impl Fault {
    pub(super) fn own(name: &'static str, message: impl Into<String>) -> Self {
        Self::Own { name, message: message.into() }
    }

    /// The CUDA error code, if any.
    pub(super) const fn code(&self) -> Option<i32> {
        match self {
            Self::Cuda { code, .. } | Self::Compiler { code, .. } => Some(*code),
            _ => None,
        }
    }
}
