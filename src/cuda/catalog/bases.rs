//! Base images and distributions: what their configuration looks like.

use chrono::{Days, Months, NaiveDate};
use serde::Deserialize;

use super::Catalog;
use super::document::CatalogEntry;
use super::names::pattern;

/// A name that must be there, and what its value must look like.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueRule {
    /// Name of a variable or label.
    pub name: String,
    /// Regular expression over its value; any value without one.
    #[serde(default)]
    pub pattern: Option<String>,
}

/// By what an image shows that it was built on another. All that is given must fit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseImageRule {
    /// Its name, such as `nvidia-cuda-cudnn-devel`.
    pub id: String,
    /// The repository, such as `nvidia/cuda`.
    pub repository: String,
    /// Flavour of CUDA images: base, runtime, devel.
    #[serde(default)]
    pub flavor: Option<String>,
    /// Whether it holds cuDNN.
    #[serde(default)]
    pub cudnn: bool,
    /// Variables of its environment.
    #[serde(default)]
    pub environment: Vec<ValueRule>,
    /// Variables that it does not have.
    #[serde(default)]
    pub absent: Vec<String>,
    /// Its labels.
    #[serde(default)]
    pub labels: Vec<ValueRule>,
    /// Regular expressions, each of which fits some entry of its history.
    #[serde(default)]
    pub history: Vec<String>,
    /// How many layers it has on Ubuntu, those of the distribution included.
    #[serde(default)]
    pub layers: Option<u32>,
    /// The reference, with `{NAME}` for values of the environment; the tag is left out when it is not known.
    #[serde(default)]
    pub reference: Option<String>,
    /// Where the facts come from.
    pub source: String,
}

/// Facts from the configuration of an image.
#[derive(Clone, Copy, Debug, Default)]
pub struct BaseFacts<'a> {
    /// Names and values of its environment.
    pub environment: &'a [(&'a str, &'a str)],
    /// Names and values of its labels.
    pub labels: &'a [(&'a str, &'a str)],
    /// `created_by` of its history.
    pub history: &'a [&'a str],
}

impl BaseImageRule {
    /// Whether all that the rule asks for is there.
    pub fn fits(&self, facts: &BaseFacts<'_>) -> bool {
        let has = |list: &[(&str, &str)], rule: &ValueRule| {
            list.iter().any(|(name, value)| *name == rule.name && matches(rule.pattern.as_deref(), value))
        };
        let seen = |text: &String| facts.history.iter().any(|created_by| matches(Some(text), created_by));
        self.environment.iter().all(|rule| has(facts.environment, rule))
            && self.labels.iter().all(|rule| has(facts.labels, rule))
            && self.history.iter().all(seen)
            && !facts.environment.iter().any(|(name, _)| self.absent.iter().any(|absent| absent == name))
    }

    /// The reference with the values of the environment filled in; `None` when one is missing.
    pub fn reference(&self, environment: &[(&str, &str)]) -> Option<String> {
        let mut rest = self.reference.as_deref()?;
        let mut filled = String::new();
        while let Some((before, after)) = rest.split_once('{') {
            let (name, tail) = after.split_once('}')?;
            filled.push_str(before);
            filled.push_str(environment.iter().find(|(known, _)| *known == name)?.1);
            rest = tail;
        }
        filled.push_str(rest);
        Some(filled)
    }
}

// A few rules are asked once for an image: they are compiled when they are.
fn matches(text: Option<&str>, value: &str) -> bool {
    text.is_none_or(|text| pattern(text).is_ok_and(|regex| regex.is_match(value.as_bytes())))
}

/// A distribution, by the `ID` of its `os-release`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// The `ID`, such as `ubuntu`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its package manager: dpkg, rpm or apk.
    pub manager: String,
    /// How tags of NVIDIA's images spell it, with `{version}` or `{major}`: `ubuntu{version}`.
    #[serde(default)]
    pub tag: Option<String>,
    /// Its own image, with the same placeholders: `ubuntu:{version}`.
    #[serde(default)]
    pub image: Option<String>,
    /// Where the facts come from.
    pub source: String,
}

/// How long a release of a distribution gets security updates.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The `ID` of its `os-release`.
    pub distribution: String,
    /// Its `VERSION_ID`.
    pub version: String,
    /// Its name.
    pub name: String,
    /// The last day of its security updates for everybody, `2023-05-31`; `2029-04` for the end of a month.
    pub end_of_support: String,
    /// The last day of updates that volunteers or partners go on with, free of charge.
    #[serde(default)]
    pub long_term: Option<String>,
    /// Where the dates come from.
    pub source: String,
}

