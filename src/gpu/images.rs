//! Containers of GPU code in the driver.
#![allow(unsafe_code, reason = "the driver is a C library; this room is where it is called")]

use std::ptr;

use super::api::{Handle, call};
use super::fault::Fault;
use super::resources::Context;

/// Alignment of containers, as linkers give them.
const ALIGN: usize = 64;
/// Zeros after a container: a driver that reads on for a text's end finds one.
const AFTER: usize = 4096;

/// A buffer for one container at a time, aligned and followed by zeros.
#[derive(Default)]
pub(super) struct ImageBuffer {
    bytes: Vec<u8>,
    at: usize,
    len: usize,
}

impl ImageBuffer {
    /// Room for `len` bytes.
    pub(super) fn room(&mut self, len: usize) -> &mut [u8] {
        self.bytes.clear();
        self.bytes.resize(len + ALIGN + AFTER, 0);
        let at = self.bytes.as_ptr().align_offset(ALIGN);
        // `align_offset` may decline; the driver then sees what the allocator gave.
        self.at = if at < ALIGN { at } else { 0 };
        self.len = len;
        &mut self.bytes[self.at..self.at + len]
    }
}

impl Context<'_> {
    /// Loads a container as a module and, where the driver can, as a library, and unloads it.
    pub(super) fn try_image(&self, image: &ImageBuffer) -> Result<(), Fault> {
        let (cuda, mut module): (_, Handle) = (self.cuda, ptr::null_mut());
        let bytes = image.bytes.get(image.at..).unwrap_or_default();
        let start = bytes.as_ptr().cast();
        // SAFETY: a container whose size field and entries were found to lie within `image.len` bytes, followed by
        // zeros, all of it alive and unchanged until it is unloaded. What the driver makes of wrong contents is its
        // matter; this is a process of its own.
        unsafe { call!(cuda, module_data, "cuModuleLoadData", &raw mut module, start) }?;
        // SAFETY: the module was just loaded, and is given back once.
        unsafe { call!(cuda, module_unload, "cuModuleUnload", module) }?;
        if cuda.functions.library_load.is_none() {
            return Ok(());
        }
        let mut library: Handle = ptr::null_mut();
        let (none, nothing) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: as above; there are no options.
        unsafe {
            call!(
                cuda,
                library_load,
                "cuLibraryLoadData",
                &raw mut library,
                start,
                none,
                nothing,
                0,
                ptr::null_mut(),
                ptr::null_mut(),
                0
            )
        }?;
        // SAFETY: the library was just loaded, and is given back once.
        unsafe { call!(cuda, library_unload, "cuLibraryUnload", library) }
    }
}
