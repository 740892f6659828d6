//! GPUs that an image is meant for, and how they are written.

use crate::base::text::{elide_end, printable};
use crate::cuda::catalog::{Catalog, GpuClass};

/// A GPU that GPU code is judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetGpu {
    /// Its id, such as `gpu:a100-80`, or what the user wrote.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Compute capability without the point, such as 86.
    pub sm: u32,
    /// Version of the driver there, when it was said.
    pub driver: Option<String>,
    /// What kind of GPU it is, when that is known.
    pub class: Option<GpuClass>,
}

/// Why a target cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The machine at hand is asked for.
    #[error(
        "cannot use the target host: the GPU of this machine is not looked at yet, that comes with the GPU check"
    )]
    Host,
    /// No GPU and no machine has this id.
    #[error("there is no target {text}")]
    Unknown {
        /// What was written.
        text: String,
        /// Ids that are like it, the nearest first.
        near: Vec<String>,
    },
    /// It is no list of `cc=`, `driver=`, `class=`.
    #[error("cannot read the target {text}: {message}")]
    Malformed {
        /// What was written.
        text: String,
        /// What is wrong.
        message: String,
    },
}

impl TargetError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Host => {
                "name its GPU, such as gpu:rtx-4090, or its compute capability, such as cc=8.9".to_owned()
            }
            Self::Unknown { near, .. } if !near.is_empty() => format!("did you mean {}?", near.join(" or ")),
            Self::Unknown { .. } => {
                "targets are ids such as gpu:l4 and azure:Standard_NC24ads_A100_v4, or cc=8.9".to_owned()
            }
            Self::Malformed { .. } => {
                "write it as cc=8.6,driver=535.104,class=geforce; only cc must be there".to_owned()
            }
        }
    }
}

/// The GPUs that are judged by when nobody says which: five that data centres have most.
pub fn default_targets(catalog: &Catalog) -> Vec<TargetGpu> {
    const COMMON: [&str; 5] = ["gpu:t4", "gpu:a10", "gpu:a100-80", "gpu:l4", "gpu:h100"];
    COMMON.iter().filter_map(|id| TargetGpu::named(catalog, id)).collect()
}

impl TargetGpu {
    /// The GPU of the catalogue with this id.
    pub fn named(catalog: &Catalog, id: &str) -> Option<Self> {
        let target = catalog.target(id)?;
        Some(Self {
            id: target.id.clone(),
            name: target.gpu.clone(),
            sm: target.sm()?,
            driver: None,
            class: Some(target.class),
        })
    }

    /// Its name without the maker's, with its compute capability: `A100 80GB (8.0)`.
    pub fn title(&self) -> String {
        let name = self.name.strip_prefix("NVIDIA ").unwrap_or(&self.name);
        format!("{name} ({}.{})", self.sm / 10, self.sm % 10)
    }
}

/// Reads a target as the command line and `cutaway.toml` write it: an id of the catalogue (`gpu:a100-80`,
/// `azure:Standard_NC24ads_A100_v4`, in any case), or `cc=8.6,driver=535.104,class=geforce`, of which only `cc`
/// must be there.
///
/// # Errors
/// `host`, which is not looked at yet; an id that nothing has; a list that cannot be read.
pub fn parse(catalog: &Catalog, text: &str) -> Result<TargetGpu, TargetError> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("host") {
        return Err(TargetError::Host);
    }
    if text.contains('=') {
        return described(text);
    }
    let known = catalog.targets().iter().find(|target| target.id.eq_ignore_ascii_case(text));
    if let Some(target) = known.and_then(|target| TargetGpu::named(catalog, &target.id)) {
        return Ok(target);
    }
    for machine in catalog.machines() {
        let id = machine.ids.iter().find(|id| id.eq_ignore_ascii_case(text));
        if let (Some(id), Some(target)) = (id, TargetGpu::named(catalog, &machine.target)) {
            return Ok(TargetGpu { id: id.clone(), ..target });
        }
    }
    Err(TargetError::Unknown { text: shown(text), near: near(catalog, text) })
}

/// What a user wrote, short and safe to show.
fn shown(text: &str) -> String {
    elide_end(&printable(text), 80)
}

fn described(text: &str) -> Result<TargetGpu, TargetError> {
    let fault = |message: String| TargetError::Malformed { text: shown(text), message };
    let (mut sm, mut driver, mut class) = (None, None, None);
    for part in text.split(',') {
        let Some((name, value)) = part.split_once('=') else {
            return Err(fault(format!("{} is no NAME=VALUE", shown(part))));
        };
        let (name, value) = (name.trim(), value.trim());
        let twice = match name {
            "cc" => {
                let read = capability(value);
                let read = read.ok_or_else(|| fault(format!("{} is no compute capability", shown(value))))?;
                sm.replace(read).is_some()
            }
            "driver" => {
                let mut numbers = value.split('.');
                if numbers.clone().count() > 3 || !numbers.all(|part| part.parse::<u32>().is_ok()) {
                    return Err(fault(format!("{} is no version of a driver", shown(value))));
                }
                driver.replace(value.to_owned()).is_some()
            }
            "class" => {
                let read = match value.to_ascii_lowercase().as_str() {
                    "data-center" | "datacenter" | "data-centre" => GpuClass::DataCenter,
                    "workstation" => GpuClass::Workstation,
                    "geforce" => GpuClass::Geforce,
                    "jetson" => GpuClass::Jetson,
                    _ => {
                        let wanted = "data-center, workstation, geforce or jetson";
                        return Err(fault(format!("the class {} is not {wanted}", shown(value))));
                    }
                };
                class.replace(read).is_some()
            }
            _ => return Err(fault(format!("{} is not cc, driver or class", shown(name)))),
        };
        if twice {
            return Err(fault(format!("{name} stands there twice")));
        }
    }
    let sm = sm.ok_or_else(|| fault("cc is missing".to_owned()))?;
    let name = format!("GPU of compute capability {}.{}", sm / 10, sm % 10);
    Ok(TargetGpu { id: text.to_owned(), name, sm, driver, class })
}

