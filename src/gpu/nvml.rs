//! NVML: driver and device facts from the management library. Each may be missing.
#![allow(unsafe_code, reason = "NVML is a C library; this room is where it is called")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use super::Nvml;
use super::api::{functions, text};
use super::library::{self, FOLDERS};

const SONAME: &str = "libnvidia-ml.so.1";

type Handle = *mut c_void;

/// `nvmlMemory_t`.
#[repr(C)]
#[derive(Default)]
pub(super) struct Memory {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlMemory_v2_t`.
#[repr(C)]
#[derive(Default)]
pub(super) struct MemoryV2 {
    version: c_uint,
    total: c_ulonglong,
    reserved: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlGpuFabricInfo_t`.
#[repr(C)]
#[derive(Default)]
pub(super) struct Fabric {
    cluster: [u8; 16],
    status: c_uint,
    clique: c_uint,
    state: u8,
}

functions! {
    Functions;
    init: "nvmlInit_v2", ();
    driver_version: "nvmlSystemGetDriverVersion", (*mut c_char, c_uint);
    by_uuid: "nvmlDeviceGetHandleByUUID", (*const c_char, *mut Handle);
    by_bus: "nvmlDeviceGetHandleByPciBusId_v2", (*const c_char, *mut Handle);
    whole: "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", (Handle, *mut Handle);
    brand: "nvmlDeviceGetBrand", (Handle, *mut c_uint);
    memory: "nvmlDeviceGetMemoryInfo", (Handle, *mut Memory);
    memory_v2: "nvmlDeviceGetMemoryInfo_v2", (Handle, *mut MemoryV2);
    mig_mode: "nvmlDeviceGetMigMode", (Handle, *mut c_uint, *mut c_uint);
    compute_mode: "nvmlDeviceGetComputeMode", (Handle, *mut c_uint);
    ecc: "nvmlDeviceGetTotalEccErrors", (Handle, c_uint, c_uint, *mut c_ulonglong);
    temperature: "nvmlDeviceGetTemperature", (Handle, c_uint, *mut c_uint);
    fabric: "nvmlDeviceGetGpuFabricInfo", (Handle, *mut Fabric);
}

/// NVML, loaded and initialized.
pub(super) struct Management {
    functions: Functions,
}

/// NVML facts about a device.
pub(super) struct Facts {
    /// UUID of the device.
    pub(super) uuid: Option<String>,
    /// Whether it is a MIG instance; `None` if it was found by its PCI bus id.
    pub(super) mig: Option<bool>,
    pub(super) nvml: Nvml,
}

/// Calls one function; `None` if it is missing or fails.
macro_rules! ask {
    ($nvml:expr, $field:ident $(, $argument:expr)*) => {{
        // The `unsafe` block stands around the macro.
        let function = $nvml.functions.$field?;
        (function($($argument),*) == 0).then_some(())?
    }};
}

impl Management {
    /// Opens NVML from `folder`, the folder of libcuda, or, unless `only` is set, from the loader's search path or
    /// known driver folders.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(super) fn open(folder: Option<&Path>, only: bool, hidden: bool) -> Result<Self, String> {
        let beside = folder.map(|folder| folder.join(SONAME));
        let mut names: Vec<PathBuf> = beside.into_iter().collect();
        if !only {
            let at = if hidden { names.len() } else { 0 };
            names.insert(at, PathBuf::from(SONAME));
            names.extend(FOLDERS.iter().map(|folder| Path::new(folder).join(SONAME)));
        }
        let mut reason = format!("{SONAME} not found");
        for name in names {
            if name.is_absolute() && !name.exists() {
                continue;
            }
            match library::open(&name) {
                Ok(library) => {
                    let functions = Functions::load(&library);
                    // Never closed, as libcuda.
                    std::mem::forget(library);
                    return Self { functions }.started();
                }
                // A missing dependency is reported with its own name instead.
                Err(text) if text.starts_with(SONAME) && text.contains("No such file") => {}
                Err(text) => reason = text,
            }
        }
        Err(reason)
    }

    /// Whether the loader finds it.
    pub(super) fn is_there() -> bool {
        library::open(Path::new(SONAME)).map(std::mem::forget).is_ok()
    }

