//! A real Chromium, through the WebDriver protocol: JSON over HTTP to Debian's `chromedriver`, and no more of the
//! protocol than these tests need.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// Levels of the log of the browser that are no complaints.
const HARMLESS_LEVELS: [&str; 3] = ["INFO", "DEBUG", "VERBOSE"];

/// A browser with one window; it ends with this value.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

impl Browser {
    /// Starts one; none if there is no browser on this machine, which is a failure on the build machine.
    pub(crate) fn start() -> Option<Browser> {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut driver) = command.spawn() else {
            let is_required = std::env::var_os("SCISSION_TEST_ALL").is_some();
            assert!(!is_required, "there is no chromedriver: `cargo xtask prepare` installs it");
            eprintln!("skipped: there is no chromedriver; `cargo xtask prepare` installs it");
            return None;
        };
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            let (_, rest) = line.split_once("successfully on port ")?;
            rest.trim_end_matches('.').parse().ok()
        });
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Browser { driver, port: port.unwrap(), session: String::new(), profile };
        let arguments = [
            "--headless=new".to_string(),
            // Containers have no user namespaces; the pages are our own.
            "--no-sandbox".to_string(),
            "--disable-gpu".to_string(),
            "--disable-dev-shm-usage".to_string(),
            "--force-color-profile=srgb".to_string(),
            "--hide-scrollbars".to_string(),
            "--window-size=1400,1000".to_string(),
            format!("--user-data-dir={}", browser.profile.path().display()),
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": { "args": arguments },
        }}});
        let session = browser.request("POST", "/session", Some(&wanted));
        browser.session = session["sessionId"].as_str().unwrap().to_string();
        Some(browser)
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let answer = self.exchange(method, path, body).unwrap();
        let value = serde_json::from_str::<Value>(&answer).unwrap()["value"].take();
        assert!(value.get("error").is_none(), "{method} {path}: {value}");
        value
    }

    fn exchange(&self, method: &str, path: &str, body: Option<&Value>) -> std::io::Result<String> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer)?;
        Ok(String::from_utf8(answer).unwrap())
    }

    fn command(&self, path: &str, body: Value) -> Value {
        self.request("POST", &format!("/session/{}{path}", self.session), Some(&body))
    }

    /// Opens a file, with what follows `#` in its address.
    pub(crate) fn open(&self, page: &Path, fragment: &str) {
        // The same address with another fragment would not load the page again.
        self.leave();
        self.command("/url", json!({ "url": format!("file://{}#{fragment}", page.display()) }));
    }

    /// Shows an empty page, which has no policy.
    pub(crate) fn leave(&self) {
        self.command("/url", json!({ "url": "about:blank" }));
    }

    /// The value that a function body returns.
    pub(crate) fn script(&self, body: &str) -> Value {
        self.script_with(body, json!([]))
    }

    pub(crate) fn script_with(&self, body: &str, arguments: Value) -> Value {
        self.command("/execute/sync", json!({ "script": body, "args": arguments }))
    }

    /// The value that a function body gives to its last argument, a function.
    pub(crate) fn script_later(&self, body: &str, arguments: Value) -> Value {
        self.command("/execute/async", json!({ "script": body, "args": arguments }))
    }

    pub(crate) fn text(&self, selector: &str) -> String {
        let found = self.script_with(
            "return document.querySelector(arguments[0])?.innerText ?? '(nothing)'",
            json!([selector]),
        );
        found.as_str().unwrap().to_string()
    }

    pub(crate) fn number_of(&self, selector: &str) -> u64 {
        let script = "return document.querySelectorAll(arguments[0]).length";
        self.script_with(script, json!([selector])).as_u64().unwrap()
    }

    /// Presses keys one after another; the private characters of WebDriver stand for keys without a character.
    pub(crate) fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
            .collect();
        self.actions(json!({ "type": "key", "id": "keyboard", "actions": actions }));
    }

    /// Moves the pointer to the middle of an element, and presses its button if asked to.
    pub(crate) fn point_at(&self, selector: &str, clicks: bool) {
        let find = json!({ "using": "css selector", "value": selector });
        let element = self.command("/element", find);
        let mut actions = vec![
            json!({ "type": "pointerMove", "duration": 0, "origin": element, "x": 0, "y": 0 }),
        ];
        if clicks {
            actions.push(json!({ "type": "pointerDown", "button": 0 }));
            actions.push(json!({ "type": "pointerUp", "button": 0 }));
        }
        self.actions(json!({ "type": "pointer", "id": "mouse", "actions": actions }));
    }

    fn actions(&self, source: Value) {
        self.command("/actions", json!({ "actions": [source] }));
    }

    /// What the system says about colours, or what the page is for.
    pub(crate) fn emulate(&self, media: &str, color_scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": color_scheme }]);
        let parameters = json!({ "media": media, "features": features });
        let command = json!({ "cmd": "Emulation.setEmulatedMedia", "params": parameters });
        self.command("/goog/cdp/execute", command);
    }

    /// The page on paper, as the number of its sheets.
    pub(crate) fn printed_sheets(&self) -> usize {
        let pdf = self.command("/print", json!({}));
        decoded(pdf.as_str().unwrap()).windows(11).filter(|it| it == b"/Type /Page").count()
    }

    /// What the window shows, as a PNG in base64.
    pub(crate) fn screenshot(&self) -> String {
        let path = format!("/session/{}/screenshot", self.session);
        self.request("GET", &path, None).as_str().unwrap().to_string()
    }

    /// What the browser complained about since the last call: errors of scripts, and what the policy forbade.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.command("/se/log", json!({ "type": "browser" }));
        let entries = log.as_array().unwrap().iter();
        let is_complaint =
            |entry: &&Value| !HARMLESS_LEVELS.contains(&entry["level"].as_str().unwrap());
        entries.filter(is_complaint).map(ToString::to_string).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.exchange("DELETE", &format!("/session/{}", self.session), None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Bytes from base64.
pub(crate) fn decoded(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut group, mut bits) = (0u32, 0);
    for character in text.bytes() {
        let Some(digit) = digits.iter().position(|digit| *digit == character) else { continue };
        group = group << 6 | digit as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((group >> bits) as u8);
            group &= (1 << bits) - 1;
        }
    }
    bytes
}