/// 86 for `8.6`. The minor has one digit, since SM numbers have one for it.
fn capability(value: &str) -> Option<u32> {
    let (major, minor) = value.split_once('.')?;
    let (major, minor) = (major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?);
    ((1..=99).contains(&major) && minor <= 9).then_some(major * 10 + minor)
}

/// Ids that differ in few letters, or hold what was written.
fn near(catalog: &Catalog, text: &str) -> Vec<String> {
    /// Longer than any id: what is longer has nothing near.
    const LONGEST: usize = 64;
    let asked = text.to_ascii_lowercase();
    if asked.is_empty() || asked.len() > LONGEST {
        return Vec::new();
    }
    let bare = asked.split_once(':').map_or(asked.as_str(), |(_, name)| name);
    let ids = catalog.targets().iter().map(|target| &target.id);
    let ids = ids.chain(catalog.machines().iter().flat_map(|machine| &machine.ids));
    let mut found: Vec<(bool, usize, &String)> = ids
        .filter_map(|id| {
            let lower = id.to_ascii_lowercase();
            let distance = distance_of(&asked, &lower);
            let holds = bare.len() > 1 && lower.contains(bare);
            (distance <= 3 || holds).then_some((!holds, distance, id))
        })
        .collect();
    found.sort();
    found.into_iter().take(3).map(|(.., id)| id.clone()).collect()
}

/// How many letters have to be put in, taken out or replaced.
fn distance_of(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.chars().enumerate() {
        let mut next = vec![place + 1];
        for (column, (wanted, pair)) in other.iter().zip(row.windows(2)).enumerate() {
            let left = next.get(column).copied().unwrap_or(usize::MAX);
            let replaced = pair[0] + usize::from(letter != *wanted);
            next.push(replaced.min(pair[1] + 1).min(left.saturating_add(1)));
        }
        row = next;
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::{TargetError, default_targets, parse};
    use crate::cuda::catalog::{Catalog, GpuClass};

    #[test]
    fn targets_are_read_as_the_contract_writes_them() {
        let catalog = Catalog::builtin();
        let sm = |text: &str| parse(catalog, text).map(|target| target.sm);
        assert_eq!(sm("gpu:a100-80"), Ok(80));
        assert_eq!(sm("GPU:L4"), Ok(89));
        assert_eq!(sm("azure:standard_nc24ads_a100_v4"), Ok(80));
        let azure = parse(catalog, "azure:Standard_NC4as_T4_v3").unwrap();
        assert_eq!((azure.id.as_str(), azure.title().as_str()), ("azure:Standard_NC4as_T4_v3", "T4 (7.5)"));
        let one = parse(catalog, "cc=8.6, driver=535.104,class=geforce").unwrap();
        assert_eq!(
            (one.sm, one.driver.as_deref(), one.class),
            (86, Some("535.104"), Some(GpuClass::Geforce))
        );
        assert_eq!(sm("cc=12.0"), Ok(120));
        assert_eq!(default_targets(catalog).len(), 5);
    }

    #[test]
    fn errors_say_what_is_near_and_what_to_write() {
        let catalog = Catalog::builtin();
        let error = |text: &str| parse(catalog, text).unwrap_err();
        assert_eq!(error("host"), TargetError::Host);
        assert!(error("host").to_string().contains("GPU check"));
        let near = error("gpu:a100-8");
        assert!(near.hint().contains("gpu:a100-80"), "{}", near.hint());
        assert!(error("h100").hint().contains("gpu:h100"));
        assert!(error("gpu:nothing-like-it").hint().contains("cc=8.9"));
        for text in [
            "cc=",
            "cc=8",
            "cc=8.66",
            "driver=535",
            "cc=8.6,cc=8.6",
            "cc=8.6,x=1",
            "cc=8.6,class=fast",
            "cc=8.6,8.9",
        ] {
            assert!(matches!(error(text), TargetError::Malformed { .. }), "{text}");
        }
        assert!(error("cc=8.6,driver=5.x").to_string().contains("driver"));
    }

    #[test]
    fn every_machine_has_a_known_gpu() {
        let catalog = Catalog::builtin();
        for machine in catalog.machines() {
            assert!(catalog.target(&machine.target).is_some(), "{machine:?}");
            assert!(machine.ids.iter().all(|id| id.contains(':')), "{machine:?}");
        }
    }
}
