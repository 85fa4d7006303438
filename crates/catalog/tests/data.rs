//! The data that are compiled in, and what is said about broken ones.

use catalog::{Catalog, CatalogError, FigureKind, builtin};

fn catalogue() -> &'static Catalog {
    builtin().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_figure_is_positive_and_has_source_and_date() {
    let models = catalogue().models().iter().flat_map(|m| m.figures().map(|f| (&m.slug, f)));
    let gpus = catalogue().gpus().iter().flat_map(|g| g.figures().map(|f| (&g.slug, f)));
    let mut count = 0;
    for (slug, (field, figure)) in models.chain(gpus) {
        assert!(figure.value.is_finite() && figure.value > 0.0, "{slug} {field}");
        assert!(!figure.source.trim().is_empty(), "{slug} {field}");
        let year = figure.date.get(..4).and_then(|year| year.parse::<u32>().ok());
        assert!(year.is_some_and(|year| (2020..2100).contains(&year)), "{slug} {field}");
        let explained = figure.kind == FigureKind::Published || !figure.note.is_empty();
        assert!(explained, "{slug} {field}: a derived figure says how");
        count += 1;
    }
    assert!(count > 100, "{count} figures");
}

#[test]
fn names_are_stable() {
    // Links hold these slugs. Entries may be added; none may be renamed or removed.
    for slug in [
        "qwen2.5-7b",
        "qwen2.5-7b-int4",
        "qwen2.5-14b",
        "qwen2.5-14b-int4",
        "qwen2.5-32b",
        "qwen2.5-32b-int4",
        "llama-3.1-8b",
        "llama-3.1-8b-int4",
        "llama-3.1-70b",
        "llama-3.1-70b-int4",
        "mistral-7b-v0.3",
        "phi-4",
    ] {
        assert_eq!(catalogue().model(slug).expect("a model").slug, slug);
    }
    for slug in [
        "h100-sxm",
        "h100-pcie",
        "h200-sxm",
        "b200-sxm",
        "a100-sxm-80gb",
        "l40s",
        "l4",
        "rtx-4090",
        "mi300x",
    ] {
        assert_eq!(catalogue().gpu(slug).expect("a GPU").slug, slug);
    }
}

#[test]
fn the_reference_constants_are_exact() {
    let model = catalogue().model("qwen2.5-7b").expect("a model");
    assert_eq!(model.params.value, 7.6e9);
    assert_eq!(model.weight_bytes.value, 15.2e9);
    assert_eq!(model.kv_bytes_per_token(), 57_344.0);
    let int4 = catalogue().model("qwen2.5-7b-int4").expect("a model");
    assert_eq!(int4.params.value, 7.6e9);
    assert_eq!(int4.weight_bytes.value, 4.5e9);
    let gpu = catalogue().gpu("h100-sxm").expect("a GPU");
    assert_eq!(gpu.peak_flops.value, 989e12);
    assert_eq!(gpu.bandwidth_bytes_per_s.value, 3.35e12);
    assert_eq!(gpu.memory_bytes.value, 80e9);
}

#[test]
fn kv_bytes_per_token_are_those_that_engines_report() {
    for (slug, bytes) in [
        ("qwen2.5-14b", 196_608.0),
        ("qwen2.5-32b", 262_144.0),
        ("llama-3.1-8b", 131_072.0),
        ("llama-3.1-70b", 327_680.0),
        ("mistral-7b-v0.3", 131_072.0),
        ("phi-4", 204_800.0),
    ] {
        assert_eq!(catalogue().model(slug).expect("a model").kv_bytes_per_token(), bytes, "{slug}");
    }
}

#[test]
fn weights_suit_their_precision() {
    for model in catalogue().models() {
        let bytes_per_parameter = model.weight_bytes.value / model.params.value;
        let range = if model.precision == "INT4" { 0.5..0.8 } else { 1.99..2.01 };
        assert!(range.contains(&bytes_per_parameter), "{} {bytes_per_parameter}", model.slug);
    }
}

