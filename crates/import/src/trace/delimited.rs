//! Traces in tables: plain ones and Azure's.

use crate::{
    alias::{self, Columns},
    error::{ImportError, listed, quoted},
    servegen,
    table::{self, Header, Row},
};

use super::{
    ImportedTrace, TraceFormat,
    collector::{Collector, RawRow, Reading},
};

pub(super) fn read(file: &str, text: &str) -> Result<ImportedTrace, ImportError> {
    let found = table::headers(text).find_map(|header| {
        let columns = Columns::find(&header.names);
        let places = (columns.arrival?, columns.input?, columns.output?);
        Some((header, columns, places))
    });
    let Some((header, columns, (arrival, input, output))) = found else {
        return Err(no_header(file, text));
    };
    let name = |index: usize| header.names[index].clone();
    let mut collector = Collector::new(Reading {
        format: format(&header, [arrival, input, output]),
        arrival: name(arrival),
        input: name(input),
        output: name(output),
        unit: columns.unit,
        decimal_comma: header.decimal_comma(),
        place: "line",
    });
    for row in table::rows_under(text, &header) {
        if let Some(reason) = row.misfit(header.names.len()) {
            collector.skip(row.line, reason);
            continue;
        }
        let raw = RawRow {
            arrival: row.field(arrival),
            input: row.field(input),
            output: row.field(output),
            prefix_hashes: prefix_hashes(&row, columns.prefix),
            session: columns.session.and_then(|index| row.field(index)),
        };
        collector.take(row.line, raw);
    }
    let mut notes = Vec::new();
    let unused = columns.unused(&header.names);
    if !unused.is_empty() {
        notes.push(format!("Columns that are not used: {}.", listed(&unused)));
    }
    collector.finish(file, notes)
}

fn format(header: &Header, places: [usize; 3]) -> TraceFormat {
    let names = places.map(|index| alias::plain(&header.names[index]));
    if names == ["timestamp", "contexttokens", "generatedtokens"] {
        TraceFormat::Azure
    } else {
        TraceFormat::Table
    }
}

/// Ids as in `[1, 2, 3]`, `1 2 3` or `1|2|3`.
fn prefix_hashes(row: &Row, column: Option<usize>) -> Result<Vec<u64>, String> {
    let field = column.and_then(|index| row.field(index)).unwrap_or_default();
    field
        .trim_matches(['[', ']'])
        .split([' ', ',', ';', '|'])
        .filter(|id| !id.is_empty())
        .map(|id| {
            id.parse().map_err(|_| {
                format!("block id {} is no whole number of 64 bits; number the blocks", quoted(id))
            })
        })
        .collect()
}

/// What to say where no row names all three columns.
fn no_header(file: &str, text: &str) -> ImportError {
    if let Some(what) = servegen::kind(text) {
        return ImportError::AnotherKind {
            file: file.to_owned(),
            what: what.name(),
            remedy: "that is no list of requests; say what it tells as settings instead: rate, profile=points(…), in=quantiles(…), out=quantiles(…)",
        };
    }
    // The nearest thing to a header: the most needed names, then the most fields, then the first.
    let nearest = table::headers(text).map(|header| (Columns::find(&header.names), header)).reduce(
        |best, next| {
            let score = |(columns, header): &(Columns, Header)| {
                (columns.needed_found(), header.names.len())
            };
            if score(&next) > score(&best) { next } else { best }
        },
    );
    let (columns, names, line) = match nearest {
        Some((columns, header)) => (columns, header.names, header.line),
        None => (Columns::default(), Vec::new(), 1),
    };
    ImportError::MissingColumns {
        file: file.to_owned(),
        line,
        kind: "column",
        missing: columns.missing().join(", "),
        found: listed(&names),
        remedy: "Name the columns in the first line, for example \
                 arrival_s,input_tokens,output_tokens"
            .to_owned(),
    }
}
