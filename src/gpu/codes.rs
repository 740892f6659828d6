//! The error codes of CUDA that a check can meet: name and meaning, as `cuda.h` of CUDA 13 has them.

/// What is known of a code.
pub(super) struct Code {
    pub(super) number: i32,
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
}

const fn code(number: i32, name: &'static str, meaning: &'static str) -> Code {
    Code { number, name, meaning }
}

/// By number. 35 is one of the runtime; drivers of some clouds return it too.
const CODES: [Code; 46] = [
    code(1, "CUDA_ERROR_INVALID_VALUE", "the driver refused a value"),
    code(2, "CUDA_ERROR_OUT_OF_MEMORY", "there is not enough free GPU memory"),
    code(
        3,
        "CUDA_ERROR_NOT_INITIALIZED",
        "the driver was not started, or the process was forked after it was",
    ),
    code(4, "CUDA_ERROR_DEINITIALIZED", "the driver is being shut down"),
    code(
        34,
        "CUDA_ERROR_STUB_LIBRARY",
        "this libcuda is a stub: a file to link against, without a driver in it",
    ),
    code(35, "CUDA_ERROR_INSUFFICIENT_DRIVER", "the driver is older than what was called needs"),
    code(36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "the driver is older than what was called needs"),
    code(
        46,
        "CUDA_ERROR_DEVICE_UNAVAILABLE",
        "the GPU is busy or may not be used: another process has it for itself",
    ),
    code(100, "CUDA_ERROR_NO_DEVICE", "the driver sees no GPU"),
    code(101, "CUDA_ERROR_INVALID_DEVICE", "there is no GPU with this number, or it cannot be used"),
    code(102, "CUDA_ERROR_DEVICE_NOT_LICENSED", "the virtual GPU has no licence"),
    code(200, "CUDA_ERROR_INVALID_IMAGE", "the driver does not take the kernel for GPU code"),
    code(201, "CUDA_ERROR_INVALID_CONTEXT", "the driver lost the context of the GPU"),
    code(209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "there is no code for this GPU"),
    code(214, "CUDA_ERROR_ECC_UNCORRECTABLE", "GPU memory has an error that could not be corrected"),
    code(218, "CUDA_ERROR_INVALID_PTX", "the driver's compiler refused the kernel"),
    code(220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "NVLink has an error that could not be corrected"),
    code(221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "the driver's compiler for PTX is not there"),
    code(222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the driver is older than the PTX of the kernel"),
    code(223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "compiling PTX is switched off on this machine"),
    code(226, "CUDA_ERROR_CONTAINED", "a memory error of the GPU hit this process"),
    code(300, "CUDA_ERROR_INVALID_SOURCE", "the source of a kernel is faulty"),
    code(
        302,
        "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND",
        "a library of the driver lacks a function: its files are of several versions",
    ),
    code(303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "a library of the driver could not be loaded"),
    code(304, "CUDA_ERROR_OPERATING_SYSTEM", "the operating system refused the driver something"),
    code(400, "CUDA_ERROR_INVALID_HANDLE", "the driver does not know what it gave out itself"),
    code(500, "CUDA_ERROR_NOT_FOUND", "the driver does not find a name"),
    code(600, "CUDA_ERROR_NOT_READY", "the GPU is not done yet"),
    code(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "the kernel used memory that is not its own"),
    code(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "the GPU has no room for the kernel"),
    code(702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the kernel took longer than a GPU with a display lets it"),
    code(709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context of the GPU is gone"),
    code(714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "the GPU had an error in its call stack"),
    code(715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "the GPU met an instruction that it does not know"),
    code(716, "CUDA_ERROR_MISALIGNED_ADDRESS", "the kernel used an address that is not aligned"),
    code(719, "CUDA_ERROR_LAUNCH_FAILED", "the kernel was ended by an error of the GPU"),
    code(800, "CUDA_ERROR_NOT_PERMITTED", "this is not permitted here"),
    code(801, "CUDA_ERROR_NOT_SUPPORTED", "the driver or the GPU does not have this"),
    code(
        802,
        "CUDA_ERROR_SYSTEM_NOT_READY",
        "the machine's GPUs are not ready: a service that they need has not started",
    ),
    code(
        803,
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "libcuda and the driver in the kernel are of versions that do not go together",
    ),
    code(
        804,
        "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        "forward compatibility is not supported on this GPU",
    ),
    code(805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "the MPS server does not answer"),
    code(806, "CUDA_ERROR_MPS_RPC_FAILURE", "the MPS server and this process lost each other"),
    code(807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "the MPS server is not ready"),
    code(909, "CUDA_ERROR_TIMEOUT", "the GPU did not answer in time"),
    code(999, "CUDA_ERROR_UNKNOWN", "the driver failed and does not say why"),
];

/// What is known of a code; `None` for one that is not in the list.
pub(super) fn known(code: i32) -> Option<&'static Code> {
    CODES.iter().find(|known| known.number == code)
}

#[cfg(test)]
mod tests {
    use super::{CODES, known};

    #[test]
    fn codes_stand_in_order_and_once() {
        assert!(CODES.is_sorted_by(|one, next| one.number < next.number));
        assert_eq!(known(100).map(|code| code.name), Some("CUDA_ERROR_NO_DEVICE"));
        assert!(known(0).is_none());
    }
}
