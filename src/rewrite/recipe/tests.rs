use oci_spec::image::{Config, ConfigBuilder, History, HistoryBuilder};

use super::{Facts, Recipe};
use crate::cuda::{BaseImage, Flavor, LowerBase};
use crate::formats::dockerfile::Keyword;
use crate::rewrite::input::Given;
use crate::rewrite::input::RewriteError;

mod given;
mod histories;
mod rebuilt;
mod unknown;

/// An entry of the history: its text, whether it created a layer, and the builder's comment.
type Entry<'a> = (&'a str, bool, &'a str);

/// The facts about an image for recipes.
#[derive(Clone, Default)]
struct Sample {
    history: Vec<History>,
    config: Config,
    base: Option<BaseImage>,
    layers: Option<usize>,
}

impl Sample {
    fn new(entries: &[Entry<'_>]) -> Self {
        let entry = |(text, layer, comment): &Entry<'_>| {
            let mut builder = HistoryBuilder::default().created_by(*text);
            if !layer {
                builder = builder.empty_layer(true);
            }
            if !comment.is_empty() {
                builder = builder.comment(*comment);
            }
            builder.build().unwrap()
        };
        Self { history: entries.iter().map(entry).collect(), ..Self::default() }
    }

    /// With kaniko as author.
    fn by(mut self, author: &str) -> Self {
        self.history.iter_mut().for_each(|entry| {
            entry.set_author(Some(author.to_owned()));
        });
        self
    }

    fn on(mut self, reference: Option<&str>, flavor: Flavor, layers: usize) -> Self {
        self.base = Some(BaseImage {
            reference: reference.map(str::to_owned),
            flavor,
            cuda_version: (flavor != Flavor::None).then(|| "12.9.1".to_owned()),
            cudnn_version: None,
            distribution: Some("ubuntu22.04".to_owned()),
            layers,
            below: Vec::new(),
            evidence: Vec::new(),
        });
        self
    }

    fn below(mut self, reference: &str, layers: usize) -> Self {
        let lower = LowerBase { reference: reference.to_owned(), flavor: Flavor::None, layers };
        self.base.as_mut().unwrap().below.push(lower);
        self
    }

    fn config(mut self, change: impl FnOnce(ConfigBuilder) -> ConfigBuilder) -> Self {
        self.config = change(ConfigBuilder::default()).build().unwrap();
        self
    }

    /// With so many layers, regardless of the history.
    fn layers(mut self, layers: usize) -> Self {
        self.layers = Some(layers);
        self
    }

    fn facts(&self) -> Facts<'_> {
        let told = self.history.iter().filter(|entry| entry.empty_layer() != Some(true)).count();
        Facts {
            history: &self.history,
            config: Some(&self.config),
            layers: (1..).map(|number| Some(number * 10)).take(self.layers.unwrap_or(told)).collect(),
            base: self.base.as_ref(),
            redaction_policy: crate::rewrite::recipe::RedactionPolicy { shows: false },
            copied: &|_, _| None,
        }
    }

    fn rebuilt(&self) -> Recipe {
        let recipe = self.facts().rebuilt().unwrap_or_else(|error| panic!("{error}: {:?}", self.history));
        assert_eq!(recipe.ties.len(), recipe.file.instructions.len());
        recipe
    }

    fn given(&self, text: &str) -> Result<Recipe, RewriteError> {
        self.facts().given(&Given { name: "Dockerfile", text: text.as_bytes() })
    }

    fn foreign(&self, text: &str) -> String {
        self.given(text).unwrap_err().to_string()
    }
}

impl Recipe {
    /// Its instructions without comments, each with its layers.
    fn lines(&self) -> Vec<(String, Vec<u16>)> {
        let text = |span: &std::ops::Range<usize>| self.file.slice(span).trim_end().to_owned();
        self.file
            .instructions
            .iter()
            .zip(&self.ties)
            .map(|(one, tie)| (text(&one.span), tie.layers.clone()))
            .collect()
    }

    fn texts(&self) -> Vec<String> {
        self.lines().into_iter().map(|(text, _)| text).collect()
    }

    /// Entries of the history by instruction.
    fn entries(&self) -> Vec<(Keyword, Vec<usize>)> {
        self.file
            .instructions
            .iter()
            .zip(&self.ties)
            .map(|(one, tie)| (one.keyword, tie.history.clone()))
            .collect()
    }

    fn notes(&self) -> String {
        self.unknown.iter().map(|(line, text)| format!("{line}: {text}\n")).collect::<Vec<_>>().concat()
    }
}

#[test]
fn a_file_that_is_too_long_or_none_is_refused() {
    let sample = Sample::new(&[]);
    let long = "#\n".repeat(1 << 20);
    assert!(
        matches!(sample.given(&long), Err(RewriteError::TooLarge { bytes, most, .. }) if bytes == 2 * most)
    );
    assert!(matches!(sample.given("HELLO world\n"), Err(RewriteError::Syntax { .. })));
}
