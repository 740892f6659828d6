//! RAII wrappers of driver resources: contexts, modules, memory, streams, events.
//!
//! Each borrows the resources it depends on. Release errors are ignored: they do not affect the verdict on the GPU.
//! After an error that a context does not survive, nothing is released; the end of the process does that.
#![allow(unsafe_code, reason = "the driver is a C library; this room is where it is called")]

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use super::api::{Address, Cuda, Handle, Ordinal, call};
use super::fault::Fault;

/// Buffer size of the JIT log.
const LOG_BYTES: usize = 8 << 10;
/// `CU_STREAM_NON_BLOCKING`: does not synchronize with the default stream.
const NON_BLOCKING: u32 = 1;

/// Releases a resource on drop.
macro_rules! give_back {
    ($type:ident, $field:ident, $symbol:literal, $value:ident) => {
        impl Drop for $type<'_> {
            fn drop(&mut self) {
                if !self.cuda.is_broken() {
                    // SAFETY: the value came from the driver and is given back once; nothing uses it afterwards.
                    unsafe { call!(self.cuda, $field, $symbol, self.$value) }.ok();
                }
            }
        }
    };
}

pub(super) use give_back;

/// The primary context of a device, current on this thread.
pub(super) struct Context<'a> {
    pub(super) cuda: &'a Cuda,
    device: Ordinal,
}

impl<'a> Context<'a> {
    pub(super) fn retain(cuda: &'a Cuda, device: Ordinal) -> Result<Self, Fault> {
        let mut context: Handle = ptr::null_mut();
        // SAFETY: writes one pointer, which is ours.
        unsafe { call!(cuda, context_retain, "cuDevicePrimaryCtxRetain", &raw mut context, device) }?;
        let retained = Self { cuda, device };
        // SAFETY: the context was just retained.
        unsafe { call!(cuda, context_set, "cuCtxSetCurrent", context) }?;
        Ok(retained)
    }
}

give_back!(Context, context_release, "cuDevicePrimaryCtxRelease", device);

/// A module compiled from PTX.
pub(super) struct Module<'a> {
    cuda: &'a Cuda,
    module: Handle,
}

/// A kernel of a module.
#[derive(Clone, Copy)]
pub(super) struct Kernel<'a> {
    cuda: &'a Cuda,
    function: Handle,
}

impl<'a> Module<'a> {
    /// Compiles `ptx` for the current context's device and loads it.
    pub(super) fn load(context: &'a Context<'_>, ptx: &CStr) -> Result<Self, Fault> {
        // `CU_JIT_INFO_LOG_BUFFER`, its size, `CU_JIT_ERROR_LOG_BUFFER`, its size.
        let mut options: [c_int; 4] = [3, 4, 5, 6];
        let (mut info, mut errors) = (vec![0_u8; LOG_BYTES], vec![0_u8; LOG_BYTES]);
        // Sizes are passed and returned as pointer values.
        let mut values: [*mut c_void; 4] = [
            info.as_mut_ptr().cast(),
            ptr::without_provenance_mut(LOG_BYTES),
            errors.as_mut_ptr().cast(),
            ptr::without_provenance_mut(LOG_BYTES),
        ];
        let cuda = context.cuda;
        let mut module: Handle = ptr::null_mut();
        // SAFETY: the text ends with NUL; there are as many options as values, each of the type that cuda.h says for
        // it; the buffers have the sizes that stand beside them, and all of it outlives the call.
        let loaded = unsafe {
            let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
            call!(
                cuda,
                module_load,
                "cuModuleLoadDataEx",
                &raw mut module,
                ptx.as_ptr().cast(),
                4,
                options,
                values
            )
        };
        match loaded {
            Ok(()) => Ok(Self { cuda, module }),
            Err(Fault::Cuda { code, call }) => {
                let logs = [super::api::text(&errors), super::api::text(&info)];
                let log = logs.join("\n").trim().to_owned();
                Err(if log.is_empty() { Fault::Cuda { code, call } } else { Fault::Compiler { code, log } })
            }
            Err(fault) => Err(fault),
        }
    }

    pub(super) fn kernel(&self, name: &CStr) -> Result<Kernel<'_>, Fault> {
        let mut function: Handle = ptr::null_mut();
        let cuda = self.cuda;
        // SAFETY: the module is loaded; the name ends with NUL; writes one pointer, which is ours.
        unsafe {
            call!(cuda, module_function, "cuModuleGetFunction", &raw mut function, self.module, name.as_ptr())
        }?;
        Ok(Kernel { cuda, function })
    }
}

give_back!(Module, module_unload, "cuModuleUnload", module);

