//! Prints the schemas of what commands write.

use std::process::ExitCode;

use super::formats::SchemaName;
use super::output::write;
use crate::report::{Document, schema_of, to_json};

/// Prints the schema of a document.
pub(super) fn schema(name: SchemaName) -> anyhow::Result<ExitCode> {
    let schema = match name {
        SchemaName::Report => schema_of(Document::Report),
        SchemaName::Compare => schema_of(Document::Compare),
        SchemaName::Dockerfile => schema_of(Document::Dockerfile),
        SchemaName::Slim => schema_of(Document::Slim),
        SchemaName::Deploy => schema_of(Document::Deploy),
        SchemaName::Why => schema_of(Document::Why),
        #[cfg(feature = "gpu")]
        SchemaName::Gpu => super::gpu::schema(),
        #[cfg(not(feature = "gpu"))]
        SchemaName::Gpu => {
            anyhow::bail!("no schema for `cutaway gpu`: built without the GPU check (feature `gpu`)")
        }
    };
    write(to_json(&schema).as_bytes(), None)?;
    Ok(ExitCode::SUCCESS)
}