#[test]
fn names_are_found_by_alias_and_whatever_the_case() {
    for (name, slug) in
        [("h100", "h100-sxm"), ("H100 SXM", "h100-sxm"), ("A100_80GB", "a100-sxm-80gb")]
    {
        assert_eq!(catalogue().gpu(name).expect("a GPU").slug, slug);
    }
    assert_eq!(catalogue().model(" Qwen2.5-7B-Instruct ").expect("a model").slug, "qwen2.5-7b");
}

#[test]
fn mistyped_names_get_the_nearest_slugs() {
    for (typed, nearest) in [
        ("qwen2.5-7", "qwen2.5-7b"),
        ("qwen25-7b", "qwen2.5-7b"),
        ("lama-3.1-8b", "llama-3.1-8b"),
        ("llama-3.1", "llama-3.1-8b"),
        ("phi4", "phi-4"),
    ] {
        let error = catalogue().model(typed).expect_err("no such model");
        assert_eq!(error.suggestions.first().map(String::as_str), Some(nearest), "{typed}");
        assert!(error.suggestions.len() <= 3);
    }
    let error = catalogue().gpu("h10").expect_err("no such GPU");
    assert_eq!(error.suggestions[0], "h100-sxm");
    assert!(error.to_string().starts_with("no GPU called “h10”; did you mean “h100-sxm”"));
    for nonsense in ["", "zzzzzzzzzzzz", "💥"] {
        assert!(catalogue().model(nonsense).expect_err("no such model").suggestions.is_empty());
    }
}

#[test]
fn pickers_find_by_name_maker_and_precision() {
    let slugs = |query: &str| -> Vec<String> {
        catalogue().search_models(query).iter().map(|model| model.slug.clone()).collect()
    };
    assert_eq!(slugs("").len(), catalogue().models().len());
    assert_eq!(slugs("Meta int4"), ["llama-3.1-8b-int4", "llama-3.1-70b-int4"]);
    assert_eq!(slugs("phi"), ["phi-4"]);
    assert!(slugs("no such thing").is_empty());
    assert_eq!(catalogue().search_gpus("amd")[0].slug, "mi300x");
}

#[test]
fn broken_data_are_errors_that_name_the_entry() {
    let gpu = |change: fn(&str) -> String| {
        let good = r#"{"sources": {"s": {"title": "A datasheet", "date": "2024"}}, "gpus": [
            {"slug": "x1", "name": "X1", "short_name": "X1", "maker": "M", "aliases": [],
             "peak_flops": {"value": 1e14, "source": "s"},
             "bandwidth_bytes_per_s": {"value": 1e12, "source": "s"},
             "memory_bytes": {"value": 8e10, "source": "s"}}]}"#;
        Catalog::parse(r#"{"sources": {}, "models": []}"#, &change(good))
    };
    assert!(gpu(str::to_owned).is_ok());
    for (change, expected) in [
        ((|t| t.replace("1e14", "-1e14")) as fn(&str) -> String, "positive"),
        (|t| t.replace("1e14", "0"), "positive"),
        (|t| t.replace(r#""source": "s"}"#, r#""source": "t"}"#), "list it in sources"),
        (|t| t.replace("A datasheet", " "), "title and a date"),
        (|t| t.replace(r#""aliases": []"#, r#""aliases": ["x1"]"#), "taken"),
        (|t| t.replace("\"x1\"", "\"X 1\""), "lower-case"),
        (
            |t| t.replace(r#""value": 1e14"#, r#""kind": "guess", "value": 1e14"#),
            "published or derived",
        ),
        (|t| t.replace("peak_flops", "peak"), "peak_flops"),
        (|t| t[1..].to_owned(), "line 1"),
    ] {
        let error: CatalogError = gpu(change).expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
    }
}
