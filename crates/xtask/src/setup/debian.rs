//! Debian's packages: the mirror that apt knows may be the only source of files a machine reaches.

use crate::process::{capture, find_on_path, run, run_with_progress};
use crate::workspace::{create_dir, entries, write};
use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const DOWNLOAD_LIMIT: Duration = Duration::from_secs(15 * 60);
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Installs packages on this system, where apt and the rights to use it exist.
pub(super) fn install(packages: &[&str]) -> Result<()> {
    if find_on_path("apt-get").is_none() {
        bail!("this system has no apt-get");
    }
    run_with_progress("apt-get update", &mut apt_get_as_root(&["update"])?, DOWNLOAD_LIMIT)?;
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend(packages);
    let label = format!("apt-get install {}", packages.join(" "));
    run_with_progress(&label, &mut apt_get_as_root(&arguments)?, DOWNLOAD_LIMIT)
}

/// sudo is asked for no password: an unattended run has nobody to give it.
fn apt_get_as_root(arguments: &[&str]) -> Result<Command> {
    let user = capture(Command::new("id").arg("-u"))?;
    let mut command = if user.trim() == "0" {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    } else if find_on_path("sudo").is_some() {
        let mut command = Command::new("sudo");
        command.args(["-n", "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        command
    } else {
        bail!("apt-get needs root, and there is no sudo");
    };
    command.args(arguments);
    Ok(command)
}

/// Downloads the package whose version starts with `version` from one of `suites`, and unpacks
/// it below `folder`. The system's own apt settings stay as they are: sources, lists and cache
/// of this call all lie in `folder`.
pub(super) fn unpack(
    package: &str,
    version: &str,
    suites: &[&str],
    folder: &Path,
) -> Result<PathBuf> {
    for program in ["apt-get", "apt-cache", "dpkg-deb"] {
        if find_on_path(program).is_none() {
            bail!("this system has no {program}");
        }
    }
    let mirror = mirror()?;
    let mut failures = Vec::new();
    for suite in suites {
        let apt = PrivateApt::new(&folder.join(suite), &mirror, suite)?;
        match apt.unpack(package, version) {
            Ok(unpacked) => return Ok(unpacked),
            Err(error) => failures.push(format!("{suite}: {error:#}")),
        }
    }
    bail!("{} has no {package} {version}:\n{}", mirror.uri, failures.join("\n"))
}

/// apt with one suite as its only source, in a folder of its own.
struct PrivateApt {
    folder: PathBuf,
}

impl PrivateApt {
    fn new(folder: &Path, mirror: &Mirror, suite: &str) -> Result<Self> {
        for part in ["parts", "lists/partial", "cache/archives/partial"] {
            create_dir(&folder.join(part))?;
        }
        let Mirror { uri, keyring } = mirror;
        let line = format!("deb [signed-by={keyring}] {uri} {suite} main\n");
        write(&folder.join("sources.list"), line)?;
        Ok(Self { folder: folder.to_path_buf() })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for (option, part) in [
            ("Dir::Etc::sourcelist", "sources.list"),
            ("Dir::Etc::sourceparts", "parts"),
            ("Dir::State::lists", "lists"),
            ("Dir::Cache", "cache"),
        ] {
            command.arg("-o").arg(format!("{option}={}", self.folder.join(part).display()));
        }
        // As root, apt would drop its rights and then fail to write in our folder.
        command.args(["-o", "APT::Sandbox::User=root"]);
        command
    }

    fn unpack(&self, package: &str, version: &str) -> Result<PathBuf> {
        let mut update = self.command("apt-get");
        update.arg("update");
        run_with_progress("apt-get update", &mut update, DOWNLOAD_LIMIT)?;
        let offered = capture(self.command("apt-cache").args(["madison", package]))?;
        let full = offered_version(&offered, version)
            .with_context(|| format!("it offers these versions only:\n{}", offered.trim_end()))?;
        let mut download = self.command("apt-get");
        download.args(["download", &format!("{package}={full}")]).current_dir(&self.folder);
        run_with_progress(&format!("downloading {package} {full}"), &mut download, DOWNLOAD_LIMIT)?;
        let archive = entries(&self.folder)?
            .into_iter()
            .find(|path| path.extension() == Some(OsStr::new("deb")))
            .context("apt-get download left no package")?;
        let unpacked = self.folder.join("unpacked");
        run(Command::new("dpkg-deb").arg("-x").arg(archive).arg(&unpacked))?;
        Ok(unpacked)
    }
}

/// The full version in `apt-cache madison`'s table that belongs to an upstream version.
fn offered_version<'a>(table: &'a str, upstream: &str) -> Option<&'a str> {
    let versions = table.lines().filter_map(|line| line.split('|').nth(1)).map(str::trim);
    // "1.95.0+dfsg1-2" belongs to 1.95.0, "1.95.01-1" does not.
    versions.into_iter().find(|version| {
        version
            .strip_prefix(upstream)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
    })
}

