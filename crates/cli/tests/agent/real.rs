//! Published programs: same results with and without the agent, and no class that the verifier
//! refuses.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

use crate::Case;
use crate::jvm::{ProcessOutput, Run, assert_recorded, assert_same, beside, javac};
use crate::setup::{Requirement, Setup};

pub(crate) fn cases() -> Vec<Case> {
    let program = Requirement::Program;
    vec![
        Case::new("real/javac", [Requirement::Prepared("jdk-source")], compile_the_library),
        Case::new("real/h2", [program("h2")], |setup: &Setup| {
            compare(setup, "h2", "SqlScript", |folder| {
                vec![beside("real/script.sql").display().to_string(), folder.display().to_string()]
            })
        }),
        Case::new("real/lucene", [program("lucene")], |setup: &Setup| {
            compare(setup, "lucene", "Search", |_| vec!["3000".to_string()])
        }),
        Case::new("real/log4j", [program("log4j")], |setup: &Setup| {
            compare(setup, "log4j", "Logging", |folder| {
                vec![folder.display().to_string(), "3000".to_string()]
            })
        }),
        Case::new("real/tomcat", [program("tomcat"), Requirement::Command("wrk")], serve),
    ]
}

/// Compiles a driver against its program, and returns the class path for both.
pub(crate) fn driver(setup: &Setup, program: &str, class: &str) -> Result<String, Failed> {
    let class_path = setup.class_path(program)?;
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real").join(program);
    fs::create_dir_all(&classes)?;
    javac(&[beside(&format!("real/{class}.java"))], &classes, Some(&class_path))?;
    Ok(format!("{}:{class_path}", classes.display()))
}

/// A run of a driver, with the agent or without. The first argument for the driver is made from the run's folder.
fn run(
    setup: &Setup,
    class: &str,
    class_path: &str,
    is_watched: bool,
    arguments: &dyn Fn(&Path) -> Vec<String>,
) -> Result<Run, Failed> {
    let run = Run::new(setup.jdk_program("java"))?.argument("-Xverify:all");
    let options = run.recording();
    let run = if is_watched { run.watched("", &options) } else { run };
    let arguments = arguments(run.folder.path());
    Ok(run
        .argument("-cp")
        .argument(class_path)
        .argument(format!("real.{class}"))
        .arguments(arguments))
}

fn compare(
    setup: &Setup,
    program: &str,
    class: &str,
    arguments: impl Fn(&Path) -> Vec<String>,
) -> Result<(), Failed> {
    let class_path = driver(setup, program, class)?;
    let plain = run(setup, class, &class_path, false, &arguments)?.finish()?;
    if plain.code != Some(0) || !plain.error.is_empty() {
        return Err(format!("it does not even work without the agent: {plain:?}").into());
    }
    let watched = run(setup, class, &class_path, true, &arguments)?;
    assert_same(&plain, &watched.finish()?)?;
    assert_recorded(&watched)
}

/// The compiler, itself watched, makes the same classes byte by byte.
fn compile_the_library(setup: &Setup) -> Result<(), Failed> {
    let source = setup.prepared("jdk-source");
    let mut files = Vec::new();
    java_files(&source, &mut files)?;
    files.sort();
    if files.len() < 300 {
        return Err(format!("{} sources are too few", files.len()).into());
    }
    let compile = |is_watched: bool| -> Result<(Run, ProcessOutput), Failed> {
        let run = Run::new(setup.jdk_program("javac"))?.argument("-J-Xverify:all");
        let options = format!("{},include=com.sun.tools.javac", run.recording());
        let run = if is_watched { run.watched("-J", &options) } else { run };
        let list = run.folder.path().join("sources.txt");
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        fs::write(&list, names.join("\n"))?;
        let run = run
            .arguments(["-g", "-proc:none", "-nowarn", "-XDignore.symbol.file", "-d", "classes"])
            .argument("--patch-module")
            .argument(format!("java.base={}", source.join("java.base").display()))
            .argument(format!("@{}", list.display()));
        let process_output = run.finish()?;
        Ok((run, process_output))
    };
    let (plain, process_output) = compile(false)?;
    if process_output.code != Some(0) {
        return Err(format!(
            "it does not even compile without the agent: {}",
            process_output.error
        )
        .into());
    }
    let (watched, process_output_with_agent) = compile(true)?;
    assert_same(&process_output, &process_output_with_agent)?;
    assert_recorded(&watched)?;
    let expected = classes_in(&plain.folder.path().join("classes"))?;
    let compiled = classes_in(&watched.folder.path().join("classes"))?;
    if expected.len() < files.len() {
        return Err(format!("only {} classes were made", expected.len()).into());
    }
    for (name, bytes) in &expected {
        match compiled.get(name) {
            None => return Err(format!("{} is missing", name.display()).into()),
            Some(other) if other != bytes => {
                return Err(format!("{} is different", name.display()).into());
            }
            Some(_) => {}
        }
    }
    if compiled.len() != expected.len() {
        return Err(format!("{} classes became {}", expected.len(), compiled.len()).into());
    }
    Ok(())
}

