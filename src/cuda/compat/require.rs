//! Parser and evaluation of `NVIDIA_REQUIRE_*`: clauses separated by spaces, of which one must be true; terms
//! separated by commas, which must all be true; each term is `name op value`. As in libnvidia-container
//! (`src/cli/dsl.c`), which compares names case-insensitively, and the constraints of
//! nvidia-container-toolkit.

use std::cmp::Ordering;

/// Maximum length of an evaluated value, in bytes. Values in NVIDIA's images have up to 1.3 KB; the kernel
/// accepts 128 KiB.
const LONGEST: usize = 16 << 10;

/// Whether the toolkit parses the value as true.
pub(crate) fn is_true(value: &str) -> bool {
    matches!(value.trim(), "1" | "t" | "T" | "true" | "TRUE" | "True")
}

/// Result of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Yes,
    No,
    Unknown,
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Operator {
    fn read(text: &str) -> Option<Self> {
        Some(match text {
            "=" => Self::Equal,
            "!=" => Self::Unequal,
            "<" => Self::Less,
            "<=" => Self::LessEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterEqual,
            _ => return None,
        })
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterEqual => order.is_ge(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Cuda(Operator, Vec<u32>),
    Driver(Operator, Vec<u32>),
    Arch(Operator, Vec<u32>),
    /// Required brand (`true`) or excluded brand (`false`).
    Brand(bool, String),
    /// Unknown name: libnvidia-container rejects it, the Go toolkit ignores it.
    Other,
    /// Syntax error.
    Malformed,
}

/// Known facts of a machine for evaluation. Versions are given as numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host<'a> {
    /// CUDA version of its libcuda; `None` if unknown.
    pub(crate) cuda: Option<(u32, u32)>,
    /// Whether `cuda` is only a lower bound.
    pub(crate) cuda_or_later: bool,
    /// Driver version; a single number is any version of that branch.
    pub(crate) driver: Option<&'a [u32]>,
    /// SM number: compute capability without the dot.
    pub(crate) sm: u32,
    /// Brand of the GPU; `None` if unknown.
    pub(crate) brand: Option<&'a str>,
}

/// The value of one variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requirement {
    clauses: Vec<Vec<Term>>,
    /// First clause, unchanged: the toolkit prints it when it refuses to start.
    first: String,
    too_long: bool,
}

impl Requirement {
    /// Parses a value; malformed terms evaluate to unknown. The cost is bounded for any input.
    pub(crate) fn parse(value: &str) -> Self {
        if value.len() > LONGEST {
            return Self { too_long: true, ..Self::default() };
        }
        let clauses = value.split(' ').filter(|clause| !clause.is_empty()).map(|clause| {
            clause.split(',').filter(|term| !term.is_empty()).map(Term::read).collect::<Vec<Term>>()
        });
        // An empty clause is true for libnvidia-container and ignored by nvidia-container-toolkit.
        let clauses = clauses.filter(|clause| !clause.is_empty()).collect();
        let first = value.split(' ').find(|clause| !clause.is_empty()).unwrap_or_default().to_owned();
        Self { clauses, first, too_long: false }
    }

    /// Whether a machine satisfies the requirement.
    pub(crate) fn holds(&self, host: &Host<'_>) -> Holds {
        if self.too_long {
            return Holds::Unknown;
        }
        if self.clauses.is_empty() {
            return Holds::Yes;
        }
        let mut whole = Holds::No;
        for clause in &self.clauses {
            match all(clause.iter().map(|term| term.holds(host))) {
                Holds::Yes => return Holds::Yes,
                Holds::Unknown => whole = Holds::Unknown,
                Holds::No => {}
            }
        }
        whole
    }

    /// Why the value may be rejected, as the end of a sentence that starts with its name.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let has = |wanted: &Term| self.clauses.iter().flatten().any(|term| term == wanted);
        if self.too_long {
            Some("is too long")
        } else if has(&Term::Malformed) {
            Some("has a part that is not NAME OPERATOR VALUE")
        } else if has(&Term::Other) {
            Some(
                "has a name other than cuda, driver, arch and brand, which container toolkits either refuse or ignore",
            )
        } else {
            None
        }
    }

    /// The first clause, which the container toolkit prints when it refuses to start a container.
    pub(crate) fn first_clause(&self) -> &str {
        &self.first
    }

    /// The lowest CUDA version required by a `cuda>=` term, as numbers.
    pub(crate) fn least_cuda(&self) -> Option<&[u32]> {
        let asked = self.clauses.iter().filter_map(|clause| {
            clause.iter().find_map(|term| match term {
                Term::Cuda(Operator::GreaterEqual, version) => Some(version.as_slice()),
                _ => None,
            })
        });
        asked.min()
    }
}

