//! The page as a browser sees it, and as text where no browser is to be had.
use super::*;
use crate::audit::coverage::collect_with;
use crate::audit::dossier;
use crate::audit::usage::Usage;
use crate::obtain::apt::browser::Browser;
use crate::place;
use std::path::Path;

/// What the page is asked to do.
const DRIVER: &str = include_str!("driver.js");

/// Errors are collected before anything runs.
const WATCH: &str = r#"<script>window.errors = []; addEventListener("error", (event) => window.errors.push(String(event.message)));</script>"#;

fn page() -> String {
    let coverages = ["3.11", "3.13"].map(|series| collect_with(series, Usage::default()).unwrap());
    let archive = dossier::newest(&["3.13".to_owned()]).ok().flatten();
    render(&Page::new(&coverages, archive.as_ref(), &[])).unwrap()
}

#[test]
fn what_sources_say_is_no_markup() {
    let bad = r#"</script><img src=x onerror="alert(1)"><!--<script>"#;
    let text = document(bad, &serde_json::json!({"name": bad, "line": "\u{2028}"}).to_string()).unwrap();
    assert!(!text.contains("<img") && !text.contains("<!--<script>") && !text.contains('\u{2028}'));
    assert_eq!(text.matches("</script>").count(), 2, "the data and the script, no more");
    let start = text.find(r#"type="application/json">"#).unwrap() + r#"type="application/json">"#.len();
    let end = start + text[start..].find("</script>").unwrap();
    let read: serde_json::Value = serde_json::from_str(&text[start..end]).unwrap();
    assert_eq!(read["name"], bad, "the text itself is kept");
    let script = include_str!("../../../templates/audit.js");
    for way in
        ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch(", "http"]
    {
        assert!(!script.contains(way), "{way}: texts become text nodes, and nothing is loaded");
    }
}

#[test]
fn a_browser_searches_opens_and_follows_links_without_an_error() {
    let wanted = ["SLOTRT_BROWSER", "SLOTRT_BLESS"].iter().any(|name| std::env::var_os(name).is_some());
    let browser = if wanted { Some(Browser::ensure().unwrap()) } else { Browser::unpacked() };
    let Some(browser) = browser else {
        eprintln!("no browser is unpacked: SLOTRT_BROWSER=1 fetches one");
        return;
    };
    let text = page();
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("audit.html");
    let driven = text
        .replacen("<head>", &format!("<head>{WATCH}"), 1)
        .replace("</body>", &format!("<script>{DRIVER}</script></body>"));
    std::fs::write(&file, driven).unwrap();
    let dom = browser.open(&file, "", &["--dump-dom"]).unwrap();
    let answers = dom.split("data-answers=\"").nth(1).and_then(|rest| rest.split('"').next());
    let answers = answers.unwrap_or_else(|| panic!("the page gave no answers")).replace("&quot;", "\"");
    let answers: serde_json::Value = serde_json::from_str(&answers).unwrap();
    assert_eq!(answers["errors"], serde_json::json!([]), "{answers}");
    for what in ["found", "moved", "opened", "closed", "themes"] {
        assert_eq!(answers[what], true, "{what}: {answers}");
    }
    assert!(answers["cells"].as_u64() > Some(4000) && answers["diff"].as_u64() > Some(10), "{answers}");
    assert!(answers["missing"].as_u64() > Some(10), "{answers}");
    if text.contains("pub fn dict_or") {
        assert_eq!(answers["rust"], true, "{answers}");
    }
    for theme in ["light", "dark"] {
        let themed = text.replacen("<html", &format!("<html data-theme=\"{theme}\""), 1);
        std::fs::write(&file, themed).unwrap();
        picture(&browser, &file, theme, room.path());
    }
}

/// A screenshot; with `SLOTRT_BLESS` it goes into the documentation.
fn picture(browser: &Browser, file: &Path, theme: &str, room: &Path) {
    let name = format!("audit-{theme}.png");
    let made = room.join(&name);
    let option = format!("--screenshot={}", made.display());
    browser.open(file, "#dict.nb_or", &[&option, "--window-size=1440,900"]).unwrap();
    let bytes = std::fs::read(&made).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 20_000, "{theme}: {} bytes", bytes.len());
    if std::env::var_os("SLOTRT_BLESS").is_some() {
        let folder = place::root().join("docs/pictures");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}
