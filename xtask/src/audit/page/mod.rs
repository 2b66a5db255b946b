//! The audit as one HTML file: no network, no framework; data as JSON, drawn by one small script.
//!
//! In: coverage of releases, dossiers, the audit of TorchDynamo. Out: text. Everything from programs and sources is data, never markup.
mod data;
#[cfg(test)]
mod tests;

pub use data::Page;

use anyhow::{Context, Result};
use askama::Template;

/// The document; style, script and data are put into it as they are.
#[derive(Template)]
#[template(path = "audit.html", escape = "html")]
struct Document<'a> {
    title: &'a str,
    style: &'a str,
    script: &'a str,
    data: &'a str,
}

/// Renders a page.
pub fn render(page: &Page<'_>) -> Result<String> {
    let json = serde_json::to_string(page).context("the data of the page cannot be written")?;
    document(&page.title, &json)
}

fn document(title: &str, json: &str) -> Result<String> {
    let document = Document {
        title,
        style: include_str!("../../../templates/audit.css"),
        script: include_str!("../../../templates/audit.js"),
        data: &inert(json),
    };
    document.render().context("the page cannot be rendered")
}

/// JSON that ends no script element and starts no comment, whatever its strings hold.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}