/// Conjunction: `Yes` if all are true.
pub(crate) fn all(parts: impl IntoIterator<Item = Holds>) -> Holds {
    let mut whole = Holds::Yes;
    for part in parts {
        match part {
            Holds::No => return Holds::No,
            Holds::Unknown => whole = Holds::Unknown,
            Holds::Yes => {}
        }
    }
    whole
}

impl Term {
    fn read(text: &str) -> Self {
        let is_operator = |character: char| matches!(character, '<' | '>' | '=' | '!');
        let Some(start) = text.find(is_operator).filter(|start| *start > 0) else { return Self::Malformed };
        let (name, rest) = text.split_at(start);
        let end = rest.find(|character| !is_operator(character)).unwrap_or(rest.len());
        let (operator, value) = rest.split_at(end);
        let (Some(operator), false) = (Operator::read(operator), value.is_empty()) else {
            return Self::Malformed;
        };
        let version = |make: fn(Operator, Vec<u32>) -> Self| {
            version(value).map_or(Self::Malformed, |version| make(operator, version))
        };
        match name.to_ascii_lowercase().as_str() {
            "cuda" => version(Self::Cuda),
            "driver" => version(Self::Driver),
            "arch" => version(Self::Arch),
            "brand" => match operator {
                Operator::Equal => Self::Brand(true, value.to_ascii_lowercase()),
                Operator::Unequal => Self::Brand(false, value.to_ascii_lowercase()),
                _ => Self::Malformed,
            },
            _ => Self::Other,
        }
    }

    fn holds(&self, host: &Host<'_>) -> Holds {
        match self {
            Self::Cuda(operator, wanted) => {
                let Some((major, minor)) = host.cuda else { return Holds::Unknown };
                let order = compare(&[major, minor], wanted);
                // The actual version may be any later one.
                if host.cuda_or_later && order.is_le() {
                    return match operator {
                        Operator::GreaterEqual if order.is_eq() => Holds::Yes,
                        Operator::Less if order.is_eq() => Holds::No,
                        _ => Holds::Unknown,
                    };
                }
                operator.holds(order).into()
            }
            Self::Driver(operator, wanted) => match host.driver {
                None | Some([]) => Holds::Unknown,
                Some([branch]) => match wanted.split_first() {
                    // Driver versions have more parts than the branch, so each is above `BRANCH` and
                    // `BRANCH.0`.
                    Some((first, rest)) if first == branch && rest.iter().all(|part| *part == 0) => {
                        operator.holds(Ordering::Greater).into()
                    }
                    Some((first, _)) if first == branch => Holds::Unknown,
                    Some((first, _)) => operator.holds(branch.cmp(first)).into(),
                    None => Holds::Unknown,
                },
                Some(version) => operator.holds(compare(version, wanted)).into(),
            },
            Self::Arch(operator, wanted) => {
                operator.holds(compare(&[host.sm / 10, host.sm % 10], wanted)).into()
            }
            Self::Brand(same, wanted) => match host.brand {
                Some(brand) => (brand.eq_ignore_ascii_case(wanted) == *same).into(),
                None => Holds::Unknown,
            },
            Self::Other | Self::Malformed => Holds::Unknown,
        }
    }
}

/// The numbers of a version; `None` if it contains other characters than digits and dots, or does not start
/// with a digit.
fn version(text: &str) -> Option<Vec<u32>> {
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    text.split('.').filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
}

/// Compares part by part; missing parts count as 0.
fn compare(one: &[u32], other: &[u32]) -> Ordering {
    let parts = one.len().max(other.len());
    let padded = |version: &[u32], place: usize| version.get(place).copied().unwrap_or(0);
    (0..parts)
        .map(|place| padded(one, place).cmp(&padded(other, place)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests;
