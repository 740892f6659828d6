//! `pyproject.toml` of a Python project, and the requirements in it (PEP 508, 621 and 735; Poetry, PDM, uv).

use serde::Deserialize;
use toml::{Table, Value};

/// What a project requires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// For its run time: dependencies, extras and groups.
    pub runtime: Vec<Requirement>,
    /// Groups and extras whose names say that they are for development.
    pub development: Vec<Requirement>,
}

/// A requirement of a project or a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Name of the package, as written.
    pub name: String,
    /// Extras of that package, as written.
    pub extras: Vec<String>,
    /// Extras of the package that requires it, of which one must be asked for; none if it is always required.
    pub only_with: Vec<String>,
    /// Whether it depends on the platform or the version of Python.
    pub is_conditional: bool,
}

/// Names of groups that a service does not need when it runs. Others may be parts of it.
const DEVELOPMENT: [&str; 22] = [
    "check",
    "checks",
    "ci",
    "dev",
    "develop",
    "development",
    "doc",
    "docs",
    "format",
    "formatting",
    "lint",
    "linting",
    "mypy",
    "pre-commit",
    "qa",
    "quality",
    "ruff",
    "test",
    "testing",
    "tests",
    "typecheck",
    "typing",
];

fn is_for_development(group: &str) -> bool {
    DEVELOPMENT.contains(&group.replace(['_', '.'], "-").to_ascii_lowercase().as_str())
}

impl Requirement {
    /// A requirement as in `Requires-Dist`; `None` without a name.
    pub fn read(text: &str) -> Option<Self> {
        let (what, marker) = text.split_once(';').unwrap_or((text, ""));
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let what = what.trim();
        let end = what.find(|c| !is_name(c)).unwrap_or(what.len());
        let (name, rest) = what.split_at(end);
        let listed = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let extras = listed.map_or("", |(extras, _)| extras).split(',').map(str::trim);
        let only_with = asked_extras(marker);
        (!name.is_empty()).then(|| Self {
            name: name.to_owned(),
            extras: extras.filter(|extra| !extra.is_empty()).map(str::to_owned).collect(),
            is_conditional: only_with.is_empty() && !marker.trim().is_empty(),
            only_with,
        })
    }
}

/// The extras that a marker compares with: `extra == "socks" and python_version > "3.8"`.
fn asked_extras(marker: &str) -> Vec<String> {
    // Every second part is between quotes.
    let parts: Vec<&str> = marker.split(['"', '\'']).collect();
    let is_compared = |before: &str, after: &str| {
        let before = before.trim_end().strip_suffix("==").map(str::trim_end);
        let after = after.trim_start().strip_prefix("==").map(str::trim_start);
        before.is_some_and(|text| text.ends_with("extra"))
            || after.is_some_and(|text| text.starts_with("extra"))
    };
    let triples = parts.windows(3).step_by(2);
    triples.filter(|three| is_compared(three[0], three[2])).map(|three| three[1].to_owned()).collect()
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Document {
    project: Metadata,
    dependency_groups: Table,
    tool: Tools,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Metadata {
    dependencies: Vec<String>,
    optional_dependencies: Table,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tools {
    poetry: Poetry,
    pdm: Tool,
    uv: Tool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Poetry {
    dependencies: Table,
    dev_dependencies: Table,
    group: Table,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Tool {
    /// Groups in PDM, a list in uv.
    dev_dependencies: Option<Value>,
}

impl Project {
    /// Parses `pyproject.toml`; `None` if it cannot be parsed.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let document: Document = toml::from_str(std::str::from_utf8(bytes).ok()?).ok()?;
        let mut project = Self::default();
        project
            .runtime
            .extend(document.project.dependencies.iter().filter_map(|text| Requirement::read(text)));
        for groups in [&document.project.optional_dependencies, &document.dependency_groups] {
            for (name, group) in groups {
                project.of(name).extend(strings(group).filter_map(Requirement::read));
            }
        }
        let poetry = &document.tool.poetry;
        project.runtime.extend(of_poetry(&poetry.dependencies));
        project.development.extend(of_poetry(&poetry.dev_dependencies));
        for (name, group) in &poetry.group {
            if let Some(Value::Table(list)) = group.get("dependencies") {
                project.of(name).extend(of_poetry(list));
            }
        }
        let lists = |value: &Value| match value {
            Value::Table(groups) => groups.values().cloned().collect(),
            other => vec![other.clone()],
        };
        for tool in [document.tool.pdm, document.tool.uv] {
            let lists: Vec<Value> = tool.dev_dependencies.as_ref().map(lists).unwrap_or_default();
            project.development.extend(lists.iter().flat_map(strings).filter_map(Requirement::read));
        }
        Some(project)
    }

    /// The requirements that those of a group or an extra are part of.
    fn of(&mut self, group: &str) -> &mut Vec<Requirement> {
        if is_for_development(group) { &mut self.development } else { &mut self.runtime }
    }
}

/// The strings of a list. Groups that a group includes are listed themselves.
fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The requirements of a table with the names of packages as keys.
fn of_poetry(table: &Table) -> impl Iterator<Item = Requirement> {
    let names = table.iter().filter(|(name, _)| name.as_str() != "python");
    names.map(|(name, value)| {
        let extras = value.get("extras").map(|list| strings(list).map(str::to_owned).collect());
        let has = |key| value.get(key).is_some();
        Requirement {
            name: name.clone(),
            extras: extras.unwrap_or_default(),
            only_with: Vec::new(),
            is_conditional: value.is_array()
                || has("markers")
                || has("python")
                || has("platform")
                || has("optional"),
        }
    })
}

#[cfg(test)]
mod tests;
