//! What a release says of itself is the same everywhere, and complete.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pg_ulid::{Error, extension::ErrorKind};
use serde_json::Value;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// The value of a setting in a control file, if it is there.
fn setting(control: &str, name: &str) -> Option<String> {
    let control = read(control);
    let value = control
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
    Some(value.trim_matches('\'').to_owned())
}

#[test]
fn packages_of_clients_have_the_version_of_their_changelogs() {
    for (package, manifest) in [("node", "package.json"), ("python", "pyproject.toml")] {
        let changelog = read(&format!("clients/{package}/CHANGELOG.md"));
        let (version, _) = changelog
            .strip_prefix("- ")
            .and_then(|line| line.split_once(": "))
            .unwrap();
        assert!(
            read(&format!("clients/{package}/{manifest}")).contains(&format!("\"{version}\"")),
            "{package}"
        );
    }
}

// META.json says what PGXN demands (its own tool checks the syntax), and what other registries ask
// for.
#[test]
fn meta_json_agrees_with_the_other_files() {
    let meta: Value = serde_json::from_str(&read("META.json")).unwrap();
    assert_eq!(meta["version"], VERSION);
    assert_eq!(setting("ulid.control", "default_version").unwrap(), VERSION);
    let changelog = read("CHANGELOG.md");
    let newest = changelog
        .lines()
        .find_map(|line| line.strip_prefix("## "))
        .unwrap();
    let date = newest
        .strip_prefix(VERSION)
        .and_then(|rest| rest.strip_prefix(" - "))
        .unwrap();
    // PGXN recommends stable releases, so no release candidate is called that.
    let status = if date == "unreleased" || changelog.contains("**A release candidate,**") {
        "testing"
    } else {
        "stable"
    };
    assert_eq!(meta["release_status"], status);
    let manifest = read("Cargo.toml");
    for major in meta["x_registry"]["postgresql"].as_array().unwrap() {
        assert!(manifest.contains(&format!("\npg{major} = ")), "{major}");
    }
    let provides = meta["provides"].as_object().unwrap();
    assert_eq!(
        provides.keys().collect::<Vec<_>>(),
        ["ulid", "ulid_gist", "ulid_sql"]
    );
    for (name, provided) in provides {
        let control = if name == "ulid" {
            "ulid.control".to_owned()
        } else {
            format!("sql/{name}.control")
        };
        assert_eq!(
            provided["version"],
            setting(&control, "default_version").unwrap(),
            "{name}"
        );
        assert_eq!(provided["file"], format!("sql/{name}.sql"));
        assert!(
            !read(provided["docfile"].as_str().unwrap()).is_empty(),
            "{name}"
        );
        let said = &meta["x_registry"]["extensions"][name];
        for label in ["trusted", "relocatable"] {
            assert_eq!(
                said[label],
                setting(&control, label).is_some_and(|value| value == "true"),
                "{name}"
            );
        }
        let requires = setting(&control, "requires").unwrap_or_default();
        let requires: Vec<_> = requires
            .split(", ")
            .filter(|name| !name.is_empty())
            .collect();
        assert_eq!(said["requires"], Value::from(requires), "{name}");
    }
}

// Whoever has run the script reads in the database which one that was.
#[test]
fn script_of_ulid_sql_leaves_its_version() {
    let version = setting("sql/ulid_sql.control", "default_version").unwrap();
    let comment = format!("COMMENT ON TABLE ulid_horizon IS 'ulid_sql {version}: ");
    assert!(read("sql/ulid_sql.sql").contains(&comment));
}

