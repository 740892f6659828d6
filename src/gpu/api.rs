//! Functions of libcuda by their exported names, and safe wrappers for those without pointers to caller memory.
//!
//! Signatures follow `cuda.h` of CUDA 12 and 13; the names are those behind its macros. A handle is an opaque pointer;
//! a function that an old driver lacks is `None`.
#![allow(unsafe_code, reason = "the driver is a C library; this room is where it is called")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use libloading::os::unix::Library;

use super::fault::Fault;

/// Opaque handle: contexts, modules, functions, streams, events, graphs.
pub(super) type Handle = *mut c_void;
/// An address in device memory.
pub(super) type Address = u64;
/// Device handle of the driver.
pub(super) type Ordinal = c_int;

/// A table of functions of a library, by their exported names; of two names the first is that of newer drivers.
macro_rules! functions {
    ($table:ident; $($field:ident: $($symbol:literal)|+, ($($argument:ty),*);)*) => {
        pub(super) struct $table {
            $(pub(super) $field: Option<unsafe extern "C" fn($($argument),*) -> c_int>,)*
        }

        impl $table {
            pub(super) fn load(library: &libloading::os::unix::Library) -> Self {
                Self {
                    $($field: [$($symbol),+].iter().find_map(|symbol| {
                        // SAFETY: every symbol of this name has the type in the library's header. A symbol without an
                        // address is `None`, the null value of an `Option` of a function pointer. The library is
                        // never closed, so the pointer stays valid.
                        unsafe { library.get(symbol.as_bytes()) }.ok().and_then(|found| *found)
                    }),)*
                }
            }
        }
    };
}

pub(super) use functions;

