//! The ids of `clients/cases.sql` through each driver, in the database that `DATABASE_URL` names.

use std::error::Error;

use diesel::sql_types::{Nullable, Text};
use diesel::{Connection, RunQueryDsl};
use pg_ulid::Ulid;
use tokio_postgres::NoTls;

type Result = std::result::Result<(), Box<dyn Error>>;

const IDS: [Ulid; 2] = [Ulid::NIL, Ulid::MAX];
const INSERT: &str = "INSERT INTO orders (note, id) SELECT $1, coalesce($2, gen_ulid())";

#[test]
fn diesel() -> Result {
    let mut connection = diesel::PgConnection::establish(&std::env::var("DATABASE_URL")?)?;
    connection.begin_test_transaction()?;
    let sample = diesel::dsl::sql::<(Text, Nullable<Text>)>("SELECT note, given FROM cases.given");
    for (note, given) in sample.load::<(String, Option<String>)>(&mut connection)? {
        let Ok(id) = given.map(|given| given.parse::<Ulid>()).transpose() else {
            continue;
        };
        let insert = diesel::sql_query(INSERT).bind::<Text, _>(note);
        insert
            .bind::<Nullable<pg_ulid::diesel::Ulid>, _>(id)
            .execute(&mut connection)?;
    }
    diesel::sql_query("SELECT cases.compare()").execute(&mut connection)?;
    let wrong = diesel::sql_query("SELECT gen_ulid() = $1").bind::<Text, _>(Ulid::NIL.to_string());
    let error = wrong.execute(&mut connection).unwrap_err();
    assert_eq!(error.to_string(), "operator does not exist: ulid = text");
    Ok(())
}

#[tokio::test]
async fn sqlx() -> Result {
    let pool = sqlx::PgPool::connect(&std::env::var("DATABASE_URL")?).await?;
    let mut transaction = pool.begin().await?;
    let sample: Vec<(String, Option<String>)> =
        sqlx::query_as("SELECT note, given FROM cases.given")
            .fetch_all(&mut *transaction)
            .await?;
    for (note, given) in sample {
        let Ok(id) = given.map(|given| given.parse::<Ulid>()).transpose() else {
            continue;
        };
        sqlx::query(INSERT)
            .bind(note)
            .bind(id)
            .execute(&mut *transaction)
            .await?;
    }
    sqlx::query("SELECT cases.compare()")
        .execute(&mut *transaction)
        .await?;
    let arrays: (Vec<Ulid>, Option<Vec<Ulid>>) = sqlx::query_as("SELECT $1::ulid[], $2::ulid[]")
        .bind(&IDS[..])
        .bind(None::<Vec<Ulid>>)
        .fetch_one(&pool)
        .await?;
    assert_eq!(arrays, (IDS.to_vec(), None));

    // a str is sent as text, and a connection keeps the types of the first parameters of a
    // statement
    let mut connection = pool.acquire().await?;
    let message = |error: sqlx::Error| error.as_database_error().unwrap().message().to_owned();
    let error = sqlx::query("SELECT gen_ulid() = $1")
        .bind("first")
        .execute(&mut *connection)
        .await
        .unwrap_err();
    assert_eq!(message(error), "operator does not exist: ulid = text");
    let query = "SELECT note FROM orders WHERE id = $1::ulid";
    sqlx::query(query)
        .bind(Ulid::NIL.to_string())
        .execute(&mut *connection)
        .await?;
    let error = sqlx::query(query)
        .bind(Ulid::MAX)
        .execute(&mut *connection)
        .await
        .unwrap_err();
    assert!(message(error).starts_with("invalid byte sequence for encoding \"UTF8\""));
    Ok(())
}

#[tokio::test]
async fn tokio_postgres() -> Result {
    let (mut client, connection) =
        tokio_postgres::connect(&std::env::var("DATABASE_URL")?, NoTls).await?;
    tokio::spawn(connection);
    let transaction = client.transaction().await?;
    for row in transaction
        .query("SELECT note, given FROM cases.given", &[])
        .await?
    {
        let (note, given): (&str, Option<&str>) = (row.get(0), row.get(1));
        let Ok(id) = given.map(str::parse::<Ulid>).transpose() else {
            continue;
        };
        transaction.execute(INSERT, &[&note, &id]).await?;
    }
    transaction.execute("SELECT cases.compare()", &[]).await?;
    let row = transaction
        .query_one(
            "SELECT $1::ulid[], $2::ulid[]",
            &[&&IDS[..], &None::<Vec<Ulid>>],
        )
        .await?;
    assert_eq!(
        (
            row.get::<_, Vec<Ulid>>(0),
            row.get::<_, Option<Vec<Ulid>>>(1)
        ),
        (IDS.to_vec(), None)
    );
    // a uuid and a text have the same value
    let row = transaction
        .query_one("SELECT $1::uuid, $1::uuid::ulid::text", &[&Ulid::MAX])
        .await?;
    assert_eq!((row.get(0), row.get(1)), (Ulid::MAX, Ulid::MAX));

    let error = transaction
        .query("SELECT gen_ulid() = $1", &[&"first"])
        .await
        .unwrap_err();
    let cause = error.source().unwrap().to_string();
    assert_eq!(
        cause,
        "cannot convert between the Rust type `&str` and the Postgres type `ulid`"
    );
    Ok(())
}