#[derive(Debug, PartialEq)]
struct Mirror {
    uri: String,
    keyring: String,
}

/// The mirror of Debian's main archive in apt's own settings.
fn mirror() -> Result<Mirror> {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    let parts = Path::new("/etc/apt/sources.list.d");
    if parts.is_dir() {
        files.extend(entries(parts)?);
    }
    let found = files.iter().find_map(|path| {
        let text = std::fs::read_to_string(path).ok()?;
        let deb822 = path.extension() == Some(OsStr::new("sources"));
        if deb822 { mirror_in_deb822(&text) } else { mirror_in_lines(&text) }
    });
    found.context("apt's sources name no mirror of Debian's main archive")
}

/// The security archive and other vendors' have other paths and hold none of what we seek.
fn is_main_archive(uri: &str) -> bool {
    uri.trim_end_matches('/').ends_with("/debian")
}

/// The one-line form: `deb [options] uri suite components`.
fn mirror_in_lines(text: &str) -> Option<Mirror> {
    text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("deb ")?.trim_start();
        let (options, rest) = match rest.strip_prefix('[') {
            Some(bracketed) => bracketed.split_once(']')?,
            None => ("", rest),
        };
        let uri = rest.split_whitespace().next().filter(|uri| is_main_archive(uri))?;
        let keyring = options.split_whitespace().find_map(|o| o.strip_prefix("signed-by="));
        Some(Mirror { uri: uri.to_owned(), keyring: keyring.unwrap_or(KEYRING).to_owned() })
    })
}

/// The form with one field a line, and an empty line between entries.
fn mirror_in_deb822(text: &str) -> Option<Mirror> {
    text.split("\n\n").find_map(|entry| {
        let field = |name: &str| {
            entry.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                key.eq_ignore_ascii_case(name).then(|| value.trim())
            })
        };
        if field("Enabled").is_some_and(|value| value.eq_ignore_ascii_case("no")) {
            return None;
        }
        field("Types")?.split_whitespace().find(|kind| *kind == "deb")?;
        let uri = field("URIs")?.split_whitespace().find(|uri| is_main_archive(uri))?;
        // The field may also hold the key itself, over many lines: then the usual file has it.
        let keyring = field("Signed-By").filter(|value| value.starts_with('/'));
        Some(Mirror { uri: uri.to_owned(), keyring: keyring.unwrap_or(KEYRING).to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirror_of(uri: &str, keyring: &str) -> Option<Mirror> {
        Some(Mirror { uri: uri.into(), keyring: keyring.into() })
    }

    #[test]
    fn deb822_sources_give_the_main_archive_and_its_key() {
        let text = "Types: deb\n# URIs: http://old.example/debian\nURIs: http://security.example/debian-security\n\
            Suites: stable-security\nComponents: main\n\nTypes: deb\nURIs: http://mirror.example/debian/\n\
            Suites: stable stable-updates\nComponents: main\nSigned-By: /keys/a.gpg\n";
        assert_eq!(
            mirror_in_deb822(text),
            mirror_of("http://mirror.example/debian/", "/keys/a.gpg")
        );
    }

    #[test]
    fn disabled_and_source_only_entries_are_passed_over() {
        let disabled = "Enabled: no\nTypes: deb\nURIs: http://mirror.example/debian\n";
        let sources = "Types: deb-src\nURIs: http://mirror.example/debian\n";
        assert_eq!(mirror_in_deb822(&format!("{disabled}\n{sources}")), None);
    }

    #[test]
    fn one_line_sources_give_the_main_archive_and_its_key() {
        let text = "# deb http://old.example/debian stable main\n\
            deb-src http://mirror.example/debian stable main\n\
            deb http://mirror.example/debian-security stable-security main\n\
            deb [arch=amd64 signed-by=/keys/b.gpg] http://mirror.example/debian stable main\n";
        assert_eq!(mirror_in_lines(text), mirror_of("http://mirror.example/debian", "/keys/b.gpg"));
        let bare = "deb http://mirror.example/debian stable main";
        assert_eq!(mirror_in_lines(bare), mirror_of("http://mirror.example/debian", KEYRING));
    }

    #[test]
    fn the_version_offered_is_the_one_of_our_compiler() {
        let table = " rust-src | 1.97.1+dfsg1-1~bpo13+1 | http://mirror.example x\n \
            rust-src | 1.95.0+dfsg1-2~bpo13+1 | http://mirror.example x\n";
        assert_eq!(offered_version(table, "1.95.0"), Some("1.95.0+dfsg1-2~bpo13+1"));
        assert_eq!(offered_version(table, "1.95"), None);
        assert_eq!(offered_version(table, "1.96.0"), None);
    }
}
