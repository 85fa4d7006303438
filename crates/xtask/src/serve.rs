//! A small web server for the built site, on this machine only.

use crate::build;
use crate::workspace::Workspace;
use anyhow::{Context, Result, anyhow, bail};
use std::fs::File;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tiny_http::{Header, Method, Request, Response, Server};

const DEFAULT_PORT: u16 = 8080;
/// How many further ports are tried when one is taken.
const FURTHER_PORTS: u16 = 20;
/// A browser opens up to six connections; files are small.
const THREADS: usize = 4;

/// `cargo xtask serve`: builds the site if asked to, and serves it until it is stopped.
pub(crate) fn run(workspace: &Workspace, port: Option<u16>, build: bool) -> Result<()> {
    if build {
        build::run(workspace)?;
    }
    let site = Site::start(&workspace.dist(), port.unwrap_or(DEFAULT_PORT))?;
    println!("Headroom is at {}", site.address());
    site.join()
}

/// A site being served, for as long as the program runs.
pub(crate) struct Site {
    port: u16,
    threads: Vec<JoinHandle<()>>,
}

impl Site {
    /// Serves a folder on the first free port from `port` on; port 0 stands for any.
    pub(crate) fn start(folder: &Path, port: u16) -> Result<Self> {
        if !folder.join("index.html").is_file() {
            bail!("{} holds no site: run `cargo xtask build` first", folder.display());
        }
        let listener = listen(port)?;
        let port = listener.local_addr().context("the server has no address")?.port();
        let server = Server::from_listener(listener, None)
            .map_err(|error| anyhow!("the server could not be started: {error}"))?;
        let (server, folder) = (Arc::new(server), Arc::new(folder.to_path_buf()));
        let threads = (0..THREADS)
            .map(|_| {
                let (server, folder) = (Arc::clone(&server), Arc::clone(&folder));
                thread::spawn(move || {
                    for request in server.incoming_requests() {
                        answer(request, &folder);
                    }
                })
            })
            .collect();
        Ok(Self { port, threads })
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    fn join(self) -> Result<()> {
        for thread in self.threads {
            thread.join().map_err(|_| anyhow!("the server stopped"))?;
        }
        Ok(())
    }
}

fn listen(port: u16) -> Result<TcpListener> {
    for candidate in port..=port.saturating_add(FURTHER_PORTS) {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, candidate)) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                println!("  port {candidate} is taken");
            }
            Err(error) => {
                return Err(error).with_context(|| format!("port {candidate} cannot be used"));
            }
        }
    }
    bail!("no port from {port} on is free: name another with --port")
}

/// Answers one request. A browser that hangs up early is no failure of ours.
fn answer(request: Request, folder: &Path) {
    let _ = match find(request.method(), request.url(), folder) {
        Ok(Found { file, mime, caching }) => {
            request.respond(with_headers(Response::from_file(file), mime, caching))
        }
        Err(status) => {
            let text = format!("{status}\n");
            let response = Response::from_string(text).with_status_code(status);
            request.respond(with_headers(response, "text/plain; charset=utf-8", ASK_AGAIN))
        }
    };
}

/// For what may change under its name: a page that is being worked on changes at any time.
const ASK_AGAIN: &str = "no-cache";
/// For a file that carries the fingerprint of its content in its name.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

struct Found {
    file: File,
    mime: &'static str,
    caching: &'static str,
}

/// The file that a request is for, or the status that says why there is none.
fn find(method: &Method, url: &str, folder: &Path) -> Result<Found, u16> {
    if !matches!(method, Method::Get | Method::Head) {
        return Err(405);
    }
    let relative = safe_path(url).ok_or(400_u16)?;
    let mut path = folder.join(relative);
    if path.is_dir() {
        path.push("index.html");
    }
    let file = File::open(&path).map_err(|_| 404_u16)?;
    Ok(Found { file, mime: mime(&path), caching: caching(&path) })
}

/// How long a browser may keep a file.
fn caching(path: &Path) -> &'static str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_fingerprint =
        |part: &str| part.len() == 16 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    if name.split(['-', '_', '.']).any(is_fingerprint) { FOR_EVER } else { ASK_AGAIN }
}

