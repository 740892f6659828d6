//! JSON Schemas (draft 2020-12), generated from the types that are written.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use super::compare::CompareReport;
use super::deploy::DeployReport;
use super::model::Report;
use super::rewrite::RewriteReport;
use super::slim::SlimReport;
use super::why::WhyReport;

/// A document with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// `cutaway report`.
    Report,
    /// `cutaway compare`.
    Compare,
    /// `cutaway dockerfile`.
    Dockerfile,
    /// `cutaway slim`.
    Slim,
    /// `cutaway deploy`.
    Deploy,
    /// `cutaway why`.
    Why,
}

/// The schema of a document.
pub fn schema_of(document: Document) -> Value {
    match document {
        Document::Report => schema_for::<Report>(),
        Document::Compare => schema_for::<CompareReport>(),
        Document::Dockerfile => schema_for::<RewriteReport>(),
        Document::Slim => schema_for::<SlimReport>(),
        Document::Deploy => schema_for::<DeployReport>(),
        Document::Why => schema_for::<WhyReport>(),
    }
}

/// The schema of what `T` is written as; `T` has a field `schema` with a constant name, such as `cutaway.report/1`.
pub fn schema_for<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    // Everything is always written: that a reader would do without is of no use here.
    RecursiveTransform(|schema: &mut Schema| {
        schema.remove("default");
    })
    .transform(&mut schema);
    let name =
        schema.pointer("/properties/schema/const").and_then(Value::as_str).unwrap_or_default().to_owned();
    schema.insert("$id".to_owned(), json!(format!("urn:{}", name.replace(['.', '/'], ":"))));
    schema.insert("title".to_owned(), json!(name));
    schema.to_value()
}
