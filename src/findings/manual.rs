//! Chapters of the manual; pages of rules are in [`super::Rule`].

/// Name and text of each chapter.
const CHAPTERS: [(&str, &str); 23] = [
    ("cache", include_str!("../../assets/manual/cache.md")),
    ("check", include_str!("../../assets/manual/check.md")),
    ("ci", include_str!("../../assets/manual/ci.md")),
    ("cli", include_str!("../../assets/manual/cli.md")),
    ("cold-start", include_str!("../../assets/manual/cold-start.md")),
    ("compare", include_str!("../../assets/manual/compare.md")),
    ("compatibility", include_str!("../../assets/manual/compatibility.md")),
    ("cuda", include_str!("../../assets/manual/cuda.md")),
    ("deployment", include_str!("../../assets/manual/deployment.md")),
    ("dockerfile", include_str!("../../assets/manual/dockerfile.md")),
    ("files", include_str!("../../assets/manual/files.md")),
    ("glossary", include_str!("../../assets/manual/glossary.md")),
    ("gpu", include_str!("../../assets/manual/gpu.md")),
    ("install", include_str!("../../assets/manual/install.md")),
    ("labels", include_str!("../../assets/manual/labels.md")),
    ("performance", include_str!("../../assets/manual/performance.md")),
    ("registries", include_str!("../../assets/manual/registries.md")),
    ("report", include_str!("../../assets/manual/report.md")),
    ("settings", include_str!("../../assets/manual/settings.md")),
    ("sizes", include_str!("../../assets/manual/sizes.md")),
    ("slim", include_str!("../../assets/manual/slim.md")),
    ("verdicts", include_str!("../../assets/manual/verdicts.md")),
    ("window", include_str!("../../assets/manual/window.md")),
];

/// The chapter of the manual with this name, in Markdown.
pub fn chapter(name: &str) -> Option<&'static str> {
    CHAPTERS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Names of all chapters.
pub fn chapters() -> impl Iterator<Item = &'static str> {
    CHAPTERS.iter().map(|(name, _)| *name)
}