// One text, so that a fault is mended in both. `psql -f` may run the script of ulid_sql again.
#[test]
fn consumers_of_ulid_and_ulid_sql_are_the_same() {
    let part = |file, first, last| {
        let script = read(file);
        let (_, part) = script.split_once(first).unwrap();
        let (part, _) = part.split_once(last).unwrap();
        part.replace("CREATE OR REPLACE", "CREATE")
            .replace("TABLE IF NOT EXISTS", "TABLE")
    };
    let trust = |file| {
        let first = "\n-- Whether the present role can read a table without";
        part(file, first, "IS 'whether reading the table of a consumer")
    };
    assert_eq!(trust("sql/ulid.sql"), trust("sql/ulid_sql.sql"));
    let consumers = |file| {
        let last = "IS 'wait until a consumer has read this id; false after the timeout';\n";
        part(file, "\n-- Consumers: who reads", last)
    };
    // the word, in place of that of a type, but not in the names of the files
    let mut ulid = String::new();
    for part in
        consumers("sql/ulid.sql").split_inclusive(|c: char| !c.is_alphanumeric() && c != '_')
    {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if word == "ulid" && part != "ulid." {
            ulid += "uuid";
            ulid += &part[word.len()..];
        } else {
            ulid += part;
        }
    }
    let by_sql = consumers("sql/ulid_sql.sql");
    for (line, other) in ulid.lines().zip(by_sql.lines()) {
        assert_eq!(line, other);
    }
    assert_eq!(ulid.lines().count(), by_sql.lines().count());
}

/// The messages that `src/error.rs` reports, with 0 in place of values.
fn reported() -> impl Iterator<Item = String> {
    let source = read("src/error.rs");
    let calls = source
        .match_indices("Error::new(")
        .chain(source.match_indices("out_of_range_time("));
    let formats: Vec<_> = calls
        .filter_map(|(start, _)| {
            // The first string of the call, if the call has one.
            let (_, call) = source[start..].split_once('(')?;
            let (before, format) = call.split_once("c\"")?;
            let end = format
                .match_indices('"')
                .map(|(end, _)| end)
                .find(|&end| !format[..end].ends_with('\\'))?;
            let is_own = !before.contains([';', ')', '{']);
            is_own.then(|| format[..end].replace("\\\"", "\"").replace("%s", "0"))
        })
        .collect();
    let of_library =
        [ErrorKind::Exhausted, ErrorKind::Seed].map(|kind| Error::from(kind).to_string());
    formats.into_iter().chain(of_library)
}

// What `docs/errors.md` says of messages: each one of ours that the server reports or a test raises
// is there, with anything in place of its values.
#[test]
fn every_message_is_explained() {
    let page = read("docs/errors.md");
    let mut messages: BTreeSet<String> = reported().collect();
    assert!(messages.len() > 20, "{messages:?}");
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pg_regress/expected");
    for file in fs::read_dir(expected).unwrap() {
        for line in fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            let Some(message) = line
                .strip_prefix("ERROR:  ")
                .or_else(|| line.strip_prefix("WARNING:  "))
            else {
                continue;
            };
            // psql adds it with VERBOSITY terse
            let message = message.split(" at character ").next().unwrap();
            let of_core = [
                "could not identify",
                "column ",
                "function ",
                "operator ",
                "permission denied",
            ];
            if ["ulid", "TypeID", "epoch"]
                .iter()
                .any(|word| message.contains(word))
                && !of_core.iter().any(|words| message.starts_with(words))
            {
                let kind = ["a snowflake", "a bigint key", "a uuid of version"]
                    .iter()
                    .find_map(|kind| message.find(kind));
                messages.insert(message[..kind.unwrap_or(message.len())].to_owned());
            }
        }
    }
    assert!(messages.len() > 60, "{messages:?}");
    messages.retain(|message| {
        // The text between the values, which are in quotes or numbers, in this order.
        let words = message
            .split('"')
            .step_by(2)
            .flat_map(|text| text.split(|c: char| c.is_ascii_digit()));
        let words: Vec<_> = words.filter(|text| !text.trim().is_empty()).collect();
        let shows = |line| {
            words
                .iter()
                .try_fold(line, |rest: &str, text| Some(rest.split_once(text)?.1))
                .is_some()
        };
        !page.lines().any(shows)
    });
    assert!(
        messages.is_empty(),
        "docs/errors.md does not have: {messages:?}"
    );
}