/// Device memory.
pub(super) struct Memory<'a> {
    cuda: &'a Cuda,
    address: Address,
    bytes: usize,
}

impl<'a> Memory<'a> {
    pub(super) fn take(context: &'a Context<'_>, bytes: usize) -> Result<Self, Fault> {
        let (cuda, mut address) = (context.cuda, 0);
        // SAFETY: writes one address, which is ours.
        unsafe { call!(cuda, memory_take, "cuMemAlloc", &raw mut address, bytes) }?;
        Ok(Self { cuda, address, bytes })
    }

    /// Copies numbers to the device, as many as fit.
    pub(super) fn fill(&self, numbers: &[f32]) -> Result<(), Fault> {
        let bytes = size_of_val(numbers).min(self.bytes);
        // SAFETY: reads as many bytes as `numbers` has before it returns, and writes no more than this memory has.
        unsafe { call!(self.cuda, copy_in, "cuMemcpyHtoD", self.address, numbers.as_ptr().cast(), bytes) }?;
        // It returns once the bytes are staged ("API synchronization behavior" of the driver's manual), and our
        // streams do not wait for the default one, on which they arrive.
        // SAFETY: no stream is the default one.
        unsafe { call!(self.cuda, stream_wait, "cuStreamSynchronize", ptr::null_mut()) }
    }

    /// Copies numbers from the device, as many as fit.
    pub(super) fn read(&self, numbers: &mut [f32]) -> Result<(), Fault> {
        let bytes = size_of_val(numbers).min(self.bytes);
        // SAFETY: writes no more bytes than `numbers` has, whose every bit pattern is a number, and reads no more
        // than this memory has; waits until done.
        unsafe {
            call!(self.cuda, copy_out, "cuMemcpyDtoH", numbers.as_mut_ptr().cast(), self.address, bytes)
        }
    }

    pub(super) const fn address(&self) -> Address {
        self.address
    }
}

give_back!(Memory, memory_free, "cuMemFree", address);

/// Pinned host memory.
pub(super) struct Pinned<'a> {
    cuda: &'a Cuda,
    start: Handle,
    bytes: usize,
}

impl<'a> Pinned<'a> {
    pub(super) fn take(context: &'a Context<'_>, bytes: usize) -> Result<Self, Fault> {
        let (cuda, mut start) = (context.cuda, ptr::null_mut());
        // SAFETY: writes one pointer, which is ours; 0 asks for nothing special.
        unsafe { call!(cuda, pinned_take, "cuMemHostAlloc", &raw mut start, bytes, 0) }?;
        let pinned = Self { cuda, start, bytes };
        if start.is_null() {
            return Err(Fault::own("no-memory", "cuMemHostAlloc returned no memory and no error"));
        }
        // SAFETY: the driver gave `bytes` bytes that nobody else has. Written so that every page is there.
        unsafe { ptr::write_bytes(start.cast::<u8>(), 0x5a, bytes) };
        Ok(pinned)
    }
}

give_back!(Pinned, pinned_free, "cuMemFreeHost", start);

/// A stream. Its work has finished before it is dropped.
pub(super) struct Stream<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) stream: Handle,
}

impl<'a> Stream<'a> {
    pub(super) fn create(context: &'a Context<'_>) -> Result<Self, Fault> {
        let (cuda, mut stream) = (context.cuda, ptr::null_mut());
        // SAFETY: writes one pointer, which is ours.
        unsafe { call!(cuda, stream_create, "cuStreamCreate", &raw mut stream, NON_BLOCKING) }?;
        Ok(Self { cuda, stream })
    }

    /// Waits for all work of the stream.
    pub(super) fn wait(&self) -> Result<(), Fault> {
        // SAFETY: the stream is alive.
        unsafe { call!(self.cuda, stream_wait, "cuStreamSynchronize", self.stream) }
    }

    /// Launches `y = a*x + y` over the first `n` elements.
    pub(super) fn start_fma(
        &self,
        kernel: Kernel<'_>,
        (blocks, threads): (u32, u32),
        (x, y): (&Memory<'_>, &Memory<'_>),
        a: f32,
        n: u32,
    ) -> Result<(), Fault> {
        let fits = |memory: &Memory<'_>| memory.bytes / size_of::<f32>() >= n as usize;
        if !fits(x) || !fits(y) {
            return Err(Fault::own("internal", "too many elements for the kernel"));
        }
        let (mut x, mut y, mut a, mut n) = (x.address(), y.address(), a, n);
        let mut parameters: [*mut c_void; 4] =
            [(&raw mut x).cast(), (&raw mut y).cast(), (&raw mut a).cast(), (&raw mut n).cast()];
        // SAFETY: the kernel takes these four parameters in this order and reads and writes no more than `n` numbers
        // of each memory, which are there; the driver copies the parameters before it returns.
        unsafe { self.start(kernel, blocks, threads, parameters.as_mut_ptr()) }
    }

