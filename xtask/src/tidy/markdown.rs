//! Rules about Markdown files.
use super::checkout::{File, root};
use std::path::Path;

/// A relative link leads to a file of the checkout.
pub fn dead_links(file: &File) -> Vec<(usize, String)> {
    if !file.path.ends_with(".md") {
        return Vec::new();
    }
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    let dead = |target: &str| !root().join(folder).join(target).exists();
    let numbered = file.text.lines().enumerate();
    let links = numbered.flat_map(|(index, line)| targets(line).map(move |target| (index + 1, target)));
    links
        .filter(|(_, target)| dead(target))
        .map(|(line, target)| (line, format!("links to {target}, which is not there")))
        .collect()
}

/// The relative targets of `[text](target)` in a line, without fragment.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let relative = links.filter(|link| !link.contains("://") && !link.starts_with('#') && !link.starts_with("mailto:"));
    relative.filter_map(|link| link.split('#').next()).filter(|link| !link.is_empty())
}
