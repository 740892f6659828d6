//! The child: opens the driver, and loads what it is sent.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use super::super::api::Cuda;
use super::super::child::isolate;
use super::super::codes::STUB;
use super::super::fault::Fault;
use super::super::images::ImageBuffer;
use super::super::library::Search;
use super::super::resources::Context;
use super::protocol::{CONTAINER_BYTES, Reply};
use crate::base::convert::in_memory;

/// Loads containers until its input ends. Never called in the process that shows results.
pub fn run(device: Option<u32>, library: Option<&Path>) -> ExitCode {
    let Ok(mut out) = isolate() else { return ExitCode::FAILURE };
    match open(device, library) {
        Err((fault, cuda)) => {
            tell(&mut out, &Reply::Unusable(words(&fault, cuda)));
            ExitCode::FAILURE
        }
        Ok((context, name)) => match serve(&mut out, &context, name) {
            Ok(()) => ExitCode::SUCCESS,
            // The parent is gone, or ends this process.
            Err(_) => ExitCode::FAILURE,
        },
    }
}

type Unusable = (Fault, Option<&'static Cuda>);

fn open(device: Option<u32>, library: Option<&Path>) -> Result<(Context<'static>, String), Unusable> {
    let mut search = Search::new(library);
    let cuda = loop {
        let found = search.open(&mut |_| {}).map_err(|fault| (fault, None))?;
        match found.cuda.init() {
            Err(Fault::Cuda { code: STUB, .. }) => search.is_stub(&found, &mut |_| {}),
            Err(fault) => return Err((fault, Some(found.cuda))),
            Ok(()) => break found.cuda,
        }
    };
    let opened = cuda.device(device.unwrap_or_default()).and_then(|ordinal| {
        let name = cuda.device_name(ordinal)?;
        Ok((Context::retain(cuda, ordinal)?, name))
    });
    opened.map_err(|fault| (fault, Some(cuda)))
}

fn words(fault: &Fault, cuda: Option<&'static Cuda>) -> String {
    match fault {
        Fault::Cuda { code, call } => {
            let text = cuda.and_then(|cuda| cuda.error_texts(*code));
            let text = text.map_or_else(String::new, |(name, text)| format!(" ({name}: {text})"));
            format!("{call} returned error {code}{text}")
        }
        Fault::Missing(symbol) => format!("the driver has no {symbol}"),
        Fault::Compiler { code, log } => format!("error {code}: {log}"),
        Fault::Own { message, .. } => message.clone(),
    }
}

fn tell(out: &mut File, reply: &Reply) -> bool {
    reply.line().is_ok_and(|line| out.write_all(line.as_bytes()).is_ok())
}

fn serve(out: &mut File, context: &Context<'static>, name: String) -> io::Result<()> {
    tell(out, &Reply::Ready(name));
    let mut input = io::stdin().lock();
    let mut image = ImageBuffer::default();
    loop {
        let mut length = [0; 8];
        match input.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let length = u64::from_le_bytes(length);
        if length > CONTAINER_BYTES {
            return Err(io::Error::other("a container above the limit"));
        }
        input.read_exact(image.room(in_memory(length)))?;
        let reply = match context.try_image(&image) {
            Ok(()) => Reply::Loaded,
            Err(Fault::Cuda { code, call }) => {
                Reply::Refused { code, call: call.to_owned(), ends: context.cuda.is_broken() }
            }
            Err(fault) => Reply::Unusable(words(&fault, Some(context.cuda))),
        };
        if !tell(out, &reply) || context.cuda.is_broken() {
            // The parent starts another one, with a sound context.
            return Ok(());
        }
    }
}
