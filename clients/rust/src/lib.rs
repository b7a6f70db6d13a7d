//! What the tests of `pg_ulid` in drivers and ORMs share. They run in the server that the variables `PG*` name.

use std::env;
use std::path::Path;
use std::process::Command;

/// The result of a test.
pub type Result = std::result::Result<(), Box<dyn std::error::Error>>;

/// Creates an empty database with the tables of `tests/schema.sql` and the texts of `tests/clients/sample.sql`, and returns its
/// URL.
pub fn database(name: &str) -> String {
    let name = format!("rust_{name}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    run(Command::new("dropdb").args(["--if-exists", &name]));
    run(Command::new("createdb").arg(&name));
    run(Command::new("psql")
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", &name, "-f"])
        .arg(folder.join("tests/schema.sql"))
        .arg("-f")
        .arg(folder.join("../../tests/clients/sample.sql")));
    let [user, password, host, port] =
        ["PGUSER", "PGPASSWORD", "PGHOST", "PGPORT"].map(|variable| env::var(variable).unwrap_or_default());
    format!("postgresql://{user}:{password}@{host}:{port}/{name}")
}

fn run(command: &mut Command) {
    let done =
        command.env("PGOPTIONS", "--client-min-messages=warning").output().expect("PostgreSQL's programs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
