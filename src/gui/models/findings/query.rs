//! What filters see of findings.

use super::item::FindingItem;
use crate::base::labels::{CATEGORIES, SEVERITIES, VERDICTS, slug};
use crate::findings::{Category, rules};
use crate::gui::models::filter::{Field, FilterView, Word};

/// The findings of an image.
pub struct FindingList;

impl FilterView for FindingList {
    type Row<'a> = &'a FindingItem;

    const FIELDS: &'static [Field<Self>] = &[
        Field::label(VERDICTS, |item, value| item.verdict.as_str() == value),
        Field::label(SEVERITIES, |item, value| item.severity.as_str() == value),
        Field::part(
            CATEGORIES.key,
            ("part of a category", "headers"),
            |part| Category::ALL.iter().any(|category| is_part(*category, part)),
            |item, part| is_part(item.category, part),
        ),
        Field::part(
            "rule",
            ("part of a rule ID", "static-libraries"),
            |part| rules().any(|rule| rule.id.contains(part)),
            |item, part| item.rule.contains(part),
        ),
        Field::layer(|item, layer| item.layers.contains(&layer)),
        Field::size(|item, range| range.contains(&item.bytes)),
    ];
    const GLOBS: bool = false;

    fn has_word(item: &&FindingItem, word: &Word) -> bool {
        [&item.title, item.rule, item.category.label()].into_iter().any(|text| word.is_within(text))
    }
}

/// Whether a text is a part of a category's label or JSON value.
fn is_part(category: Category, part: &str) -> bool {
    slug(category.label()).contains(part) || category.as_str().contains(part)
}

#[cfg(test)]
mod tests {
    use super::FindingList;
    use crate::base::labels::{CATEGORIES, SEVERITIES, VERDICTS};
    use crate::gui::models::filter::tests::understands;

    #[test]
    fn labels_and_values_are_filters() {
        understands::<FindingList>(&[VERDICTS, SEVERITIES, CATEGORIES]);
    }
}