fn java_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failed> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            java_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "java") {
            files.push(path);
        }
    }
    Ok(())
}

/// The bytes of all files in a folder.
fn classes_in(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, Failed> {
    let mut classes = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                classes.insert(path.strip_prefix(folder)?.to_path_buf(), fs::read(&path)?);
            }
        }
    }
    Ok(classes)
}

/// A web server under load for a few seconds: it serves without failures, then answers as it does without the
/// agent.
fn serve(setup: &Setup) -> Result<(), Failed> {
    let class_path = driver(setup, "tomcat", "WebServer")?;
    let arguments = |folder: &Path| vec![folder.display().to_string()];
    let mut answers = Vec::new();
    for is_watched in [false, true] {
        let run = run(setup, "WebServer", &class_path, is_watched, &arguments)?;
        answers.push(serve_once(&run)?);
        if is_watched {
            assert_recorded(&run)?;
        }
    }
    if answers[0] != answers[1] {
        let [plain, watched] = [&answers[0], &answers[1]].map(|answers| answers.join("\n"));
        return Err(format!("plain:\n{plain}\nwith the agent:\n{watched}").into());
    }
    Ok(())
}

fn serve_once(run: &Run) -> Result<Vec<String>, Failed> {
    let mut child = run.command()?.spawn()?;
    let served = use_server(run);
    if served.is_err() {
        child.kill()?;
    }
    let process_output = run.wait_for(child)?;
    let answers = served?;
    if process_output.code != Some(0) || !process_output.output.ends_with("stopped\n") {
        return Err(format!("the server did not stop well: {process_output:?}").into());
    }
    if process_output.error.contains("Exception") || process_output.error.contains("SEVERE") {
        return Err(format!("the server complains: {}", process_output.error).into());
    }
    Ok(answers)
}

fn use_server(run: &Run) -> Result<Vec<String>, Failed> {
    let deadline = Instant::now() + Duration::from_secs(120);
    let port = loop {
        let output = run.output()?;
        if let Some(port) = output.strip_prefix("port ").and_then(|rest| rest.strip_suffix('\n')) {
            break port.to_string();
        }
        if Instant::now() > deadline {
            return Err("the server does not say its port".into());
        }
        thread::sleep(Duration::from_millis(20));
    };
    for query in ["/shop/load?item=load", "/shop/load?item=load&visit=1"] {
        let output = Command::new("wrk")
            .args(["--threads", "1", "--connections", "8", "--duration", "3s", "--timeout", "30s"])
            .arg(format!("http://127.0.0.1:{port}{query}"))
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let is_clean = !said.contains("Non-2xx") && !said.contains("Socket errors");
        if !output.status.success() || !is_clean || !said.contains("requests in") {
            return Err(format!("wrk says: {said}").into());
        }
    }
    let mut answers = Vec::new();
    for i in 0..50 {
        answers.push(get(&port, &format!("/shop/part{i}?item=thing{}&count=1", i % 7))?);
    }
    answers.push(get(&port, "/shop/without")?);
    answers.push(get(&port, "/nowhere")?);
    answers.push(get(&port, "/stop")?);
    Ok(answers)
}

/// The answer to one request, without the line that holds the time.
fn get(port: &str, path: &str) -> Result<String, Failed> {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let lines: Vec<&str> = answer.lines().filter(|line| !line.starts_with("Date: ")).collect();
    Ok(lines.join("\n"))
}
