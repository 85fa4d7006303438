//! Recordings as files of the browser, which page and worker pass to each other as they are.

use js_sys::{Array, Uint8Array};
use protocol::Recording;
use sim_core::Trace;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, File, FileReaderSync};

use crate::recording_task::{self, MOST_BYTES, Taken};

/// Reads the recording that a message holds, if it holds a file. The page waits for the late part
/// before it sends one.
pub(crate) fn take_in(message: &JsValue) -> Option<Taken> {
    let file: &File = message.dyn_ref()?;
    Some(read(file))
}

/// The only way to the readers of files. A door is never inlined, and as thin as can be: it stays
/// with the first part itself.
#[inline(never)]
fn read(file: &File) -> Taken {
    read_late(file)
}

#[inline(never)]
fn read_late(file: &File) -> Taken {
    Taken::of(understood(file))
}

fn understood(file: &File) -> Result<(Trace, Recording), String> {
    let name = file.name();
    if file.size() > MOST_BYTES {
        return Err(format!("“{name}” is larger than 256 MiB. Keep a part of its lines."));
    }
    let bytes = FileReaderSync::new().and_then(|reader| reader.read_as_array_buffer(file));
    let Ok(bytes) = bytes else {
        return Err(format!(
            "“{name}” could not be read. Is it still where it was? Choose it again."
        ));
    };
    recording_task::read(&name, &Uint8Array::new(&bytes).to_vec())
}

/// A recording as a file, under a line with a link; a door.
#[inline(never)]
pub(crate) fn of(trace: &Trace, link: &str) -> Option<Blob> {
    of_late(trace, link)
}

#[inline(never)]
fn of_late(trace: &Trace, link: &str) -> Option<Blob> {
    let parts = Array::of1(&JsValue::from_str(&recording_task::write(trace, link)));
    Blob::new_with_str_sequence(&parts).ok()
}
