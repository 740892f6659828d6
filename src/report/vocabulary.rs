//! Fixed vocabularies of reports for the schemas, generated from the types that write the words.

use schemars::Schema;
use serde_json::{Map, Value, json};

use super::why::{Effect, KINDS as PATH_KINDS};
use crate::base::WarningCode;
use crate::compare::{Change, LayerMatch};
use crate::cuda::catalog::{GraphActivation, GraphEffect};
use crate::cuda::compat::{DriverFrom, RuleId, RunVerdict};
use crate::cuda::{
    CODE_KINDS, Class, Flavor, Level, MANAGERS, Role, Strategy, Supplier, Use, compression_name,
};
use crate::deploy::graphs::CaptureState;
use crate::findings::{Answer, Category, Severity, Verdict, rules};
use crate::formats::compression::Compression;
use crate::formats::contents::Format;
use crate::formats::dockerfile::Keyword;
use crate::formats::fatbin;
use crate::rewrite::Applicability;
use crate::slim::Action;

/// Restricts a string, the items of a list, or the keys of a map to these words; null if allowed.
fn allow(schema: &mut Map<String, Value>, words: &[&str]) {
    let types = schema.get("type").cloned().unwrap_or_default();
    let is = |name: &str| types == name || types.as_array().is_some_and(|all| all.contains(&json!(name)));
    if is("array") {
        if let Some(items) = schema.get_mut("items").and_then(Value::as_object_mut) {
            allow(items, words);
        }
    } else if is("object") {
        schema.insert("propertyNames".to_owned(), json!({ "enum": words }));
    } else {
        let null = is("null").then_some(Value::Null);
        let words: Vec<Value> = words.iter().copied().map(Value::from).chain(null).collect();
        schema.insert("enum".to_owned(), words.into());
    }
}

macro_rules! vocabularies {
    ($($name:ident: $words:expr;)*) => {
        $(pub(super) fn $name(schema: &mut Schema) {
            let words: Vec<&str> = $words.into_iter().collect();
            allow(schema.ensure_object(), &words);
        })*
    };
}

vocabularies! {
    answer: Answer::ALL.iter().map(|one| one.as_str());
    applicability: Applicability::ALL.iter().map(|one| one.as_str());
    capture_state: CaptureState::ALL.iter().map(|one| one.as_str());
    change: [Change::Added, Change::Removed, Change::Changed].map(Change::as_str);
    category: Category::ALL.iter().map(|one| one.as_str());
    class: Class::ALL.map(Class::as_str);
    code_compression: {
        use fatbin::Compression as Stored;
        [Stored::None, Stored::Lz4, Stored::Zstd, Stored::Other].map(compression_name)
    };
    code_kind: CODE_KINDS;
    compression: Compression::ALL.iter().map(|one| one.as_str());
    effect: Effect::ALL.iter().map(|one| one.as_str());
    driver_source: DriverFrom::ALL.iter().map(|one| one.as_str());
    finding_rule: rules().map(|rule| rule.id);
    flavor: Flavor::ALL.iter().map(|one| one.as_str());
    graph_activation: GraphActivation::ALL.iter().map(|one| one.as_str());
    graph_effect: GraphEffect::ALL.iter().map(|one| one.as_str());
    keyword: Keyword::ALL.iter().map(|one| one.as_str());
    layer_match: [LayerMatch::Digest, LayerMatch::DiffId, LayerMatch::Content].map(LayerMatch::as_str);
    level: Level::ALL.iter().map(|one| one.as_str());
    manager: MANAGERS;
    origin: ["given", "rebuilt"];
    path_kind: PATH_KINDS;
    role: Role::ALL.iter().map(|one| one.as_str());
    run_verdict: RunVerdict::ALL.iter().map(|one| one.as_str());
    slim_action: Action::ALL.iter().map(|one| one.as_str());
    severity: Severity::ALL.iter().map(|one| one.as_str());
    strategy: Strategy::ALL.iter().map(|one| one.as_str());
    supplier: Supplier::ALL.iter().map(|one| one.as_str());
    target_rule: RuleId::ALL.iter().map(|one| one.as_str());
    unit: ["bytes", "ratio", "rules"];
    usage: Use::ALL.iter().map(|one| one.as_str());
    verdict: Verdict::ALL.map(Verdict::as_str);
    table_format: Format::ALL.iter().map(|one| one.as_str());
    verified: ["digest", "diff-id", "both", "none"];
    warning_code: WarningCode::ALL.iter().map(|one| one.as_str());
}
