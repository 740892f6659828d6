//! CUDA graphs: work that is captured once and launched as a whole.
#![allow(unsafe_code, reason = "the driver is a C library; this room is where it is called")]

use std::ffi::c_int;
use std::ptr;

use super::api::{Cuda, Handle, call};
use super::fault::Fault;
use super::resources::{Stream, give_back};

/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`.
const CAPTURE_THREAD_LOCAL: c_int = 1;

impl Stream<'_> {
    /// Captures the launches of `work`, which are not executed.
    pub(super) fn capture(&self, work: impl FnOnce() -> Result<(), Fault>) -> Result<Graph<'_>, Fault> {
        let (cuda, stream) = (self.cuda, self.stream);
        // SAFETY: the stream is alive.
        unsafe { call!(cuda, capture_begin, "cuStreamBeginCapture", stream, CAPTURE_THREAD_LOCAL) }?;
        let worked = work();
        let mut graph: Handle = ptr::null_mut();
        // Ended whatever the work did: otherwise the stream could not be synchronized.
        // SAFETY: writes one pointer, which is ours.
        let ended = unsafe { call!(cuda, capture_end, "cuStreamEndCapture", stream, &raw mut graph) };
        let graph = Graph { cuda, graph };
        worked.and(ended).map(|()| graph)
    }

    /// Launches a graph.
    pub(super) fn start_graph(&self, graph: &Program<'_>) -> Result<(), Fault> {
        // SAFETY: both are alive.
        unsafe { call!(self.cuda, graph_launch, "cuGraphLaunch", graph.program, self.stream) }
    }
}

/// A captured graph.
pub(super) struct Graph<'a> {
    cuda: &'a Cuda,
    graph: Handle,
}

/// An executable graph.
pub(super) struct Program<'a> {
    cuda: &'a Cuda,
    program: Handle,
}

impl<'a> Graph<'a> {
    /// Instantiates the graph.
    pub(super) fn instantiate(&self) -> Result<Program<'a>, Fault> {
        let (cuda, graph, mut program) = (self.cuda, self.graph, ptr::null_mut());
        // SAFETY: the graph is alive; writes one pointer, which is ours; for the older form no log is asked for.
        unsafe {
            if cuda.functions.graph_with_flags.is_some() {
                call!(cuda, graph_with_flags, "cuGraphInstantiateWithFlags", &raw mut program, graph, 0)
            } else {
                let none = ptr::null_mut();
                call!(
                    cuda,
                    graph_with_log,
                    "cuGraphInstantiate",
                    &raw mut program,
                    graph,
                    none,
                    ptr::null_mut(),
                    0
                )
            }
        }?;
        Ok(Program { cuda, program })
    }
}

impl Program<'_> {
    /// Uploads it to the device, so that the first launch does not; drivers before 11.1 cannot.
    pub(super) fn upload(&self, stream: &Stream<'_>) -> Result<(), Fault> {
        if self.cuda.functions.graph_upload.is_none() {
            return Ok(());
        }
        // SAFETY: both are alive.
        unsafe { call!(self.cuda, graph_upload, "cuGraphUpload", self.program, stream.stream) }
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        if !self.cuda.is_broken() && !self.graph.is_null() {
            // SAFETY: the graph came from the driver and is given back once.
            unsafe { call!(self.cuda, graph_destroy, "cuGraphDestroy", self.graph) }.ok();
        }
    }
}

give_back!(Program, graph_exec_destroy, "cuGraphExecDestroy", program);