    fn started(self) -> Result<Self, String> {
        let Some(init) = self.functions.init else {
            return Err(format!("{SONAME} has no function nvmlInit_v2"));
        };
        // SAFETY: takes nothing.
        match unsafe { init() } {
            0 => Ok(self),
            code => Err(format!("nvmlInit_v2 failed: {}", code_words(code))),
        }
    }

    /// The version of the driver.
    pub(super) fn driver_version(&self) -> Option<String> {
        let mut buffer = [0_u8; 96];
        // SAFETY: writes at most 96 bytes into a buffer of that size.
        unsafe { ask!(self, driver_version, buffer.as_mut_ptr().cast(), 96) };
        Some(text(&buffer)).filter(|version| !version.is_empty())
    }

    /// Facts about the device with this UUID or PCI bus id.
    pub(super) fn facts(&self, uuid: Option<[u8; 16]>, bus: Option<&CStr>) -> Option<Facts> {
        let by_uuid = |prefix: &str| {
            let name = format!("{prefix}{}", hyphenated(&uuid?));
            Some((self.by_uuid(&CString::new(name.as_str()).ok()?)?, name))
        };
        let whole = by_uuid("GPU-").map(|(device, name)| (device, Some(name), Some(false)));
        let part = || by_uuid("MIG-").map(|(device, name)| (device, Some(name), Some(true)));
        let placed = || self.by_bus(bus?).map(|device| (device, None, None));
        let (device, uuid, mig) = whole.or_else(part).or_else(placed)?;
        // A MIG instance lacks some facts, which are those of its GPU.
        let gpu = if mig == Some(true) { self.whole(device).unwrap_or(device) } else { device };
        let nvml = Nvml {
            brand: self.brand(gpu),
            memory_used_bytes: self.memory_used(device),
            mig_mode: self.mig_mode(gpu),
            compute_mode: self.compute_mode(gpu),
            ecc_uncorrected: self.ecc(gpu),
            temperature_c: self.temperature(gpu),
            fabric: self.fabric(gpu),
        };
        Some(Facts { uuid, mig, nvml })
    }

    fn by_uuid(&self, uuid: &CStr) -> Option<Handle> {
        let mut device = ptr::null_mut();
        // SAFETY: the text ends with NUL; writes one pointer, which is ours.
        unsafe { ask!(self, by_uuid, uuid.as_ptr(), &raw mut device) };
        Some(device)
    }

    fn by_bus(&self, bus: &CStr) -> Option<Handle> {
        let mut device = ptr::null_mut();
        // SAFETY: the text ends with NUL; writes one pointer, which is ours.
        unsafe { ask!(self, by_bus, bus.as_ptr(), &raw mut device) };
        Some(device)
    }

    fn whole(&self, part: Handle) -> Option<Handle> {
        let mut device = ptr::null_mut();
        // SAFETY: the handle came from NVML; writes one pointer, which is ours.
        unsafe { ask!(self, whole, part, &raw mut device) };
        Some(device)
    }

    fn brand(&self, device: Handle) -> Option<String> {
        let mut brand = 0;
        // SAFETY: the handle came from NVML; writes one int, which is ours.
        unsafe { ask!(self, brand, device, &raw mut brand) };
        brand_name(brand).map(str::to_owned)
    }

    /// Memory in use by processes; with drivers before 510 including the driver's reserve of some hundred MiB.
    fn memory_used(&self, device: Handle) -> Option<u64> {
        self.memory_used_v2(device).or_else(|| self.memory_used_v1(device))
    }

    fn memory_used_v2(&self, device: Handle) -> Option<u64> {
        // `NVML_STRUCT_VERSION(Memory, 2)`: the size, with the version in the highest byte.
        let version = c_uint::try_from(size_of::<MemoryV2>()).ok()? | 2 << 24;
        let mut memory = MemoryV2 { version, ..MemoryV2::default() };
        // SAFETY: the handle came from NVML; writes one nvmlMemory_v2_t, which is ours and says its version.
        unsafe { ask!(self, memory_v2, device, &raw mut memory) };
        Some(memory.used)
    }