    /// Launches a kernel without parameters, with one thread.
    pub(super) fn start_nothing(&self, kernel: Kernel<'_>) -> Result<(), Fault> {
        // SAFETY: the kernel takes no parameters.
        unsafe { self.start(kernel, 1, 1, ptr::null_mut()) }
    }

    /// # Safety
    /// `parameters` are those of the kernel, and what they point to is as large as the kernel takes it to be.
    unsafe fn start(
        &self,
        kernel: Kernel<'_>,
        blocks: u32,
        threads: u32,
        parameters: *mut *mut c_void,
    ) -> Result<(), Fault> {
        let (function, stream, none) = (kernel.function, self.stream, ptr::null_mut());
        // SAFETY: kernel and stream are alive; the parameters are the caller's matter.
        unsafe {
            call!(
                kernel.cuda,
                launch,
                "cuLaunchKernel",
                function,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                0,
                stream,
                parameters,
                none
            )
        }
    }

    /// Starts a copy asynchronously.
    pub(super) fn start_copy(&self, copy: &Copy<'_>) -> Result<(), Fault> {
        let (cuda, stream, bytes) = (self.cuda, self.stream, copy.bytes());
        match copy {
            // SAFETY: both sides have as many bytes. They outlive the copy: what uses this function (`bandwidth`)
            // waits for each copy before it goes on, and the driver waits for copies before it frees memory.
            Copy::In(device, host) => unsafe {
                call!(cuda, start_copy_in, "cuMemcpyHtoDAsync", device.address, host.start, bytes, stream)
            },
            // SAFETY: as above.
            Copy::Out(host, device) => unsafe {
                call!(cuda, start_copy_out, "cuMemcpyDtoHAsync", host.start, device.address, bytes, stream)
            },
            // SAFETY: as above.
            Copy::Within(to, from) => unsafe {
                call!(cuda, start_copy, "cuMemcpyDtoDAsync", to.address, from.address, bytes, stream)
            },
        }
    }

    /// Records an event after all previous work.
    pub(super) fn record(&self, event: &Event<'_>) -> Result<(), Fault> {
        // SAFETY: event and stream are alive.
        unsafe { call!(self.cuda, event_record, "cuEventRecord", event.event, self.stream) }
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        if !self.cuda.is_broken() && self.wait().is_ok() {
            // SAFETY: nothing is under way on it, and it is given back once.
            unsafe { call!(self.cuda, stream_destroy, "cuStreamDestroy", self.stream) }.ok();
        }
    }
}

/// A copy between two buffers.
pub(super) enum Copy<'a> {
    In(&'a Memory<'a>, &'a Pinned<'a>),
    Out(&'a Pinned<'a>, &'a Memory<'a>),
    Within(&'a Memory<'a>, &'a Memory<'a>),
}

impl Copy<'_> {
    /// Number of bytes: the smaller size of both sides.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::In(device, host) | Self::Out(host, device) => device.bytes.min(host.bytes),
            Self::Within(to, from) => to.bytes.min(from.bytes),
        }
    }
}

/// An event on a stream.
pub(super) struct Event<'a> {
    cuda: &'a Cuda,
    event: Handle,
}

impl<'a> Event<'a> {
    pub(super) fn create(context: &'a Context<'_>) -> Result<Self, Fault> {
        let (cuda, mut event) = (context.cuda, ptr::null_mut());
        // SAFETY: writes one pointer, which is ours; 0 is an event with time.
        unsafe { call!(cuda, event_create, "cuEventCreate", &raw mut event, 0) }?;
        Ok(Self { cuda, event })
    }

    /// Waits for it.
    pub(super) fn wait(&self) -> Result<(), Fault> {
        // SAFETY: the event is alive.
        unsafe { call!(self.cuda, event_wait, "cuEventSynchronize", self.event) }
    }

    /// Seconds from `before` to this one.
    pub(super) fn seconds_since(&self, before: &Self) -> Result<f64, Fault> {
        let mut milliseconds = 0.0;
        let (cuda, since, until) = (self.cuda, before.event, self.event);
        // SAFETY: both events are alive; writes one float, which is ours.
        unsafe { call!(cuda, event_elapsed, "cuEventElapsedTime", &raw mut milliseconds, since, until) }?;
        Ok(f64::from(milliseconds) / 1e3)
    }
}

give_back!(Event, event_destroy, "cuEventDestroy", event);
