//! What Export says.

pub(crate) const EXPORT: &str = "Export";
pub(crate) const COPY: &str = "Copy";
pub(crate) const DOWNLOAD: &str = "Download";
pub(crate) const COPIED: &str = "Copied.";
pub(crate) const COPIED_COMMAND: &str = "Copied as a command.";
pub(crate) const EXPORT_LIST: &str = "What to export";
pub(crate) const EXPORT_WAITS: &str =
    "This needs the whole answer, which is still being simulated.";
pub(crate) const EXPORT_NO_FLEET: &str =
    "There is no number of GPUs to run. The answer says what to change first.";
pub(crate) const EXPORT_RECORDED: &str = "Reports are of drawn requests, and this scenario replays a recording. Remove the recording to \
     export them.";
pub(crate) const EXPORT_HTML: &str =
    "One page with the chart, which opens without a network and prints on A4.";
/// Groups of the list.
pub(crate) const EXPORT_GROUPS: [&str; 5] = ["Scenario", "Report", "Data", "Engine", "Cluster"];

/// “Writing the report, 62 %”.
pub(crate) fn writing_report(part: f64) -> String {
    format!("Simulating what the report tells, {}", quantity::whole_percent(part))
}

/// “42 lines”.
pub(crate) fn lines(lines: usize) -> String {
    quantity::counted(lines as u64, "line", "lines")
}

/// “report.md saved.”.
pub(crate) fn file_saved(name: &str) -> String {
    format!("Saved as {name}.")
}