    fn memory_used_v1(&self, device: Handle) -> Option<u64> {
        let mut memory = Memory::default();
        // SAFETY: the handle came from NVML; writes one nvmlMemory_t, which is ours.
        unsafe { ask!(self, memory, device, &raw mut memory) };
        Some(memory.used)
    }

    fn mig_mode(&self, device: Handle) -> Option<bool> {
        let (mut current, mut pending) = (0, 0);
        // SAFETY: the handle came from NVML; writes two ints, which are ours.
        unsafe { ask!(self, mig_mode, device, &raw mut current, &raw mut pending) };
        Some(current == 1)
    }

    fn compute_mode(&self, device: Handle) -> Option<String> {
        let mut mode = 0;
        // SAFETY: the handle came from NVML; writes one int, which is ours.
        unsafe { ask!(self, compute_mode, device, &raw mut mode) };
        let name = match mode {
            0 => "default",
            1 => "exclusive-thread",
            2 => "prohibited",
            3 => "exclusive-process",
            _ => return None,
        };
        Some(name.to_owned())
    }

    fn ecc(&self, device: Handle) -> Option<u64> {
        let mut errors = 0;
        // SAFETY: the handle came from NVML; 1 asks for uncorrected, 0 for those since the driver was loaded; writes
        // one long long, which is ours.
        unsafe { ask!(self, ecc, device, 1, 0, &raw mut errors) };
        Some(errors)
    }

    fn temperature(&self, device: Handle) -> Option<u32> {
        let mut degrees = 0;
        // SAFETY: the handle came from NVML; 0 is the sensor of the GPU; writes one int, which is ours.
        unsafe { ask!(self, temperature, device, 0, &raw mut degrees) };
        Some(degrees)
    }

    fn fabric(&self, device: Handle) -> Option<String> {
        let mut fabric = Fabric::default();
        // SAFETY: the handle came from NVML; writes one nvmlGpuFabricInfo_t, which is ours.
        unsafe { ask!(self, fabric, device, &raw mut fabric) };
        let name = match (fabric.state, fabric.status) {
            (1, _) => "not-started".to_owned(),
            (2, _) => "in-progress".to_owned(),
            (3, 0) => "completed".to_owned(),
            (3, status) => format!("failed: {}", code_words(c_int::try_from(status).unwrap_or(-1))),
            // 0: no fabric.
            _ => return None,
        };
        Some(name)
    }
}

/// A UUID as NVML writes it, without its prefix.
pub(super) fn hyphenated(uuid: &[u8; 16]) -> String {
    use std::fmt::Write as _;
    let mut name = String::with_capacity(36);
    for (place, byte) in uuid.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            name.push('-');
        }
        // Writing to a String cannot fail.
        write!(name, "{byte:02x}").ok();
    }
    name
}

/// `nvmlBrandType_t` in the terms of `NVIDIA_REQUIRE_*` (libnvidia-container).
fn brand_name(brand: c_uint) -> Option<&'static str> {
    Some(match brand {
        1 => "quadro",
        2 => "tesla",
        3 => "nvs",
        4 => "grid",
        5 => "geforce",
        6 => "titan",
        7 => "nvidiavapps",
        8 => "nvidiavpc",
        9 => "nvidiavcs",
        10 => "nvidiavws",
        11 => "nvidiacloudgaming",
        12 => "quadrortx",
        13 => "nvidiartx",
        14 => "nvidia",
        15 => "geforcertx",
        16 => "titanrtx",
        _ => return None,
    })
}

/// Meaning of an `nvmlReturn_t`.
fn code_words(code: c_int) -> String {
    let words = match code {
        3 => "not supported",
        4 => "no permission",
        9 => "driver not loaded",
        12 => "a driver library is missing",
        13 => "a function is missing",
        15 => "GPU lost",
        16 => "GPU requires a reset",
        17 => "call refused by the operating system",
        18 => "driver/library version mismatch",
        _ => return format!("error {code}"),
    };
    format!("{words} ({code})")
}

#[cfg(test)]
mod tests {
    use super::hyphenated;

    #[test]
    fn a_uuid_is_written_as_nvml_does() {
        let uuid = std::array::from_fn(|place| u8::try_from(place * 17).unwrap());
        assert_eq!(hyphenated(&uuid), "00112233-4455-6677-8899-aabbccddeeff");
    }
}
