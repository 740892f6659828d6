//! Why a step of the child did not do what it should.

/// What went wrong, before anybody says what it means on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A call into the driver returned an error.
    Cuda {
        /// What it returned.
        code: i32,
        /// What was called.
        call: &'static str,
    },
    /// The driver's library does not have a function.
    Missing(&'static str),
    /// The driver's compiler refused the kernel, with what it wrote.
    Compiler { code: i32, log: String },
    /// Something that only this program judges.
    Own {
        /// One of our own names.
        name: &'static str,
        /// What happened.
        message: String,
    },
}

impl Fault {
    pub(super) fn own(name: &'static str, message: impl Into<String>) -> Self {
        Self::Own { name, message: message.into() }
    }

    /// The code of CUDA.
    pub(super) const fn code(&self) -> Option<i32> {
        match self {
            Self::Cuda { code, .. } | Self::Compiler { code, .. } => Some(*code),
            _ => None,
        }
    }
}
