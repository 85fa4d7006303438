//! Child processes: run one, show that it lives, and keep its last words for the error message.

use anyhow::{Context, Result, bail};
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How many closing lines of a failed command an error message repeats.
const LAST_WORDS: usize = 25;
const POLL: Duration = Duration::from_millis(50);
const TICK_ON_TERMINAL: Duration = Duration::from_millis(250);
const TICK_IN_LOG: Duration = Duration::from_secs(15);

/// Runs a command with its output straight to ours: for tools whose output is the result.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = display(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("`{shown}` could not be started"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Runs a command and returns what it wrote to stdout: for questions such as `--version`.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let shown = display(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("`{shown}` could not be started"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let from = stderr.lines().count().saturating_sub(LAST_WORDS);
        let tail: Vec<&str> = stderr.lines().skip(from).collect();
        bail!("`{shown}` failed ({})\n{}", output.status, tail.join("\n"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a long command: its output becomes a progress line, and its last lines the error.
///
/// Without a limit a stalled download would hang an unattended run for good.
pub(crate) fn run_with_progress(label: &str, command: &mut Command, limit: Duration) -> Result<()> {
    let shown = display(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{shown}` could not be started"))?;
    let tail = Tail::default();
    let readers = [
        child.stdout.take().map(|pipe| tail.follow(pipe)),
        child.stderr.take().map(|pipe| tail.follow(pipe)),
    ];
    let status = wait(&mut child, &mut Ticker::new(label), &tail, limit)?;
    // Of a stopped command, children that live on may hold the pipes open for long.
    if status.is_some() {
        for reader in readers.into_iter().flatten() {
            // A reader that panicked has nothing more to tell; the exit status says the rest.
            let _ = reader.join();
        }
    }
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("`{shown}` failed ({status}). Its last lines:\n{}", tail.text()),
        None => bail!(
            "`{shown}` was stopped after {} s without an end. Its last lines:\n{}",
            limit.as_secs(),
            tail.text()
        ),
    }
}

/// Waits for the child, ticking. `None` says that the limit passed and the child was stopped.
fn wait(
    child: &mut Child,
    ticker: &mut Ticker<'_>,
    tail: &Tail,
    limit: Duration,
) -> Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait().context("a child process could not be awaited")? {
            ticker.clear();
            return Ok(Some(status));
        }
        if ticker.started.elapsed() > limit {
            child.kill().context("a stalled child process could not be stopped")?;
            child.wait().context("a stalled child process could not be awaited")?;
            ticker.clear();
            return Ok(None);
        }
        ticker.tick(tail);
        thread::sleep(POLL);
    }
}

/// The last lines that a child wrote, on both of its pipes, in the order of arrival.
#[derive(Clone, Default)]
struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    fn follow(&self, pipe: impl Read + Send + 'static) -> JoinHandle<()> {
        let tail = self.clone();
        thread::spawn(move || {
            let mut reader = BufReader::new(pipe);
            let mut line = Vec::new();
            while matches!(reader.read_until(b'\n', &mut line), Ok(n) if n > 0) {
                tail.push(&String::from_utf8_lossy(&line));
                line.clear();
            }
        })
    }

    /// Progress bars redraw themselves after a carriage return: only the last drawing counts.
    fn push(&self, line: &str) {
        let drawn = line.trim_end().rsplit('\r').next().unwrap_or_default();
        if drawn.is_empty() {
            return;
        }
        let mut lines = self.lines();
        if lines.len() == LAST_WORDS {
            lines.pop_front();
        }
        lines.push_back(drawn.to_owned());
    }

    fn lines(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last(&self) -> String {
        self.lines().back().map(|line| line.trim().to_owned()).unwrap_or_default()
    }

    fn text(&self) -> String {
        self.lines().iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
    }
}

/// The sign of life: a line that redraws itself on a terminal, a line now and then in a log.
struct Ticker<'a> {
    label: &'a str,
    started: Instant,
    next: Duration,
    on_terminal: bool,
}

impl<'a> Ticker<'a> {
    fn new(label: &'a str) -> Self {
        let on_terminal = std::io::stdout().is_terminal();
        let next = if on_terminal { Duration::ZERO } else { TICK_IN_LOG };
        Self { label, started: Instant::now(), next, on_terminal }
    }

    fn tick(&mut self, tail: &Tail) {
        let elapsed = self.started.elapsed();
        if elapsed < self.next {
            return;
        }
        let line = format!("    {} ({} s) {}", self.label, elapsed.as_secs(), tail.last());
        let line: String = line.chars().take(96).collect();
        if self.on_terminal {
            self.next = elapsed + TICK_ON_TERMINAL;
            print!("\r\x1b[K{line}");
        } else {
            self.next = elapsed + TICK_IN_LOG;
            println!("{line}");
        }
        // A progress line that could not be drawn is no reason to stop the work.
        let _ = std::io::stdout().flush();
    }

    fn clear(&self) {
        if self.on_terminal {
            print!("\r\x1b[K");
        }
    }
}

/// The command as a person would type it.
fn display(command: &Command) -> String {
    let mut words = vec![command.get_program()];
    words.extend(command.get_args());
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Finds a program as the shell would: in the folders of `PATH`, in their order.
pub(crate) fn find_on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| executable(&folder, program)).find(|p| p.is_file())
}

/// Where `program` would lie in `folder`, with the ending that this system gives programs.
pub(crate) fn executable(folder: &Path, program: &str) -> PathBuf {
    folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX))
}

/// `PATH` with some folders before all others.
pub(crate) fn path_with<'a>(
    first: impl IntoIterator<Item = &'a Path>,
) -> Result<std::ffi::OsString> {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let folders = first.into_iter().map(Path::to_path_buf).chain(std::env::split_paths(&old));
    std::env::join_paths(folders).context("PATH holds a folder whose name cannot be in it")
}

/// Cargo, the one that runs us when there is one: it knows its toolchain.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").as_deref().unwrap_or(OsStr::new("cargo")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redrawn_progress_bar_counts_as_its_last_drawing() {
        let tail = Tail::default();
        tail.push("10 %\r50 %\r90 %\n");
        tail.push("\r\n");
        assert_eq!(tail.last(), "90 %");
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let tail = Tail::default();
        for i in 0..100 {
            tail.push(&format!("line {i}\n"));
        }
        assert_eq!(tail.lines().len(), LAST_WORDS);
        assert_eq!(tail.last(), "line 99");
    }

    #[test]
    fn a_command_is_shown_as_typed() {
        let mut command = Command::new("cargo");
        command.args(["build", "--release"]);
        assert_eq!(display(&command), "cargo build --release");
    }

    #[cfg(unix)]
    #[test]
    fn a_failure_repeats_the_last_words() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo first; echo the mirror is down >&2; exit 3"]);
        let error = run_with_progress("test", &mut command, Duration::from_secs(10));
        let text = error.expect_err("the command fails").to_string();
        assert!(text.contains("the mirror is down"), "{text}");
    }

    #[cfg(unix)]
    #[test]
    fn a_stalled_command_is_stopped() {
        let mut command = Command::new("sleep");
        command.arg("30");
        let error = run_with_progress("test", &mut command, Duration::from_millis(100));
        let text = error.expect_err("the limit passes").to_string();
        assert!(text.contains("was stopped"), "{text}");
    }
}
