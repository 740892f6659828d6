//! The verdict of `[regression]`, in the model.

use super::model::{CompareReport, CompareVerdict, RegressionCheck, RegressionFigure};
use crate::findings::policy::{Difference, Growth, Regressed};

impl CompareReport {
    /// Adds the verdict of a policy on the comparison.
    pub fn set_verdict(&mut self, regressed: &Regressed) {
        self.verdict = Some(CompareVerdict {
            pass: regressed.reasons.is_empty(),
            reasons: regressed.reasons.clone(),
            checks: regressed.checks.iter().map(check).collect(),
        });
    }

    /// The verdict as the last line of output has it. Without a budget only incomplete images fail.
    pub fn verdict_line(&self) -> String {
        match &self.verdict {
            Some(verdict) if !verdict.pass => format!("verdict: fail reason={}", verdict.reasons.join(",")),
            None if !self.complete => "verdict: fail reason=incomplete".to_owned(),
            _ => "verdict: pass".to_owned(),
        }
    }
}

fn check(growth: &Growth) -> RegressionCheck {
    let rules: Vec<String> = growth.rules.iter().map(|(rule, more)| format!("{rule} +{more}")).collect();
    RegressionCheck {
        name: growth.name.into(),
        ok: growth.ok,
        unit: match growth.limit {
            Difference::Bytes(_) => "bytes".into(),
            Difference::Ratio(_) => "ratio".into(),
            Difference::Rules(_) => "rules".into(),
        },
        actual: growth.actual.map(figure),
        limit: figure(growth.limit),
        detail: if rules.is_empty() { growth.detail.clone() } else { rules.join(", ") },
    }
}

fn figure(difference: Difference) -> RegressionFigure {
    match difference {
        Difference::Bytes(bytes) => RegressionFigure::Whole(bytes),
        Difference::Ratio(ratio) => RegressionFigure::Ratio(ratio),
        Difference::Rules(rules) => RegressionFigure::Whole(i64::try_from(rules).unwrap_or(i64::MAX)),
    }
}
