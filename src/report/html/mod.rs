//! A page as one HTML file: no scripts, nothing that is fetched, all of its style inside.
//!
//! The template is `assets/report/report.html`. Its name ends in `.html`, so whatever it prints is escaped; the only
//! text that it prints as it is are the style sheet and what its own macros made.

mod caps;
mod chart;
mod view;
mod writer;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error, HtmlEscape, context};

use self::caps::Caps;
use self::view::Document;
use super::page::Page;
use crate::base::text::elide_end;

const TEMPLATE: &str = include_str!("../../../assets/report/report.html");
const STYLE: &str = include_str!("../../../assets/report/report.css");

/// No file is larger, in bytes: it opens at once on a phone, and goes through mail and artifact viewers.
const MOST_BYTES: usize = 2_000_000;

/// A page as one HTML file without remote parts, of at most 2 MB. What does not fit is left out, and the file says
/// how much that is.
pub fn to_html(page: &Page) -> String {
    let mut tried = None;
    for caps in Caps::steps() {
        let least = caps.least_bytes(page);
        // Where nothing more is left out than the last time, there is nothing to gain.
        if least > MOST_BYTES || tried == Some(least) {
            continue;
        }
        tried = Some(least);
        match render(&Document::new(page, caps)) {
            Ok(html) if html.len() > MOST_BYTES => {}
            Ok(html) => return html,
            Err(error) => return failure(page, &error.to_string()),
        }
    }
    failure(page, "larger than 2 MB even when shortened")
}

fn render(document: &Document) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?,
    );
    environment.add_template("report.html", TEMPLATE)?;
    let style = Value::from_safe_string(STYLE.to_owned());
    let html =
        environment.get_template("report.html")?.render(context! { style, report => Serde(document) })?;
    Ok(with_slashes(&html))
}

/// A slash ends no text and no quoted attribute; escaped, as minijinja has it, paths are twice as long. What an image
/// holds cannot look like the escaped one: its `&` is escaped too.
fn with_slashes(html: &str) -> String {
    html.replace("&#x2f;", "/")
}

/// What there is when the page cannot be written.
fn failure(page: &Page, reason: &str) -> String {
    /// Longer names say no more.
    const LONGEST: usize = 1000;
    let title = elide_end(&writer::harmless(&page.title), LONGEST);
    let (title, reason) = (HtmlEscape(&title), HtmlEscape(reason));
    with_slashes(&format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
        http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">\n<meta name=\"viewport\" \
        content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light \
        dark\">\n<title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n<p>Cannot write this report as HTML: \
        {reason}. The JSON report is complete.</p>\n</body>\n</html>\n"
    ))
}

#[cfg(test)]
mod tests;