functions! {
    Functions;
    init: "cuInit", (c_uint);
    driver_version: "cuDriverGetVersion", (*mut c_int);
    error_name: "cuGetErrorName", (c_int, *mut *const c_char);
    error_string: "cuGetErrorString", (c_int, *mut *const c_char);
    device_count: "cuDeviceGetCount", (*mut c_int);
    device_get: "cuDeviceGet", (*mut Ordinal, c_int);
    device_name: "cuDeviceGetName", (*mut c_char, c_int, Ordinal);
    device_attribute: "cuDeviceGetAttribute", (*mut c_int, c_int, Ordinal);
    device_memory: "cuDeviceTotalMem_v2", (*mut usize, Ordinal);
    device_uuid: "cuDeviceGetUuid_v2" | "cuDeviceGetUuid", (*mut [u8; 16], Ordinal);
    device_pci: "cuDeviceGetPCIBusId", (*mut c_char, c_int, Ordinal);
    context_retain: "cuDevicePrimaryCtxRetain", (*mut Handle, Ordinal);
    context_release: "cuDevicePrimaryCtxRelease_v2" | "cuDevicePrimaryCtxRelease", (Ordinal);
    context_set: "cuCtxSetCurrent", (Handle);
    module_load: "cuModuleLoadDataEx", (*mut Handle, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
    module_data: "cuModuleLoadData", (*mut Handle, *const c_void);
    module_unload: "cuModuleUnload", (Handle);
    library_load: "cuLibraryLoadData",
        (*mut Handle, *const c_void, *mut c_int, *mut *mut c_void, c_uint, *mut c_int, *mut *mut c_void, c_uint);
    library_unload: "cuLibraryUnload", (Handle);
    module_function: "cuModuleGetFunction", (*mut Handle, Handle, *const c_char);
    memory_info: "cuMemGetInfo_v2", (*mut usize, *mut usize);
    memory_take: "cuMemAlloc_v2", (*mut Address, usize);
    memory_free: "cuMemFree_v2", (Address);
    pinned_take: "cuMemHostAlloc", (*mut Handle, usize, c_uint);
    pinned_free: "cuMemFreeHost", (Handle);
    copy_in: "cuMemcpyHtoD_v2", (Address, *const c_void, usize);
    copy_out: "cuMemcpyDtoH_v2", (*mut c_void, Address, usize);
    start_copy_in: "cuMemcpyHtoDAsync_v2", (Address, *const c_void, usize, Handle);
    start_copy_out: "cuMemcpyDtoHAsync_v2", (*mut c_void, Address, usize, Handle);
    start_copy: "cuMemcpyDtoDAsync_v2", (Address, Address, usize, Handle);
    stream_create: "cuStreamCreate", (*mut Handle, c_uint);
    stream_wait: "cuStreamSynchronize", (Handle);
    stream_destroy: "cuStreamDestroy_v2", (Handle);
    event_create: "cuEventCreate", (*mut Handle, c_uint);
    event_record: "cuEventRecord", (Handle, Handle);
    event_wait: "cuEventSynchronize", (Handle);
    event_elapsed: "cuEventElapsedTime", (*mut f32, Handle, Handle);
    event_destroy: "cuEventDestroy_v2", (Handle);
    launch: "cuLaunchKernel",
        (Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void);
    capture_begin: "cuStreamBeginCapture_v2", (Handle, c_int);
    capture_end: "cuStreamEndCapture", (Handle, *mut Handle);
    graph_with_flags: "cuGraphInstantiateWithFlags", (*mut Handle, Handle, u64);
    graph_with_log: "cuGraphInstantiate_v2", (*mut Handle, Handle, *mut Handle, *mut c_char, usize);
    graph_upload: "cuGraphUpload", (Handle, Handle);
    graph_launch: "cuGraphLaunch", (Handle, Handle);
    graph_destroy: "cuGraphDestroy", (Handle);
    graph_exec_destroy: "cuGraphExecDestroy", (Handle);
}

/// Calls a function of the driver. The caller is responsible for safety, and documents it.
macro_rules! call {
    ($cuda:expr, $field:ident, $symbol:literal $(, $argument:expr)*) => {
        match $cuda.functions.$field {
            // The `unsafe` block of the caller encloses the macro.
            Some(function) => $cuda.judge(function($($argument),*), $symbol),
            None => Err(Fault::Missing($symbol)),
        }
    };
}
pub(super) use call;

/// The driver library, opened and never closed: drivers leave threads and handlers behind that run its code.
pub(super) struct Cuda {
    pub(super) functions: Functions,
    /// Set by errors after which a context is unusable: its resources remain until the process ends, because calls that
    /// release them fail or hang.
    broken: AtomicBool,
}

/// `CU_DEVICE_ATTRIBUTE_…`, by their numbers in `cuda.h`.
#[derive(Clone, Copy)]
pub(super) enum Attribute {
    Multiprocessors = 16,
    Integrated = 18,
    Major = 75,
    Minor = 76,
}

impl Cuda {
    /// Resolves the functions of an open library.
    ///
    /// # Errors
    /// A function that every driver since CUDA 7.0 has is missing.
    pub(super) fn new(library: Library) -> Result<Self, Fault> {
        let functions = Functions::load(&library);
        // Never closed, see [`Cuda`].
        std::mem::forget(library);
        let cuda = Self { functions, broken: AtomicBool::new(false) };
        cuda.lacks().map_or(Ok(cuda), |symbol| Err(Fault::Missing(symbol)))
    }

    /// The first missing function that the check requires.
    fn lacks(&self) -> Option<&'static str> {
        let functions = &self.functions;
        [
            ("cuInit", functions.init.is_none()),
            ("cuDriverGetVersion", functions.driver_version.is_none()),
            ("cuDeviceGetCount", functions.device_count.is_none()),
            ("cuDeviceGet", functions.device_get.is_none()),
            ("cuDeviceGetName", functions.device_name.is_none()),
            ("cuDeviceGetAttribute", functions.device_attribute.is_none()),
            ("cuDeviceTotalMem_v2", functions.device_memory.is_none()),
            ("cuDevicePrimaryCtxRetain", functions.context_retain.is_none()),
            ("cuCtxSetCurrent", functions.context_set.is_none()),
            ("cuModuleLoadDataEx", functions.module_load.is_none()),
            ("cuModuleGetFunction", functions.module_function.is_none()),
            ("cuMemAlloc_v2", functions.memory_take.is_none()),
            ("cuMemcpyHtoD_v2", functions.copy_in.is_none()),
            ("cuMemcpyDtoH_v2", functions.copy_out.is_none()),
            ("cuStreamCreate", functions.stream_create.is_none()),
            ("cuStreamSynchronize", functions.stream_wait.is_none()),
            ("cuLaunchKernel", functions.launch.is_none()),
        ]
        .into_iter()
        .find_map(|(symbol, lacks)| lacks.then_some(symbol))
    }

    /// Converts the return code of a call into a result.
    pub(super) fn judge(&self, code: c_int, call: &'static str) -> Result<(), Fault> {
        /// Failed launches, memory errors, a lost GPU: such errors stick to the context.
        const STICKY: [c_int; 15] = [4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999];
        match code {
            0 => Ok(()),
            code => {
                if STICKY.contains(&code) {
                    self.broken.store(true, Ordering::Relaxed);
                }
                Err(Fault::Cuda { code, call })
            }
        }
    }

    /// Whether resources are still released.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Clears a device's errors before the next device is checked.
    pub(super) fn mend(&self) {
        self.broken.store(false, Ordering::Relaxed);
    }

    /// `cuInit`.
    pub(super) fn init(&self) -> Result<(), Fault> {
        // SAFETY: takes flags by value; 0 is the only value that is defined.
        unsafe { call!(self, init, "cuInit", 0) }
    }

    /// CUDA version of the driver, such as 13000.
    pub(super) fn driver_version(&self) -> Result<c_int, Fault> {
        let mut version = 0;
        // SAFETY: writes one int, which is ours and outlives the call.
        unsafe { call!(self, driver_version, "cuDriverGetVersion", &raw mut version) }?;
        Ok(version)
    }

    /// The driver's name and description of an error.
    pub(super) fn error_texts(&self, code: c_int) -> Option<(String, String)> {
        let text = |function: Option<unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int>| {
            let mut text = ptr::null();
            // SAFETY: writes one pointer, which is ours.
            let found = unsafe { function?(code, &raw mut text) } == 0 && !text.is_null();
            // SAFETY: what the driver gives is a text of its own that ends with NUL and is never freed.
            found.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        Some((text(self.functions.error_name)?, text(self.functions.error_string)?))
    }

    /// Number of devices.
    pub(super) fn device_count(&self) -> Result<c_int, Fault> {
        let mut count = 0;
        // SAFETY: writes one int, which is ours.
        unsafe { call!(self, device_count, "cuDeviceGetCount", &raw mut count) }?;
        Ok(count)
    }

    /// The device at an index.
    pub(super) fn device(&self, index: u32) -> Result<Ordinal, Fault> {
        // An index beyond `int` is beyond all devices.
        let index = c_int::try_from(index).unwrap_or(c_int::MAX);
        let mut device = 0;
        // SAFETY: writes one int, which is ours; the index is judged by the driver.
        unsafe { call!(self, device_get, "cuDeviceGet", &raw mut device, index) }?;
        Ok(device)
    }

    /// Name of a device.
    pub(super) fn device_name(&self, device: Ordinal) -> Result<String, Fault> {
        let mut name = [0_u8; 256];
        // SAFETY: writes at most 255 bytes and a NUL into a buffer of 256.
        unsafe { call!(self, device_name, "cuDeviceGetName", name.as_mut_ptr().cast(), 256, device) }?;
        Ok(text(&name))
    }

    /// An attribute of a device.
    pub(super) fn attribute(&self, device: Ordinal, attribute: Attribute) -> Result<u32, Fault> {
        let mut value = 0;
        // SAFETY: writes one int, which is ours.
        unsafe {
            call!(self, device_attribute, "cuDeviceGetAttribute", &raw mut value, attribute as c_int, device)
        }?;
        Ok(u32::try_from(value).unwrap_or_default())
    }

    /// Memory of a device in bytes.
    pub(super) fn device_memory(&self, device: Ordinal) -> Result<u64, Fault> {
        let mut bytes = 0_usize;
        // SAFETY: writes one size_t, which is ours.
        unsafe { call!(self, device_memory, "cuDeviceTotalMem_v2", &raw mut bytes, device) }?;
        Ok(bytes as u64)
    }

    /// UUID of a device: that of the MIG instance if it is one and the driver is 11.4 or newer.
    pub(super) fn device_uuid(&self, device: Ordinal) -> Result<[u8; 16], Fault> {
        let mut uuid = [0; 16];
        // SAFETY: writes the 16 bytes of a CUuuid, which are ours.
        unsafe { call!(self, device_uuid, "cuDeviceGetUuid", &raw mut uuid, device) }?;
        Ok(uuid)
    }

    /// PCI bus id, such as `0000:04:00.0`.
    pub(super) fn device_pci(&self, device: Ordinal) -> Result<CString, Fault> {
        let mut id = [0_u8; 32];
        // SAFETY: writes at most 31 bytes and a NUL into a buffer of 32.
        unsafe { call!(self, device_pci, "cuDeviceGetPCIBusId", id.as_mut_ptr().cast(), 32, device) }?;
        Ok(CStr::from_bytes_until_nul(&id).map(CStr::to_owned).unwrap_or_default())
    }

    /// Free and total memory of the current context's device.
    pub(super) fn memory_info(&self) -> Result<(usize, usize), Fault> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two size_t, which are ours.
        unsafe { call!(self, memory_info, "cuMemGetInfo_v2", &raw mut free, &raw mut total) }?;
        Ok((free, total))
    }
}

/// The text in a buffer filled by a C function.
pub(super) fn text(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(buffer.get(..end).unwrap_or_default()).trim().to_owned()
}
