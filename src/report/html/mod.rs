//! A page as one HTML file: no scripts, no remote parts, inline style.
//!
//! The template is `assets/report/report.html`. Its name ends in `.html`, so all output is escaped; only the style
//! sheet and the output of its own macros are not.

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

/// A page as one HTML file without remote parts, of at most 2 MB. What does not fit is omitted and counted in the file.
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

/// A slash ends neither text nor a quoted attribute; escaping it, as minijinja does, doubles paths. Text from an image
/// cannot imitate the escaped form: its `&` is escaped too.
fn with_slashes(html: &str) -> String {
    html.replace("&#x2f;", "/")
}

/// What there is when the page cannot be written.
fn failure(page: &Page, reason: &str) -> String {
    /// Maximum useful length of a name.
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
