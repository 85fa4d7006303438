//! Traces in JSON: one object a line, or one array of objects.

use std::ops::Deref;

use crate::{
    alias::{self, Columns},
    clock::Unit,
    error::{ImportError, listed, quoted},
    json::{self, Object, Value},
};

use super::{
    ImportedTrace, TraceFormat,
    collector::{Collector, RawRow, Reading},
};

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
type Item<'a> = (u64, Result<Held<'a>, String>);

/// An object of a line of its own, or one of many that are all there.
enum Held<'a> {
    Own(Object<'a>),
    Lent(&'a Object<'a>),
}

impl<'a> Deref for Held<'a> {
    type Target = Object<'a>;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Own(object) => object,
            Self::Lent(object) => object,
        }
    }
}

pub(super) fn read(file: &str, text: &str) -> Result<ImportedTrace, ImportError> {
    if !is_document(text) {
        return gather(file, "line", &|| Box::new(text.lines().enumerate().filter_map(line)));
    }
    match whole(file, text)? {
        Value::Array(items, _) => {
            gather(file, "item", &|| Box::new(items.iter().enumerate().map(item)))
        }
        Value::Object(object, _) => Err(missing(file, 1, &object)),
        // A document that starts with a bracket or a brace is one of the two.
        _ => Err(missing(file, 1, &Object::default())),
    }
}

/// Whether the text is one document and not one object a line.
fn is_document(text: &str) -> bool {
    let is_object = |line: &str| json::object(line).is_ok();
    text.trim_start().starts_with('[') || !text.lines().take(OBJECTS_TRIED).any(is_object)
}

fn whole<'a>(file: &str, text: &'a str) -> Result<Value<'a>, ImportError> {
    json::value(text).map_err(|broken| {
        let (line, column) = broken.place(text);
        ImportError::BrokenJson {
            file: file.to_owned(),
            line,
            column,
            problem: broken.problem,
            remedy: "give one object a line, or one array of objects",
        }
    })
}

fn item<'a>((index, value): (usize, &'a Value<'a>)) -> Item<'a> {
    let object = value.as_object().map(Held::Lent).ok_or_else(|| {
        format!("{} is no object; give one object a request", quoted(value.shown()))
    });
    (index as u64 + 1, object)
}

fn line((index, line): (usize, &str)) -> Option<Item<'_>> {
    let line = line.trim();
    let object = json::object(line).map(Held::Own).map_err(|broken| {
        format!(
            "not a JSON object (column {}: {}); give one object a line",
            broken.place(line).1,
            broken.problem
        )
    });
    (!line.is_empty()).then_some((index as u64 + 1, object))
}

fn gather<'a>(
    file: &str,
    place: &'static str,
    items: &dyn Fn() -> Box<dyn Iterator<Item = Item<'a>> + 'a>,
) -> Result<ImportedTrace, ImportError> {
    let mut nearest = None;
    let mut schema = None;
    for (at, item) in items().take(OBJECTS_TRIED) {
        let Ok(object) = item else { continue };
        schema = Schema::of(&object);
        if schema.is_some() {
            break;
        }
        nearest.get_or_insert((at, object));
    }
    let Some(schema) = schema else {
        return Err(match nearest {
            Some((at, object)) => missing(file, at, &object),
            None => missing(file, 1, &Object::default()),
        });
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

fn missing(file: &str, line: u64, object: &Object<'_>) -> ImportError {
    let names = object.keys();
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
    fn of(object: &Object<'_>) -> Option<Self> {
        if object.get("metadata").is_some() && object.get("metrics").is_some() {
            return Self::aiperf(object);
        }
        let names = object.keys();
        let columns = Columns::find(&names);
        let path = |index: usize| vec![names[index].to_owned()];
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

    fn aiperf(object: &Object<'_>) -> Option<Self> {
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

    fn take(&self, place: u64, object: &Object<'_>, collector: &mut Collector) {
        if self.format == TraceFormat::AiperfRecords
            && let Some(reason) = unmeasured(object)
        {
            collector.skip(place, reason);
            return;
        }
        let text = |path: &Vec<String>| at(object, path).and_then(written);
        let session = self.session.as_ref().and_then(text);
        let prefix = self.prefix.as_ref().and_then(|path| at(object, path));
        let raw = RawRow {
            arrival: text(&self.arrival),
            input: text(&self.input),
            output: text(&self.output),
            prefix_hashes: prefix.map_or_else(|| Ok(Vec::new()), prefix_hashes),
            session,
        };
        collector.take(place, raw);
    }
}

/// Why an AIPerf record is not a request of the measured load, if it is not.
fn unmeasured(object: &Object<'_>) -> Option<String> {
    let metadata = object.get("metadata")?;
    let phase = metadata.get("benchmark_phase").and_then(Value::as_text);
    if let Some(phase) = phase.filter(|phase| *phase != "profiling") {
        return Some(format!(
            "benchmark_phase is {}; only requests of “profiling” are used",
            quoted(phase)
        ));
    }
    let cancelled = matches!(metadata.get("was_cancelled"), Some(Value::Bool(true)));
    let failed = object.get("error").is_some_and(|error| !matches!(error, Value::Null));
    (cancelled || failed)
        .then(|| "the request failed or was cancelled, so that its output is not known".to_owned())
}

fn at<'a>(object: &'a Object<'_>, path: &[String]) -> Option<&'a Value<'a>> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(object.get(first)?, |value, key| value.get(key))
}

/// A number or text as written; `None` for null.
fn written<'a>(value: &'a Value<'_>) -> Option<&'a str> {
    match value {
        Value::Null => None,
        other => Some(other.shown().trim()),
    }
}

fn prefix_hashes(value: &Value<'_>) -> Result<Vec<u64>, String> {
    let bad = |value: &Value<'_>| {
        format!(
            "block ids hold {}, which is no whole number of 64 bits; number the blocks",
            quoted(value.shown())
        )
    };
    let Value::Array(ids, _) = value else {
        return if matches!(value, Value::Null) { Ok(Vec::new()) } else { Err(bad(value)) };
    };
    let mut hashes = Vec::with_capacity(ids.len());
    for id in ids {
        let Value::Number(number) = id else { return Err(bad(id)) };
        hashes.push(number.parse().map_err(|_| bad(id))?);
    }
    Ok(hashes)
}
