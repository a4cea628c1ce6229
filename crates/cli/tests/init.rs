//! `scission init` in a project, from nothing to a check that shows what is new.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const OLD: &str = "
    class Stock {
        private int amount;
        synchronized int amount() { return amount; }
        synchronized void take(int n) { amount -= n; }
    }
    class Shop {
        synchronized boolean sell(Stock stock, int n) {
            if (stock.amount() < n) {
                return false;
            }
            stock.take(n);
            return true;
        }
    }
";

fn scission(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scission"));
    command.current_dir(folder).args(arguments).output().unwrap()
}

fn compile(folder: &Path, name: &str, text: &str) {
    let sources = folder.join("src/main/java");
    fs::create_dir_all(&sources).unwrap();
    fs::write(sources.join(name), text).unwrap();
    let mut javac = Command::new("javac");
    javac.args(["-g", "-d"]).arg(folder.join("target/classes")).arg(sources.join(name));
    assert!(javac.status().expect("javac of a JDK is needed on the path").success());
}

#[test]
fn a_project_begins_with_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("pom.xml"), "<project/>").unwrap();
    compile(folder, "Shop.java", OLD);
    let output = scission(folder, &["init"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(folder.join("scission.toml")).unwrap();
    assert!(text.contains("paths = [\"target/classes\"]"), "{text}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("for a project with Maven"), "{said}");
    // What was there is known; what comes is new.
    assert_eq!(scission(folder, &["check"]).status.code(), Some(0));
    compile(folder, "Store.java", &OLD.replace("Shop", "Store").replace("Stock", "Pile"));
    let output = scission(folder, &["check"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("Store.sell") && !text.contains("`Shop.sell"), "{text}");
    let again = scission(folder, &["init"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("`--force` writes it anew"));
    assert!(scission(folder, &["init", "--force"]).status.success());
    assert_eq!(scission(folder, &["check"]).status.code(), Some(0));
}

#[test]
fn a_project_that_is_not_compiled_yet_is_told_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("build.gradle"), "").unwrap();
    fs::create_dir_all(folder.path().join("src/main/java")).unwrap();
    let output = scission(folder.path(), &["init"]);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("nothing is compiled yet"), "{said}");
    let text = fs::read_to_string(folder.path().join("scission.toml")).unwrap();
    assert!(text.contains("\npaths = [\"build/classes/java/main\"]\n"), "{text}");
    assert!(text.contains("\n# baseline = "), "{text}");
}
