//! A small web server for the built site, on this machine only.

use crate::build;
use crate::workspace::Workspace;
use anyhow::{Context, Result, anyhow, bail};
use axum::Router;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use axum::middleware::{self, Next};
use axum::response::Response;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::thread::{self, JoinHandle};
use tower_http::services::ServeDir;

const DEFAULT_PORT: u16 = 8080;
/// How many further ports are tried when one is taken.
const FURTHER_PORTS: u16 = 20;

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
    thread: JoinHandle<Result<()>>,
}

impl Site {
    /// Serves a folder on the first free port from `port` on; port 0 stands for any.
    pub(crate) fn start(folder: &Path, port: u16) -> Result<Self> {
        if !folder.join("index.html").is_file() {
            bail!("{} holds no site: run `cargo xtask build` first", folder.display());
        }
        let listener = listen(port)?;
        let port = listener.local_addr().context("the server has no address")?.port();
        listener.set_nonblocking(true).context("the server cannot wait for requests")?;
        let files = Router::new()
            .fallback_service(ServeDir::new(folder))
            .layer(middleware::from_fn(with_headers));
        let runtime = tokio::runtime::Runtime::new().context("the server could not be started")?;
        let thread = thread::spawn(move || {
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                axum::serve(listener, files).await
            })?;
            Ok(())
        });
        Ok(Self { port, thread })
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    fn join(self) -> Result<()> {
        self.thread.join().map_err(|_| anyhow!("the server stopped"))?
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

/// Says how long a file may be kept, and that its type is what it is.
async fn with_headers(request: Request, next: Next) -> Response {
    let caching = caching(request.uri().path());
    let mut response = next.run(request).await;
    let caching = if response.status().is_success() { caching } else { ASK_AGAIN };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// For what may change under its name: a page that is being worked on changes at any time.
const ASK_AGAIN: &str = "no-cache";
/// For a file that carries the fingerprint of its content in its name.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// How long a browser may keep a file.
fn caching(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_fingerprint =
        |part: &str| part.len() == 16 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    if name.split(['-', '_', '.']).any(is_fingerprint) { FOR_EVER } else { ASK_AGAIN }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Duration;

    #[test]
    fn only_what_its_name_pins_is_kept() {
        for name in ["headroom-9436b36c44898e88.svg", "headroom-c8bd848985076681_bg.wasm"] {
            assert_eq!(caching(name), FOR_EVER, "{name}");
        }
        for name in ["index.html", "theme.js", "headroom-9436b36c.svg", "fonts/inter.woff2"] {
            assert_eq!(caching(name), ASK_AGAIN, "{name}");
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

        std::fs::write(folder.join("a-9436b36c44898e88_bg.wasm"), "w").expect("a file");

        let page = ask(&site, "GET /?a=1");
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        assert!(page.contains("cache-control: no-cache"), "{page}");
        assert!(page.contains("content-type: text/html"), "{page}");
        assert!(page.contains("x-content-type-options: nosniff"), "{page}");
        assert!(page.contains("<title>page</title>"), "{page}");
        // WASM is compiled while it loads only under its own type.
        let wasm = ask(&site, "GET /a-9436b36c44898e88_bg.wasm");
        assert!(wasm.contains("content-type: application/wasm"), "{wasm}");
        assert!(wasm.contains("immutable"), "{wasm}");
        for url in [
            "/../secret.txt",
            "/a/../../secret.txt",
            "/%2e%2e/secret.txt",
            "/%2E./secret.txt",
            "/..%2fsecret.txt",
            "/..%5csecret.txt",
            "//secret.txt",
            "/secret.txt",
            "/%00",
            "/%zz",
            "/%ff",
            "/%",
        ] {
            let answer = ask(&site, &format!("GET {url}"));
            assert!(answer.starts_with("HTTP/1.1 4"), "{url}: {answer}");
            assert!(!answer.contains("secret"), "{url}: {answer}");
        }
        assert!(ask(&site, "POST /").starts_with("HTTP/1.1 405"));

        let second = Site::start(&folder, site.port).expect("a further port");
        assert_ne!(second.port, site.port);
        std::fs::remove_dir_all(&parent).expect("the test's folder");
    }

    /// A browser keeps its connections open, opens some before it needs them, and expects an answer
    /// on each.
    #[test]
    fn connections_at_rest_keep_nobody_waiting() {
        let folder = std::env::temp_dir().join(format!("headroom-rest-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        std::fs::write(folder.join("index.html"), "<title>page</title>").expect("a file");
        let site = Site::start(&folder, 0).expect("a free port");
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, site.port)).expect("a server");
        let ask = |stream: &mut TcpStream| {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("a request");
        };
        let hear = |stream: &mut TcpStream| {
            stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
            let mut start = [0; 12];
            stream.read_exact(&mut start).expect("an answer in time");
            assert_eq!(&start, b"HTTP/1.1 200");
        };
        let mut at_rest: Vec<TcpStream> = (0..8).map(|_| connect()).collect();
        for _ in 0..20 {
            // One goes, so that a single place is free, and three come at once.
            at_rest.pop();
            thread::sleep(Duration::from_millis(20));
            let mut new: Vec<TcpStream> = (0..3).map(|_| connect()).collect();
            new.iter_mut().for_each(ask);
            new.iter_mut().for_each(hear);
            at_rest.extend(new);
        }
        drop(at_rest);
        std::fs::remove_dir_all(&folder).expect("the test's folder");
    }
}
