//! Traces in JSON: one object a line, or one array of objects.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{
    alias::{self, Columns},
    clock::Unit,
    error::{ImportError, listed, quoted},
};

use super::{
    ImportedTrace, TraceFormat,
    collector::{Collector, RawRow, Reading},
};

type Object = Map<String, Value>;

/// Where a request's fields are in its object: paths of keys.
struct Schema {
    format: TraceFormat,
    unit: Option<Unit>,
    arrival: Vec<String>,
    input: Vec<String>,
    output: Vec<String>,
    prefix: Option<Vec<String>>,
    session: Option<Vec<String>>,
    unused: Vec<String>,
}

/// How many objects are looked at for the keys.
const OBJECTS_TRIED: usize = 100;

/// An object, or why there is none, with its line or number.
type Item<'a> = (u64, Result<Cow<'a, Object>, String>);

pub(super) fn read(file: &str, text: &str) -> Result<ImportedTrace, ImportError> {
    if !is_document(text) {
        return gather(file, "line", || text.lines().enumerate().filter_map(line));
    }
    match whole(file, text)? {
        Value::Array(items) => gather(file, "item", || items.iter().enumerate().map(item)),
        Value::Object(object) => Err(missing(file, 1, &object)),
        // A document that starts with a bracket or a brace is one of the two.
        _ => Err(missing(file, 1, &Object::new())),
    }
}

/// Whether the text is one document and not one object a line.
fn is_document(text: &str) -> bool {
    let is_object = |line: &str| serde_json::from_str::<Object>(line).is_ok();
    text.trim_start().starts_with('[') || !text.lines().take(OBJECTS_TRIED).any(is_object)
}

fn whole(file: &str, text: &str) -> Result<Value, ImportError> {
    serde_json::from_str(text).map_err(|error| ImportError::BrokenJson {
        file: file.to_owned(),
        line: error.line(),
        column: error.column(),
        problem: cause(&error),
        remedy: "give one object a line, or one array of objects",
    })
}

/// The parser's message without its position.
fn cause(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

fn item((index, value): (usize, &Value)) -> Item<'_> {
    let object = value.as_object().map(Cow::Borrowed).ok_or_else(|| {
        format!("{} is no object; give one object a request", quoted(&value.to_string()))
    });
    (index as u64 + 1, object)
}

fn line((index, line): (usize, &str)) -> Option<Item<'_>> {
    let line = line.trim();
    let object = serde_json::from_str(line).map(Cow::Owned).map_err(|error| {
        format!(
            "not a JSON object (column {}: {}); give one object a line",
            error.column(),
            cause(&error)
        )
    });
    (!line.is_empty()).then_some((index as u64 + 1, object))
}

fn gather<'a, I: Iterator<Item = Item<'a>>>(
    file: &str,
    place: &'static str,
    items: impl Fn() -> I,
) -> Result<ImportedTrace, ImportError> {
    let tried = || items().take(OBJECTS_TRIED).filter_map(|(at, item)| Some((at, item.ok()?)));
    let Some(schema) = tried().find_map(|(_, object)| Schema::of(&object)) else {
        let (at, nearest) = tried().next().unwrap_or_default();
        return Err(missing(file, at.max(1), &nearest));
    };
    let mut collector = Collector::new(schema.reading(place));
    for (at, item) in items() {
        match item {
            Ok(object) => schema.take(at, &object, &mut collector),
            Err(reason) => collector.skip(at, reason),
        }
    }
    let mut notes = Vec::new();
    if schema.format == TraceFormat::Mooncake {
        notes.push("Values of timestamp are milliseconds, as in all Mooncake traces.".to_owned());
    }
    if !schema.unused.is_empty() {
        notes.push(format!("Keys that are not used: {}.", listed(&schema.unused)));
    }
    collector.finish(file, notes)
}

fn missing(file: &str, line: u64, object: &Object) -> ImportError {
    let names: Vec<&String> = object.keys().collect();
    ImportError::MissingColumns {
        file: file.to_owned(),
        line,
        kind: "key",
        missing: Columns::find(&names).missing().join(", "),
        found: listed(&names),
        remedy: "Give one object a request, for example \
                 {\"arrival_s\": 0.5, \"input_tokens\": 512, \"output_tokens\": 64}"
            .to_owned(),
    }
}

