//! Base images, identified by their configuration, and distributions.

use chrono::{Days, Months, NaiveDate};
use serde::Deserialize;

use super::Catalog;
use super::entry::{CatalogEntry, entry, texts};
use super::names::pattern;

/// A required variable or label and the pattern of its value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueRule {
    /// Name of a variable or label.
    pub name: String,
    /// Regular expression that the value must match; `None` for any value.
    pub pattern: Option<String>,
}

/// Fingerprint of a base image; all given conditions must match.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseImageRule {
    /// Identifier, such as `nvidia-cuda-cudnn-devel`.
    pub id: String,
    /// Image repository, such as `nvidia/cuda`.
    pub repository: String,
    /// Flavor of a CUDA image: `base`, `runtime` or `devel`.
    pub flavor: Option<String>,
    /// Whether it contains cuDNN.
    #[serde(default)]
    pub cudnn: bool,
    /// Required variables of the environment.
    #[serde(default)]
    pub environment: Vec<ValueRule>,
    /// Variables that the environment must not contain.
    #[serde(default)]
    pub absent: Vec<String>,
    /// Required labels.
    #[serde(default)]
    pub labels: Vec<ValueRule>,
    /// Regular expressions; each must match at least one history entry.
    #[serde(default)]
    pub history: Vec<String>,
    /// Text of the last history entry of the image; images built on it set another command.
    pub last: Option<String>,
    /// Number of layers of the Ubuntu variant, those of the distribution included.
    pub layers: Option<u32>,
    /// Image reference, with `{NAME}` for values of the environment; without a tag if the tag is unknown.
    pub reference: Option<String>,
    /// A Debian package of the full variant, where images without it have tags that end in `-slim`.
    pub full: Option<String>,
    /// Source of the facts.
    pub source: String,
}

/// Facts from an image configuration, for matching against [`BaseImageRule`].
#[derive(Clone, Copy, Debug, Default)]
pub struct BaseFacts<'a> {
    /// Variables of the environment, as name and value.
    pub environment: &'a [(&'a str, &'a str)],
    /// Labels, as name and value.
    pub labels: &'a [(&'a str, &'a str)],
    /// `created_by` of all history entries.
    pub history: &'a [&'a str],
}

impl BaseImageRule {
    /// Whether all conditions of the rule match.
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

    /// The reference with values of the environment filled in; `None` if the rule has none or a value is
    /// missing.
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

// Few rules are matched, once per image, so their patterns are compiled on use.
fn matches(text: Option<&str>, value: &str) -> bool {
    text.is_none_or(|text| pattern(text).is_ok_and(|regex| regex.is_match(value.as_bytes())))
}

/// A distribution, identified by the `ID` of its `os-release`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// `ID` of `os-release`, such as `ubuntu`.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Package manager: `dpkg`, `rpm` or `apk`.
    pub manager: String,
    /// Its form in NVIDIA's image tags, with `{version}` or `{major}`: `ubuntu{version}`.
    pub tag: Option<String>,
    /// Reference of its official image, with the same placeholders: `ubuntu:{version}`.
    pub image: Option<String>,
    /// Source of the facts.
    pub source: String,
}

/// Support period of a distribution release.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// `ID` of `os-release`.
    pub distribution: String,
    /// `VERSION_ID` of `os-release`.
    pub version: String,
    /// Display name.
    pub name: String,
    /// Last day of security updates for all users, such as `2023-05-31`; `2029-04` is the end of that month.
    pub end_of_support: String,
    /// Last day of free updates by volunteers or partners, in the same form.
    pub long_term: Option<String>,
    /// Source of the dates.
    pub source: String,
}

impl Release {
    /// Last day of security updates, in days since 1970-01-01.
    pub fn end(&self) -> Option<u32> {
        last_day(&self.end_of_support)
    }

    /// Last day of free updates by volunteers or partners, in days since 1970-01-01.
    pub fn long_term_end(&self) -> Option<u32> {
        last_day(self.long_term.as_deref()?)
    }
}

/// Days from 1970-01-01 to `2023-05-31`, or to the last day of `2029-04`.
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
    /// The form in NVIDIA's image tags for a `VERSION_ID`, such as `ubuntu24.04`; `None` if unknown.
    pub fn tag(&self, version: &str) -> Option<String> {
        fill(self.tag.as_deref(), version)
    }

    /// The official image for a `VERSION_ID`, such as `ubuntu:24.04`; `None` if unknown.
    pub fn image(&self, version: &str) -> Option<String> {
        fill(self.image.as_deref(), version)
    }
}

fn fill(template: Option<&str>, version: &str) -> Option<String> {
    let major = version.split('.').next().unwrap_or(version);
    (!version.is_empty()).then_some(())?;
    template.map(|text| text.replace("{version}", version).replace("{major}", major))
}

entry!(BaseImageRule, |it| it.id.clone(), patterns: |it| {
    let values = it.environment.iter().chain(&it.labels).filter_map(|rule| rule.pattern.as_ref());
    texts(values.chain(&it.history))
});
entry!(Distribution, |it| it.id.clone());
entry!(Release, |it| format!("{} {}", it.distribution, it.version));

impl Catalog {
    /// The release by `ID` and `VERSION_ID` of `os-release`. A point release such as `9.3` falls back to `9`.
    pub fn release(&self, id: &str, version: &str) -> Option<&Release> {
        let major = version.split('.').next().unwrap_or(version);
        let find = |version: &str| {
            self.document.releases.iter().find(|one| one.distribution == id && one.version == version)
        };
        find(version).or_else(|| find(major))
    }

    /// All base image rules, the most specific first.
    pub fn base_images(&self) -> &[BaseImageRule] {
        &self.document.base_images
    }

    /// The base image rules that match, the most specific first. An image built on another matches the rules
    /// of both.
    pub fn base_images_of<'a>(&'a self, facts: BaseFacts<'a>) -> impl Iterator<Item = &'a BaseImageRule> {
        self.document.base_images.iter().filter(move |rule| rule.fits(&facts))
    }

    /// The distribution with this `ID` of `os-release`.
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
