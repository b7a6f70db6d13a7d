//! sqlx, with the feature `sqlx`. Its macros need `sqlx.toml`, and read the tables of the database that `DATABASE_URL` names.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use pg_ulid::Ulid;
use pg_ulid_clients::{Result, database};
use sqlx::postgres::PgPool;
use sqlx::types::time::OffsetDateTime;

#[derive(sqlx::FromRow)]
struct Order {
    id: Ulid,
    customer_id: Option<Ulid>,
    note: Option<String>,
    related: Option<Vec<Ulid>>,
}

async fn connect(name: &str) -> sqlx::Result<PgPool> {
    PgPool::connect(&database(&format!("sqlx_{name}"))).await
}

#[tokio::test]
async fn insert_read_list() -> Result {
    let pool = connect("insert").await?;
    let customer: Ulid = sqlx::query_scalar("INSERT INTO customer (name) VALUES ('Ada') RETURNING id")
        .fetch_one(&pool)
        .await?;
    let insert = "INSERT INTO orders (customer_id, note) VALUES ($1, $2) RETURNING *";
    let first: Order = sqlx::query_as(insert).bind(customer).bind("first").fetch_one(&pool).await?;
    let second: Order = sqlx::query_as(insert).bind(Some(customer)).bind("second").fetch_one(&pool).await?;
    assert_eq!((first.customer_id, second.note.as_deref()), (Some(customer), Some("second")));

    let by_id = "SELECT * FROM orders WHERE id = $1";
    let found: Order = sqlx::query_as(by_id).bind(first.id).fetch_one(&pool).await?;
    assert_eq!((found.note.as_deref(), found.related), (Some("first"), None));
    let ids = [first.id, second.id];
    let list =
        sqlx::query("SELECT id FROM orders WHERE id = ANY ($1)").bind(&ids[..]).fetch_all(&pool).await?;
    assert_eq!(list.len(), 2);
    // as text, which is how raw SQL is answered, and from a uuid
    for row in sqlx::raw_sql("SELECT id, id::uuid FROM customer").fetch_all(&pool).await? {
        assert_eq!(<(Ulid, Ulid) as sqlx::FromRow<_>>::from_row(&row)?, (customer, customer));
    }

    let hour = std::time::Duration::from_secs(3600);
    let (from, to) = (OffsetDateTime::now_utc() - hour, OffsetDateTime::now_utc() + hour);
    let within = sqlx::query("SELECT id FROM orders WHERE id <@ tstzrange($1, $2)").bind(from).bind(to);
    assert_eq!(within.fetch_all(&pool).await?.len(), 2);
    Ok(())
}

#[tokio::test]
async fn array() -> Result {
    let pool = connect("array").await?;
    let insert = "INSERT INTO orders (related) VALUES ($1) RETURNING *";
    let stored: Order = sqlx::query_as(insert).bind(vec![Ulid::NIL, Ulid::MAX]).fetch_one(&pool).await?;
    assert_eq!(stored.related, Some(vec![Ulid::NIL, Ulid::MAX]));
    Ok(())
}

#[tokio::test]
async fn bulk_load() -> Result {
    let pool = connect("bulk_load").await?;
    let (new, notes) = ([Ulid::NIL, Ulid::MAX], ["first", "second"]);
    sqlx::query("INSERT INTO orders (id, note) SELECT * FROM unnest($1, $2)")
        .bind(&new[..])
        .bind(&notes[..])
        .execute(&pool)
        .await?;
    let loaded: Vec<Ulid> = sqlx::query_scalar("SELECT id FROM orders ORDER BY id").fetch_all(&pool).await?;
    assert_eq!(loaded, new);
    Ok(())
}

#[tokio::test]
async fn macros() -> Result {
    let pool = connect("macros").await?;
    let id: Ulid = sqlx::query_scalar("INSERT INTO orders (note) VALUES ('first') RETURNING id")
        .fetch_one(&pool)
        .await?;
    let row = sqlx::query!("SELECT id, note, related FROM orders WHERE id = $1", id).fetch_one(&pool).await?;
    assert_eq!((row.id, row.note.as_deref(), row.related), (id, Some("first"), None));
    Ok(())
}

/// This file does not compile where `sqlx.toml` is missing.
#[test]
fn macros_without_sqlx_toml() -> Result {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-sqlx-toml");
    fs::create_dir_all(copy.join("src"))?;
    fs::create_dir_all(copy.join("tests"))?;
    for file in ["Cargo.lock", "src/lib.rs", "tests/sqlx.rs"] {
        fs::copy(folder.join(file), copy.join(file))?;
    }
    // another name, as cargo would mistake what it builds for that of this package
    let core = folder.join("../../core").canonicalize()?;
    let manifest = fs::read_to_string(folder.join("Cargo.toml"))?
        .replace("../../core", core.to_str().unwrap())
        .replace("\"pg_ulid_clients\"", "\"without_sqlx_toml\"");
    fs::write(copy.join("Cargo.toml"), manifest + "\n[lib]\nname = \"pg_ulid_clients\"\n")?;
    let build = ["test", "--no-run", "--offline", "--quiet", "--test", "sqlx"];
    let built = Command::new(env!("CARGO")).args(build).current_dir(copy).output()?;
    let errors = String::from_utf8(built.stderr)?;
    assert!(errors.contains("no built-in mapping for type ulid of param #1"), "{errors}");
    Ok(())
}

#[tokio::test]
async fn malformed_ids() -> Result {
    let pool = connect("malformed").await?;
    let sample: Vec<(String, Option<String>)> =
        sqlx::query_as("SELECT note, given FROM sample.given").fetch_all(&pool).await?;
    for (note, given) in sample {
        let Ok(id) = given.as_deref().map(str::parse::<Ulid>).transpose() else { continue };
        let insert = match given {
            Some(_) => "INSERT INTO orders (note, id) VALUES ($1, $2)",
            None => "INSERT INTO orders (note, customer_id) VALUES ($1, $2)",
        };
        sqlx::query(insert).bind(note).bind(id).execute(&pool).await?;
    }
    sqlx::query("SELECT sample.compare()").execute(&pool).await?;
    Ok(())
}

/// A `&str` is sent as `text`; and a connection keeps the types of the first parameters of a statement.
#[tokio::test]
async fn strings() -> Result {
    let pool = connect("strings").await?;
    let mut connection = pool.acquire().await?;
    let error =
        sqlx::query("SELECT note FROM orders WHERE (id = $1)").bind("first").execute(&mut *connection).await;
    assert_eq!(
        error.unwrap_err().as_database_error().unwrap().message(),
        "operator does not exist: ulid = text"
    );
    let insert = "INSERT INTO orders (id) VALUES ($1)";
    sqlx::query(insert).bind("01ARYZ6S41TSV4RRFFQ69G5FAV").execute(&mut *connection).await?;
    let error = sqlx::query(insert)
        .bind("01ARYZ6S41TSV4RRFFQ69G5FAW".parse::<Ulid>()?)
        .execute(&mut *connection)
        .await;
    let message = error.unwrap_err().as_database_error().unwrap().message().to_owned();
    assert!(message.starts_with("invalid byte sequence for encoding \"UTF8\""), "{message}");
    Ok(())
}