impl Release {
    /// The last day of its security updates, in days since 1970.
    pub fn end(&self) -> Option<u32> {
        last_day(&self.end_of_support)
    }

    /// The last day of what volunteers or partners go on with, in days since 1970.
    pub fn long_term_end(&self) -> Option<u32> {
        last_day(self.long_term.as_deref()?)
    }
}

/// Days since 1970 of `2023-05-31`, or of the last day of `2029-04`.
fn last_day(date: &str) -> Option<u32> {
    let day = match date.len() {
        7 => {
            NaiveDate::parse_from_str(&format!("{date}-01"), "%Y-%m-%d").ok()? + Months::new(1) - Days::new(1)
        }
        _ => NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?,
    };
    u32::try_from(day.signed_duration_since(NaiveDate::default()).num_days()).ok()
}

impl Distribution {
    /// The spelling in tags of NVIDIA's images, such as `ubuntu24.04`, for a `VERSION_ID`.
    pub fn tag(&self, version: &str) -> Option<String> {
        fill(self.tag.as_deref(), version)
    }

    /// The distribution's own image, such as `ubuntu:24.04`, for a `VERSION_ID`.
    pub fn image(&self, version: &str) -> Option<String> {
        fill(self.image.as_deref(), version)
    }
}

fn fill(template: Option<&str>, version: &str) -> Option<String> {
    let major = version.split('.').next().unwrap_or(version);
    (!version.is_empty()).then_some(())?;
    template.map(|text| text.replace("{version}", version).replace("{major}", major))
}

impl CatalogEntry for BaseImageRule {
    fn key(&self) -> String {
        self.id.clone()
    }
    fn source(&self) -> &str {
        &self.source
    }
    fn patterns(&self) -> Vec<&str> {
        let values = self.environment.iter().chain(&self.labels).filter_map(|rule| rule.pattern.as_ref());
        values.chain(&self.history).map(String::as_str).collect()
    }
}

impl CatalogEntry for Distribution {
    fn key(&self) -> String {
        self.id.clone()
    }
    fn source(&self) -> &str {
        &self.source
    }
}

impl CatalogEntry for Release {
    fn key(&self) -> String {
        format!("{} {}", self.distribution, self.version)
    }
    fn source(&self) -> &str {
        &self.source
    }
}

impl Catalog {
    /// The release of a distribution by `ID` and `VERSION_ID` of its `os-release`; point releases such as `9.3`
    /// are those of `9` when they are not known themselves.
    pub fn release(&self, id: &str, version: &str) -> Option<&Release> {
        let major = version.split('.').next().unwrap_or(version);
        let find = |version: &str| {
            self.document.releases.iter().find(|one| one.distribution == id && one.version == version)
        };
        find(version).or_else(|| find(major))
    }

    /// All fingerprints of base images, the most specific first.
    pub fn base_images(&self) -> &[BaseImageRule] {
        &self.document.base_images
    }

    /// The fingerprints that an image shows, the most specific first: an image built on another shows those
    /// of both.
    pub fn base_images_of<'a>(&'a self, facts: BaseFacts<'a>) -> impl Iterator<Item = &'a BaseImageRule> {
        self.document.base_images.iter().filter(move |rule| rule.fits(&facts))
    }

    /// A distribution by the `ID` of its `os-release`.
    pub fn distribution(&self, id: &str) -> Option<&Distribution> {
        self.document.distributions.iter().find(|distribution| distribution.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::{Catalog, last_day};

    #[test]
    fn days_are_counted_from_1970() {
        for (date, wanted) in [
            ("1970-01-01", Some(0)),
            ("1970-01", Some(30)),
            ("2000-03-01", Some(11_017)),
            ("2024-02", Some(19_782)),
            ("2025-05-31", Some(20_239)),
            ("2025-13", None),
            ("2025-02-29", None),
            ("later", None),
        ] {
            assert_eq!(last_day(date), wanted, "{date}");
        }
        let releases = &Catalog::builtin().document.releases;
        assert!(releases.len() > 5);
        for release in releases {
            assert!(release.end().is_some(), "{release:?}");
            assert!(release.long_term.is_none() || release.long_term_end() > release.end(), "{release:?}");
        }
    }
}
