//! The little that is done to the built page: meta tags filled in, inline scripts vouched for.

use crate::hash::csp_source;
use anyhow::{Result, bail};

/// Fills the empty `content` of the page's `<meta {attribute}="{name}" content="">`.
///
/// The tag stands in the source page, so that its author sees all that the page has.
pub(crate) fn fill_meta(html: &str, attribute: &str, name: &str, value: &str) -> Result<String> {
    let key = format!("{attribute}=\"{name}\"");
    let tags: Vec<&str> = tags(html, "meta").filter(|tag| tag.contains(&key)).collect();
    let [tag] = tags.as_slice() else {
        bail!("the page has {} tags `<meta {key} content=\"\">` instead of one", tags.len());
    };
    if !tag.contains("content=\"\"") {
        bail!("`{tag}` has no empty `content=\"\"` to be filled");
    }
    let filled = tag.replace("content=\"\"", &format!("content=\"{}\"", escape(value)));
    Ok(html.replacen(tag, &filled, 1))
}

/// The policy under which the page runs: its own files and, of inline scripts, only the known.
pub(crate) fn content_security_policy(html: &str) -> String {
    let mut script_sources = String::from("'self' 'wasm-unsafe-eval'");
    for script in inline_scripts(html) {
        script_sources.push_str(&format!(" '{}'", csp_source(script.as_bytes())));
    }
    format!(
        "default-src 'self'; script-src {script_sources}; style-src 'self'; \
         img-src 'self' data: blob:; worker-src 'self'; connect-src 'self'; \
         base-uri 'self'; form-action 'none'"
    )
}

/// What is in the page though its policy forbids it: the browser would drop it without a word.
pub(crate) fn forbidden_by_policy(html: &str) -> Vec<&'static str> {
    const FORBIDDEN: &[&str] = &["<style", " style=", " onload=", " onclick=", " onerror="];
    FORBIDDEN.iter().copied().filter(|pattern| html.contains(pattern)).collect()
}

/// The page without the digests of what is fetched ahead: browsers check those of scripts and
/// styles only, and complain of any other.
pub(crate) fn without_idle_integrity(html: &str) -> String {
    let mut page = html.to_owned();
    for tag in tags(html, "link").filter(|tag| tag.contains("as=\"fetch\"")) {
        if let Some((before, rest)) = tag.split_once(" integrity=\"")
            && let Some((_, after)) = rest.split_once('"')
        {
            page = page.replace(tag, &[before, after].concat());
        }
    }
    page
}

/// The texts of the scripts that are in the page itself.
fn inline_scripts(html: &str) -> impl Iterator<Item = &str> {
    html.split("<script").skip(1).filter_map(|rest| {
        let (attributes, rest) = rest.split_once('>')?;
        let (text, _) = rest.split_once("</script>")?;
        (!attributes.contains("src=")).then_some(text)
    })
}

/// All tags of a kind, from `<` to `>`.
fn tags<'a>(html: &'a str, kind: &str) -> impl Iterator<Item = &'a str> {
    let opening = format!("<{kind}");
    html.match_indices('<').filter_map(move |(at, _)| {
        let rest = html.get(at..)?;
        let after = rest.strip_prefix(opening.as_str())?;
        after.starts_with(char::is_whitespace).then_some(())?;
        rest.get(..=rest.find('>')?)
    })
}

fn escape(value: &str) -> String {
    value.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<head>\n<meta charset=\"utf-8\">\n<meta name=\"build-id\" content=\"\">\n\
        <script type=\"module\">init()</script><script src=\"a.js\"></script></head>";

    #[test]
    fn only_what_is_fetched_ahead_loses_its_digest() {
        let script = r#"<link rel="modulepreload" href="a.js" integrity="sha384-a">"#;
        let fetched = r#"<link rel="preload" href="a.wasm" integrity="sha384-b" as="fetch">"#;
        let page = without_idle_integrity(&[script, fetched].concat());
        assert_eq!(page, [script, r#"<link rel="preload" href="a.wasm" as="fetch">"#].concat());
    }

    #[test]
    fn an_empty_meta_tag_is_filled() {
        let filled = fill_meta(PAGE, "name", "build-id", "1\"2").expect("the tag is there");
        assert!(filled.contains("<meta name=\"build-id\" content=\"1&quot;2\">"), "{filled}");
        assert!(filled.contains("<meta charset=\"utf-8\">"));
    }

    #[test]
    fn a_missing_double_or_filled_tag_is_an_error() {
        assert!(fill_meta(PAGE, "name", "worker", "x").is_err());
        assert!(fill_meta(&PAGE.repeat(2), "name", "build-id", "x").is_err());
        let filled = fill_meta(PAGE, "name", "build-id", "x").expect("the tag is there");
        assert!(fill_meta(&filled, "name", "build-id", "y").is_err());
    }

    #[test]
    fn the_policy_vouches_for_inline_scripts_only() {
        let policy = content_security_policy(PAGE);
        let source = csp_source(b"init()");
        assert!(policy.contains(&format!("'wasm-unsafe-eval' '{source}'; style-src")), "{policy}");
        assert_eq!(policy.matches("sha256-").count(), 1);
    }

    #[test]
    fn what_the_policy_forbids_is_found() {
        assert!(forbidden_by_policy(PAGE).is_empty());
        assert_eq!(forbidden_by_policy("<p style=\"color:red\">"), [" style="]);
    }
}
