//! tokio-postgres in a pool of deadpool, and postgres, with the feature `postgres-types`.

use std::error::Error;
use std::pin::pin;
use std::time::{Duration, SystemTime};

use deadpool_postgres::{Config, Object};
use pg_ulid::Ulid;
use pg_ulid_clients::{Result, database};
use tokio_postgres::NoTls;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;

async fn connect(name: &str) -> std::result::Result<Object, Box<dyn Error>> {
    let mut config = Config::new();
    config.url = Some(database(&format!("tokio_postgres_{name}")));
    Ok(config.create_pool(None, NoTls)?.get().await?)
}

#[tokio::test]
async fn insert_read_list() -> Result {
    let client = connect("insert").await?;
    let customer: Ulid =
        client.query_one("INSERT INTO customer (name) VALUES ('Ada') RETURNING id", &[]).await?.get(0);
    let insert = "INSERT INTO orders (customer_id, note) VALUES ($1, $2) RETURNING id";
    let first: Ulid = client.query_one(insert, &[&customer, &"first"]).await?.get(0);
    let second: Ulid = client.query_one(insert, &[&Some(customer), &"second"]).await?.get(0);
    let row = client.query_one("SELECT note, customer_id FROM orders WHERE id = $1", &[&first]).await?;
    assert_eq!((row.get(0), row.get(1)), ("first", Some(customer)));

    let ids = [first, second];
    let list = client.query("SELECT id FROM orders WHERE id = ANY ($1)", &[&&ids[..]]).await?;
    assert_eq!(list.len(), 2);
    // a uuid and a text have the same value
    let row =
        client.query_one("SELECT id::uuid, id::text FROM orders WHERE id = $1::uuid", &[&first]).await?;
    assert_eq!((row.get(0), row.get(1)), (first, first));

    let (from, to) =
        (SystemTime::now() - Duration::from_secs(3600), SystemTime::now() + Duration::from_secs(3600));
    let within = client.query("SELECT id FROM orders WHERE id <@ tstzrange($1, $2)", &[&from, &to]).await?;
    assert_eq!(within.len(), 2);
    Ok(())
}

#[tokio::test]
async fn array() -> Result {
    let client = connect("array").await?;
    let related = vec![Ulid::NIL, Ulid::MAX];
    let insert = "INSERT INTO orders (related) VALUES ($1) RETURNING related";
    let stored: Option<Vec<Ulid>> = client.query_one(insert, &[&related]).await?.get(0);
    assert_eq!(stored, Some(related));
    let stored: Option<Vec<Ulid>> = client.query_one(insert, &[&None::<Vec<Ulid>>]).await?.get(0);
    assert_eq!(stored, None);
    Ok(())
}

#[tokio::test]
async fn bulk_load() -> Result {
    let client = connect("bulk_load").await?;
    let ulid = client.prepare("SELECT $1::ulid").await?.params()[0].clone();
    let sink = client.copy_in("COPY orders (id, note) FROM STDIN (FORMAT binary)").await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &[ulid, Type::TEXT]));
    writer.as_mut().write(&[&Ulid::NIL, &"first"]).await?;
    writer.as_mut().write(&[&Ulid::MAX, &"second"]).await?;
    assert_eq!(writer.finish().await?, 2);
    let loaded = client.query("SELECT id FROM orders ORDER BY id", &[]).await?;
    assert_eq!(loaded.iter().map(|row| row.get(0)).collect::<Vec<Ulid>>(), [Ulid::NIL, Ulid::MAX]);
    Ok(())
}

#[tokio::test]
async fn malformed_ids() -> Result {
    let client = connect("malformed").await?;
    for row in client.query("SELECT note, given FROM sample.given", &[]).await? {
        let (note, given): (&str, Option<&str>) = (row.get(0), row.get(1));
        let Ok(id) = given.map(str::parse::<Ulid>).transpose() else { continue };
        let into = if given.is_some() { "id" } else { "customer_id" };
        client.execute(&format!("INSERT INTO orders (note, {into}) VALUES ($1, $2)"), &[&note, &id]).await?;
    }
    client.execute("SELECT sample.compare()", &[]).await?;
    Ok(())
}

/// A string is not of the type that the server reports.
#[tokio::test]
async fn strings() -> Result {
    let client = connect("strings").await?;
    let id: String =
        client.query_one("INSERT INTO orders (note) VALUES ('first') RETURNING id::text", &[]).await?.get(0);
    let error = client.query("SELECT note FROM orders WHERE id = $1", &[&id]).await.unwrap_err();
    assert_eq!(error.to_string(), "error serializing parameter 0");
    let cause = error.source().unwrap().to_string();
    assert_eq!(
        cause,
        "cannot convert between the Rust type `alloc::string::String` and the Postgres type `ulid`"
    );
    let row = client.query_one("SELECT note, id::text FROM orders WHERE id = $1::text::ulid", &[&id]).await?;
    assert_eq!((row.get(0), row.get(1)), ("first", id));
    Ok(())
}

#[test]
fn postgres() -> Result {
    let mut client = postgres::Client::connect(&database("postgres"), NoTls)?;
    let insert = "INSERT INTO orders (note, related) VALUES ('first', $1) RETURNING id";
    let first: Ulid = client.query_one(insert, &[&vec![Ulid::MAX]])?.get(0);
    let row = client.query_one("SELECT note, related FROM orders WHERE id = $1", &[&first])?;
    assert_eq!((row.get(0), row.get(1)), ("first", vec![Ulid::MAX]));
    Ok(())
}
