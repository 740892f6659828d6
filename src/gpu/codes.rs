//! CUDA error codes that a check may return: names and meanings, as in `cuda.h` of CUDA 13.

/// `CUDA_ERROR_STUB_LIBRARY`.
pub(super) const STUB: i32 = 34;

/// An error code.
pub(super) struct Code {
    pub(super) number: i32,
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
}

const fn code(number: i32, name: &'static str, meaning: &'static str) -> Code {
    Code { number, name, meaning }
}

/// By number. 35 is a runtime error that drivers of some clouds also return.
const CODES: [Code; 46] = [
    code(1, "CUDA_ERROR_INVALID_VALUE", "invalid value passed to the driver"),
    code(2, "CUDA_ERROR_OUT_OF_MEMORY", "out of GPU memory"),
    code(3, "CUDA_ERROR_NOT_INITIALIZED", "the driver is not initialized, or the process forked afterwards"),
    code(4, "CUDA_ERROR_DEINITIALIZED", "the driver is shutting down"),
    code(34, "CUDA_ERROR_STUB_LIBRARY", "this libcuda is a stub: for linking only, without a driver"),
    code(35, "CUDA_ERROR_INSUFFICIENT_DRIVER", "the driver is older than the call requires"),
    code(36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "the driver is older than the call requires"),
    code(
        46,
        "CUDA_ERROR_DEVICE_UNAVAILABLE",
        "the GPU is busy or prohibited: another process uses it exclusively",
    ),
    code(100, "CUDA_ERROR_NO_DEVICE", "the driver finds no GPU"),
    code(101, "CUDA_ERROR_INVALID_DEVICE", "no GPU with this number, or it is unusable"),
    code(102, "CUDA_ERROR_DEVICE_NOT_LICENSED", "the vGPU has no license"),
    code(200, "CUDA_ERROR_INVALID_IMAGE", "the driver does not accept the kernel as GPU code"),
    code(201, "CUDA_ERROR_INVALID_CONTEXT", "the context of the GPU is invalid"),
    code(209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no code for this GPU"),
    code(214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable error in GPU memory"),
    code(218, "CUDA_ERROR_INVALID_PTX", "the driver's JIT compiler rejected the kernel"),
    code(220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "uncorrectable NVLink error"),
    code(221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "the driver's PTX JIT compiler is missing"),
    code(222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the driver is older than the PTX of the kernel"),
    code(223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "JIT compilation of PTX is disabled on this machine"),
    code(226, "CUDA_ERROR_CONTAINED", "a GPU memory error affected this process"),
    code(300, "CUDA_ERROR_INVALID_SOURCE", "invalid kernel source"),
    code(
        302,
        "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND",
        "a driver library lacks a function: the files are of different versions",
    ),
    code(303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "a driver library cannot be loaded"),
    code(304, "CUDA_ERROR_OPERATING_SYSTEM", "the operating system refused a call of the driver"),
    code(400, "CUDA_ERROR_INVALID_HANDLE", "the driver does not accept its own handle"),
    code(500, "CUDA_ERROR_NOT_FOUND", "a name is not found by the driver"),
    code(600, "CUDA_ERROR_NOT_READY", "the GPU is not ready"),
    code(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "the kernel accessed an illegal address"),
    code(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "not enough GPU resources for the kernel"),
    code(702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the kernel exceeded the time limit of a GPU with a display"),
    code(709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context of the GPU is destroyed"),
    code(714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "call stack error on the GPU"),
    code(715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "illegal instruction on the GPU"),
    code(716, "CUDA_ERROR_MISALIGNED_ADDRESS", "the kernel used a misaligned address"),
    code(719, "CUDA_ERROR_LAUNCH_FAILED", "an error on the GPU ended the kernel"),
    code(800, "CUDA_ERROR_NOT_PERMITTED", "not permitted"),
    code(801, "CUDA_ERROR_NOT_SUPPORTED", "not supported by the driver or the GPU"),
    code(802, "CUDA_ERROR_SYSTEM_NOT_READY", "the GPUs are not ready: a required service has not started"),
    code(
        803,
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "libcuda and the kernel module are of incompatible versions",
    ),
    code(
        804,
        "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        "forward compatibility is not supported on this GPU",
    ),
    code(805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "no answer from the MPS server"),
    code(806, "CUDA_ERROR_MPS_RPC_FAILURE", "connection to the MPS server lost"),
    code(807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "the MPS server is not ready"),
    code(909, "CUDA_ERROR_TIMEOUT", "the GPU did not answer in time"),
    code(999, "CUDA_ERROR_UNKNOWN", "the driver failed for an unknown reason"),
];

/// The entry of a code; `None` if it is not in the table.
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
