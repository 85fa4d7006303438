//! Measured files among the words of a command line, read as the `measured` crate reads them.

use std::{fs::File, io::Read as _, path::Path};

use measured::{MeasuredError, MeasuredFiles};

use crate::{
    args::{FitOn, MeasuredArgs, ScenarioArgs},
    failure::Failure,
    input, output,
};

/// No result of a load test that is read is larger; larger ones are refused with a remedy.
const MOST_BYTES: u64 = 512 << 20;

/// Read the files among the words, and apply the others as settings.
pub(crate) fn read(args: &MeasuredArgs) -> Result<MeasuredFiles, Failure> {
    let is_file = |word: &&String| {
        let is_link = word.starts_with("http") || word.starts_with('#') || word.contains("v=1&");
        Path::new(word.as_str()).exists() || !(word.contains('=') || is_link)
    };
    let (files, settings): (Vec<&String>, Vec<&String>) = args.words.iter().partition(is_file);
    let typed = settings.iter().filter_map(|word| word.split_once('=')).map(|it| key(it.0));
    let typed: Vec<String> = typed.collect();
    let scenario = input::scenario(&ScenarioArgs {
        words: settings.into_iter().cloned().collect(),
        preset: None,
        json_file: args.json_file.clone(),
    })?;
    if files.is_empty() {
        return Err(Failure::input(
            "Give a file that was measured: the result of a load test, for example of vllm bench serve \
             --save-result.",
        ));
    }
    let mut all = MeasuredFiles::new(scenario, typed);
    for file in files {
        let path = Path::new(file);
        input::check_file(path)?;
        let name = path
            .file_name()
            .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        all.add(&name, &bytes(path)?).map_err(|error| refused(&error))?;
    }
    all.complete().map_err(|error| refused(&error))?;
    all.notes.iter().for_each(|note| output::note(note));
    Ok(all)
}

/// Why files cannot be used, as a sentence.
pub(crate) fn refused(error: &MeasuredError) -> Failure {
    Failure::input(output::sentence(&error.to_string()))
}

impl From<FitOn> for measured::FitOn {
    fn from(on: FitOn) -> Self {
        match on {
            FitOn::All => Self::All,
            FitOn::Ends => Self::Ends,
            FitOn::Middle => Self::Middle,
        }
    }
}

fn key(typed: &str) -> String {
    let key = typed.trim();
    if key == "tp" { "deploy.tp".to_owned() } else { key.to_owned() }
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error| Failure::reading(path, error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::input(format!(
            "{} is larger than 512 MiB. Save the result without single requests, or the part of the log that \
             starts the server.",
            path.display()
        )));
    }
    Ok(bytes)
}