fn with_headers<R: std::io::Read>(
    mut response: Response<R>,
    mime: &str,
    caching: &str,
) -> Response<R> {
    for (name, value) in
        [("Content-Type", mime), ("Cache-Control", caching), ("X-Content-Type-Options", "nosniff")]
    {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    response
}

/// The path below the site's folder that an address names; `None` for one that would leave it.
fn safe_path(url: &str) -> Option<PathBuf> {
    let path = url.split(['?', '#']).next()?.strip_prefix('/')?;
    let decoded = percent_decode(path)?;
    let mut safe = PathBuf::new();
    for part in decoded.split('/').filter(|part| !part.is_empty()) {
        // Drives, other separators and other ways to say "up" on other systems, too.
        if part.starts_with('.') || part.contains(['\\', ':', '\0']) {
            return None;
        }
        safe.push(part);
    }
    Some(safe)
}

fn percent_decode(text: &str) -> Option<String> {
    let mut decoded = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            decoded.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).ok()
}

/// The type a browser wants to hear: WASM is compiled while it loads only under its own.
fn mime(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" | "md" | "csv" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    #[test]
    fn usual_addresses_name_files_below_the_folder() {
        assert_eq!(safe_path("/"), Some(PathBuf::new()));
        assert_eq!(safe_path("/a/b.js?v=1#x"), Some(PathBuf::from("a/b.js")));
        assert_eq!(safe_path("/a%20b.js"), Some(PathBuf::from("a b.js")));
        assert_eq!(safe_path("//a"), Some(PathBuf::from("a")));
    }

    #[test]
    fn addresses_that_would_leave_the_folder_are_refused() {
        for url in [
            "/../Cargo.toml",
            "/a/../../Cargo.toml",
            "/%2e%2e/Cargo.toml",
            "/%2E./Cargo.toml",
            "/..%2fCargo.toml",
            "/..%5cCargo.toml",
            "/c:/x",
            "/.git/config",
            "/%00",
            "/%zz",
            "/%ff",
            "/%",
            "http://elsewhere/",
        ] {
            assert_eq!(safe_path(url), None, "{url}");
        }
    }

    #[test]
    fn wasm_and_scripts_have_their_types() {
        assert_eq!(mime(Path::new("a_bg.wasm")), "application/wasm");
        assert_eq!(mime(Path::new("a.js")), "text/javascript; charset=utf-8");
        assert_eq!(mime(Path::new("a")), "application/octet-stream");
    }

    #[test]
    fn only_what_its_name_pins_is_kept() {
        for name in ["headroom-9436b36c44898e88.svg", "sim-worker-c8bd848985076681_bg.wasm"] {
            assert_eq!(caching(Path::new(name)), FOR_EVER, "{name}");
        }
        for name in ["index.html", "theme.js", "headroom-9436b36c.svg", "fonts/inter.woff2"] {
            assert_eq!(caching(Path::new(name)), ASK_AGAIN, "{name}");
        }
    }

    /// Speaks to the server as a program would that means no good: without tidying the path.
    fn ask(site: &Site, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, site.port)).expect("a server");
        let text = format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(text.as_bytes()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    #[test]
    fn the_server_gives_its_own_files_and_no_others() {
        let parent = std::env::temp_dir().join(format!("headroom-serve-{}", std::process::id()));
        let folder = parent.join("site");
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        std::fs::write(parent.join("secret.txt"), "secret").expect("a file for the test");
        std::fs::write(folder.join("index.html"), "<title>page</title>").expect("a file");
        let site = Site::start(&folder, 0).expect("a free port");

        let page = ask(&site, "GET /?a=1");
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        assert!(page.contains("Cache-Control: no-cache"), "{page}");
        assert!(page.contains("Content-Type: text/html"), "{page}");
        assert!(page.contains("<title>page</title>"), "{page}");
        assert!(ask(&site, "GET /../secret.txt").starts_with("HTTP/1.1 400"));
        assert!(ask(&site, "GET /%2e%2e/secret.txt").starts_with("HTTP/1.1 400"));
        assert!(ask(&site, "GET /secret.txt").starts_with("HTTP/1.1 404"));
        assert!(ask(&site, "POST /").starts_with("HTTP/1.1 405"));

        let second = Site::start(&folder, site.port).expect("a further port");
        assert_ne!(second.port, site.port);
        std::fs::remove_dir_all(&parent).expect("the test's folder");
    }
}