impl Schema {
    fn of(object: &Object) -> Option<Self> {
        if object.contains_key("metadata") && object.contains_key("metrics") {
            return Self::aiperf(object);
        }
        let names: Vec<&String> = object.keys().collect();
        let columns = Columns::find(&names);
        let path = |index: usize| vec![names[index].clone()];
        let (arrival, input, output) = (columns.arrival?, columns.input?, columns.output?);
        let plain = [arrival, input, output].map(|index| alias::plain(names[index]));
        let is_mooncake = plain == ["timestamp", "inputlength", "outputlength"];
        Some(Self {
            format: if is_mooncake { TraceFormat::Mooncake } else { TraceFormat::JsonRecords },
            unit: if is_mooncake { Some(Unit::Milliseconds) } else { columns.unit },
            arrival: path(arrival),
            input: path(input),
            output: path(output),
            prefix: columns.prefix.map(path),
            session: columns.session.map(path),
            unused: columns.unused(&names).into_iter().map(str::to_owned).collect(),
        })
    }

    fn aiperf(object: &Object) -> Option<Self> {
        let path = |keys: &[&str]| keys.iter().map(|&key| key.to_owned()).collect::<Vec<_>>();
        let schema = Self {
            format: TraceFormat::AiperfRecords,
            unit: Some(Unit::Nanoseconds),
            arrival: path(&["metadata", "request_start_ns"]),
            input: path(&["metrics", "input_sequence_length", "value"]),
            output: path(&["metrics", "output_sequence_length", "value"]),
            prefix: None,
            session: Some(path(&["metadata", "conversation_id"])),
            unused: Vec::new(),
        };
        at(object, &schema.arrival).is_some().then_some(schema)
    }

    fn reading(&self, place: &'static str) -> Reading {
        Reading {
            format: self.format,
            arrival: self.arrival.join("."),
            input: self.input.join("."),
            output: self.output.join("."),
            unit: self.unit,
            decimal_comma: false,
            place,
        }
    }

    fn take(&self, place: u64, object: &Object, collector: &mut Collector) {
        if self.format == TraceFormat::AiperfRecords
            && let Some(reason) = unmeasured(object)
        {
            collector.skip(place, reason);
            return;
        }
        let text = |path: &Vec<String>| at(object, path).and_then(written);
        let (arrival, input, output) = (text(&self.arrival), text(&self.input), text(&self.output));
        let session = self.session.as_ref().and_then(text);
        let prefix = self.prefix.as_ref().and_then(|path| at(object, path));
        let raw = RawRow {
            arrival: arrival.as_deref(),
            input: input.as_deref(),
            output: output.as_deref(),
            prefix_hashes: prefix.map_or_else(|| Ok(Vec::new()), prefix_hashes),
            session: session.as_deref(),
        };
        collector.take(place, raw);
    }
}

/// Why an AIPerf record is not a request of the measured load, if it is not.
fn unmeasured(object: &Object) -> Option<String> {
    let metadata = object.get("metadata")?;
    let phase = metadata.get("benchmark_phase").and_then(Value::as_str);
    if let Some(phase) = phase.filter(|phase| *phase != "profiling") {
        return Some(format!(
            "benchmark_phase is {}; only requests of “profiling” are used",
            quoted(phase)
        ));
    }
    let cancelled = metadata.get("was_cancelled").and_then(Value::as_bool) == Some(true);
    let failed = object.get("error").is_some_and(|error| !error.is_null());
    (cancelled || failed)
        .then(|| "the request failed or was cancelled, so that its output is not known".to_owned())
}

fn at<'a>(object: &'a Object, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(object.get(first)?, |value, key| value.get(key))
}

/// A number or text as written; `None` for null.
fn written(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Cow::Borrowed(text.trim())),
        other => Some(Cow::Owned(other.to_string())),
    }
}

fn prefix_hashes(value: &Value) -> Result<Vec<u64>, String> {
    let bad = |value: &Value| {
        format!(
            "block ids hold {}, which is no whole number of 64 bits; number the blocks",
            quoted(&value.to_string())
        )
    };
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(ids) => ids.iter().map(|id| id.as_u64().ok_or_else(|| bad(id))).collect(),
        other => Err(bad(other)),
    }
}
