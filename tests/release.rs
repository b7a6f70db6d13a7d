//! What a release says of itself is the same everywhere, and complete.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

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
fn packages_of_clients_have_the_version_of_their_changelogs() {
    for package in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")).unwrap() {
        let package = package.unwrap().path();
        let Ok(changelog) = fs::read_to_string(package.join("CHANGELOG.md")) else { continue };
        let (version, _) = changelog.strip_prefix("- ").and_then(|line| line.split_once(": ")).unwrap();
        let manifests =
            ["composer.json", "mix.exs", "package.json", "pg-ulid.gemspec", "pom.xml", "pyproject.toml"];
        // Go has none: the tag is its version.
        for manifest in manifests.map(|name| package.join(name)).iter().filter(|file| file.exists()) {
            let text = fs::read_to_string(manifest).unwrap();
            let stated = [
                format!("\"{version}\""),
                format!(
                    "<artifactId>pg-ulid</artifactId>
  <version>{version}<"
                ),
            ];
            assert!(stated.iter().any(|version| text.contains(version)), "{}", manifest.display());
        }
    }
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

#[test]
fn no_script_runs_when_the_crates_are_built() {
    for directory in ["", "core/"] {
        assert!(!Path::new(env!("CARGO_MANIFEST_DIR")).join(directory).join("build.rs").exists());
        assert!(!read(&format!("{directory}Cargo.toml")).lines().any(|line| line.starts_with("build =")));
    }
}

// What `docs/errors.md` says of messages: each one of ours that a test raises is there, with anything in place of its values.
#[test]
fn every_message_is_explained() {
    let page = read("docs/errors.md");
    // Only the system can cause these.
    let mut messages: BTreeSet<String> = [
        "could not generate a monotonic ulid: randomness of this millisecond is exhausted",
        "system clock out of range for type ulid",
        "could not generate random values",
    ]
    .map(str::to_owned)
    .into();
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pg_regress/expected");
    for file in fs::read_dir(expected).unwrap() {
        for line in fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            let Some(message) = line.strip_prefix("ERROR:  ").or_else(|| line.strip_prefix("WARNING:  "))
            else {
                continue;
            };
            let of_core = ["could not identify", "column ", "function ", "operator ", "permission denied"];
            if ["ulid", "TypeID", "epoch"].iter().any(|word| message.contains(word))
                && !of_core.iter().any(|words| message.starts_with(words))
            {
                let kind = ["a snowflake", "a bigint key", "a uuid of version"]
                    .iter()
                    .find_map(|kind| message.find(kind));
                messages.insert(message[..kind.unwrap_or(message.len())].to_owned());
            }
        }
    }
    assert!(messages.len() > 40, "{messages:?}");
    for message in messages {
        // The text between the values, which are in quotes or numbers, in this order.
        let words = message.split('"').step_by(2).flat_map(|text| text.split(|c: char| c.is_ascii_digit()));
        let words: Vec<_> = words.filter(|text| !text.trim().is_empty()).collect();
        let shows =
            |line| words.iter().try_fold(line, |rest: &str, text| Some(rest.split_once(text)?.1)).is_some();
        assert!(page.lines().any(shows), "docs/errors.md does not have: {message}");
    }
}
