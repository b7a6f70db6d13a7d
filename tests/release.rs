//! What a release says of itself is the same everywhere, and complete.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// What a control file says of a setting.
fn setting(control: &str, name: &str) -> String {
    let control = read(control);
    let value = control.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = '"));
    value.and_then(|value| value.strip_suffix('\'')).unwrap_or_else(|| panic!("{name}")).to_owned()
}

/// The control files of the extensions that come with this one.
fn companions() -> Vec<String> {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("sql")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(".control").map(str::to_owned)).collect()
}

#[test]
fn control_file_has_the_version() {
    assert_eq!(setting("ulid.control", "default_version"), VERSION);
}

#[test]
fn changelog_begins_with_the_version() {
    let changelog = read("CHANGELOG.md");
    let newest = changelog.lines().find_map(|line| line.strip_prefix("## ")).unwrap();
    let date = newest
        .strip_prefix(VERSION)
        .and_then(|rest| rest.strip_prefix(" - "))
        .unwrap_or_else(|| panic!("{newest}"));
    let is_date = date.len() == 10
        && date.split('-').map(str::len).eq([4, 2, 2])
        && date.replace('-', "").parse::<u32>().is_ok();
    assert!(date == "unreleased" || is_date, "{newest}");
}

// What https://pgxn.org/meta/spec.txt demands, and what PGXN shows of a distribution.
#[test]
fn meta_json_is_complete() {
    let meta: Value = serde_json::from_str(&read("META.json")).unwrap();
    let text =
        |pointer: &str| meta.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}"));
    assert_eq!(text("/name"), "ulid");
    assert_eq!(text("/version"), VERSION);
    assert_eq!(text("/provides/ulid/version"), VERSION);
    // PGXN recommends stable releases, so nothing is called that before it is dated.
    let released = !read("CHANGELOG.md").contains(&format!("\n## {VERSION} - unreleased\n"));
    assert_eq!(text("/release_status"), if released { "stable" } else { "testing" });
    assert_eq!(text("/meta-spec/version"), "1.0.0");
    assert!(text("/license/MIT").starts_with("https://"));
    assert!(!text("/maintainer/0").is_empty());
    assert!((1..=255).contains(&text("/abstract").len()));
    assert!(!text("/description").is_empty());
    for name in companions() {
        let version = setting(&format!("sql/{name}.control"), "default_version");
        assert_eq!(text(&format!("/provides/{name}/version")), version);
        assert_eq!(text(&format!("/provides/{name}/file")), format!("sql/{name}.sql"));
    }
    for (name, provided) in meta["provides"].as_object().unwrap() {
        for file in [&provided["file"], &provided["docfile"]] {
            assert!(!read(file.as_str().unwrap_or_else(|| panic!("{name}"))).is_empty());
        }
    }
    let tags = meta["tags"].as_array().unwrap();
    assert!(
        !tags.is_empty() && tags.iter().all(|tag| tag.as_str().is_some_and(|tag| !tag.contains(['/', '\\'])))
    );
    let oldest = text("/prereqs/runtime/requires/PostgreSQL").strip_suffix(".0.0").unwrap();
    assert!(read("Cargo.toml").contains(&format!("\npg{oldest} = ")));
}

// The files of the source.
fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut paths = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files.push(path);
        }
    }
    files
}

#[test]
fn no_script_runs_when_the_crates_are_built() {
    for directory in ["", "core/"] {
        assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join(directory).join("build.rs").exists());
        assert!(!read(&format!("{directory}Cargo.toml")).lines().any(|line| line.starts_with("build =")));
    }
}

// What `docs/errors.md` says of messages: each one of ours is there, with anything in place of its values.
#[test]
fn every_message_is_explained() {
    let page = read("docs/errors.md");
    let mut messages = BTreeSet::new();
    for path in sources() {
        for report in fs::read_to_string(&path).unwrap().split("Report::new(").skip(1) {
            let literal = report.split_once("c\"").unwrap().1.replace("\\\"", "\0");
            messages.insert(literal.split('"').next().unwrap().replace('\0', "\""));
        }
    }
    assert!(messages.len() > 15, "{messages:?}");
    let of_the_script = "extension \"ulid\" in this database is not the one that this script updates";
    assert!(read("sql/ulid--1.0.0--1.1.0.sql").contains(of_the_script));
    messages.insert(of_the_script.to_owned());
    for message in messages {
        // the text between the values, in this order
        let shows = |line| {
            message.split("%s").try_fold(line, |rest: &str, text| Some(rest.split_once(text)?.1)).is_some()
        };
        assert!(page.lines().any(shows), "docs/errors.md does not have: {message}");
    }
}
