//! diesel, with the feature `diesel`.

use diesel::prelude::*;
use diesel::sql_types::{Array, Bool, Nullable, Text, Timestamptz};
use pg_ulid::Ulid;
use pg_ulid_clients::{Result, database};

mod schema {
    diesel::table! {
        use diesel::sql_types::*;
        use pg_ulid::diesel::*;

        customer (id) {
            id -> Ulid,
            name -> Text,
        }
    }
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
    diesel::joinable!(orders -> customer (customer_id));
    diesel::allow_tables_to_appear_in_same_query!(customer, orders);
}
use schema::{customer, orders};

#[derive(Debug, Identifiable, Insertable, PartialEq, Queryable)]
#[diesel(table_name = orders)]
struct Order {
    id: Ulid,
    customer_id: Option<Ulid>,
    note: Option<String>,
    related: Option<Vec<Ulid>>,
}

fn connect(name: &str) -> ConnectionResult<PgConnection> {
    PgConnection::establish(&database(&format!("diesel_{name}")))
}

#[test]
fn insert_read_list() -> Result {
    let connection = &mut connect("insert")?;
    let ada: Ulid = diesel::insert_into(customer::table)
        .values(customer::name.eq("Ada"))
        .returning(customer::id)
        .get_result(connection)?;
    let mut insert = |note: &str| {
        diesel::insert_into(orders::table)
            .values((orders::customer_id.eq(ada), orders::note.eq(note)))
            .get_result::<Order>(connection)
    };
    let (first, second) = (insert("first")?, insert("second")?);
    assert_eq!(orders::table.find(first.id).first::<Order>(connection)?, first);
    let list = orders::table.filter(orders::id.eq_any([first.id, second.id]));
    assert_eq!(list.count().get_result::<i64>(connection)?, 2);
    let joined = orders::table.inner_join(customer::table).select((orders::id, customer::name));
    assert_eq!(joined.load::<(Ulid, String)>(connection)?.len(), 2);

    let (now, hour) = (time::OffsetDateTime::now_utc(), time::Duration::HOUR);
    let within = diesel::dsl::sql::<Bool>("orders.id <@ tstzrange(")
        .bind::<Timestamptz, _>(now - hour)
        .sql(", ")
        .bind::<Timestamptz, _>(now + hour)
        .sql(")");
    assert_eq!(orders::table.filter(within).count().get_result::<i64>(connection)?, 2);
    Ok(())
}

#[test]
fn array_and_bulk_load() -> Result {
    let connection = &mut connect("array")?;
    let new = [Ulid::NIL, Ulid::MAX].map(|id| Order { id, customer_id: None, note: None, related: None });
    assert_eq!(diesel::insert_into(orders::table).values(&new).execute(connection)?, 2);

    let changed: Order =
        diesel::update(&new[0]).set(orders::related.eq(vec![Ulid::MAX])).get_result(connection)?;
    assert_eq!(changed.related, Some(vec![Ulid::MAX]));
    let contained =
        diesel::dsl::sql::<Bool>("related @> ").bind::<Array<pg_ulid::diesel::Ulid>, _>(vec![Ulid::MAX]);
    assert_eq!(orders::table.filter(contained).select(orders::id).first::<Ulid>(connection)?, Ulid::NIL);
    Ok(())
}

#[test]
fn malformed_ids() -> Result {
    let connection = &mut connect("malformed")?;
    let sample = diesel::dsl::sql::<(Text, Nullable<Text>)>("SELECT note, given FROM sample.given");
    for (note, given) in sample.load::<(String, Option<String>)>(connection)? {
        let insert = diesel::insert_into(orders::table);
        match given.as_deref().map(str::parse::<Ulid>) {
            Some(Ok(id)) => insert.values((orders::note.eq(note), orders::id.eq(id))).execute(connection)?,
            Some(Err(_)) => continue,
            None => insert
                .values((orders::note.eq(note), orders::customer_id.eq(None::<Ulid>)))
                .execute(connection)?,
        };
    }
    diesel::sql_query("SELECT sample.compare()").execute(connection)?;
    Ok(())
}

#[test]
fn strings() -> Result {
    let connection = &mut connect("strings")?;
    let wrong = diesel::dsl::sql::<Bool>("orders.id = ").bind::<Text, _>(Ulid::NIL.to_string());
    let error = orders::table.filter(wrong).count().get_result::<i64>(connection).unwrap_err();
    assert_eq!(error.to_string(), "operator does not exist: ulid = text");
    Ok(())
}
