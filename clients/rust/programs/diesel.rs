use diesel::{
    prelude::*,
    sql_types::{Bool, Timestamptz},
};
use pg_ulid::Ulid;

diesel::table! {
    use diesel::sql_types::*;
    use pg_ulid::diesel::*;

    orders (id) {
        id -> Ulid,
        customer_id -> Nullable<Ulid>,
        note -> Nullable<Text>,
        related -> Nullable<Array<Ulid>>,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut connection = PgConnection::establish(&std::env::var("DATABASE_URL")?)?;
    connection.begin_test_transaction()?;
    let insert = diesel::insert_into(orders::table).values((
        orders::note.eq("first"),
        orders::related.eq(vec![Ulid::MAX]),
    ));
    let first: Ulid = insert.returning(orders::id).get_result(&mut connection)?;
    let (customer, related) = orders::table
        .find(first)
        .select((orders::customer_id, orders::related))
        .first::<(Option<Ulid>, Option<Vec<Ulid>>)>(&mut connection)?;
    assert_eq!((customer, related), (None, Some(vec![Ulid::MAX])));
    let hour_ago = time::OffsetDateTime::now_utc() - time::Duration::HOUR;
    let within = diesel::dsl::sql::<Bool>("id <@ tstzrange(")
        .bind::<Timestamptz, _>(hour_ago)
        .sql(", NULL)");
    let list = orders::table
        .filter(orders::id.eq_any([first]))
        .filter(within);
    assert_eq!(list.count().get_result::<i64>(&mut connection)?, 1);
    Ok(())
}
