//! SeaORM, whose columns are strings that it casts.

mod order {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "orders")]
    pub struct Model {
        #[sea_orm(
            primary_key,
            auto_increment = false,
            column_type = "custom(\"ulid\")",
            select_as = "text",
            save_as = "ulid"
        )]
        pub id: String,
        #[sea_orm(column_type = "custom(\"ulid\")", nullable, select_as = "text", save_as = "ulid")]
        pub customer_id: Option<String>,
        #[sea_orm(column_type = "Text", nullable)]
        pub note: Option<String>,
        #[sea_orm(column_type = "custom(\"ulid[]\")", nullable, select_as = "text[]", save_as = "ulid[]")]
        pub related: Option<Vec<String>>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use order::{ActiveModel, Column, Entity as Order};
use pg_ulid_clients::{Result, database};
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, PostgresQueryBuilder};
use sea_orm::{ActiveValue::Set, Database, DbBackend, IntoActiveModel, Schema, Statement};

async fn connect(name: &str) -> std::result::Result<DatabaseConnection, DbErr> {
    Database::connect(database(&format!("sea_orm_{name}"))).await
}

#[tokio::test]
async fn insert_read_list() -> Result {
    let db = connect("insert").await?;
    let insert = "INSERT INTO customer (name) VALUES ('Ada') RETURNING id::text";
    let row = db.query_one_raw(Statement::from_string(DbBackend::Postgres, insert)).await?.unwrap();
    let customer: String = row.try_get_by_index(0)?;
    let order = |note: &str| ActiveModel {
        customer_id: Set(Some(customer.clone())),
        note: Set(Some(note.to_owned())),
        ..Default::default()
    };
    let first = order("first").insert(&db).await?;
    let second = order("second").insert(&db).await?;
    assert_eq!((first.id.len(), &first.customer_id), (26, &Some(customer)));
    let found = Order::find_by_id(first.id.to_lowercase()).one(&db).await?.unwrap();
    assert_eq!(found, first);
    let list = Order::find().filter(Column::Id.is_in([first.id.clone(), second.id.clone()]));
    assert_eq!(list.all(&db).await?.len(), 2);

    let within = "id <@ tstzrange(now() - interval '1 hour', now() + interval '1 hour')";
    assert_eq!(Order::find().filter(Expr::cust(within)).all(&db).await?.len(), 2);

    let mut change = first.into_active_model();
    change.related = Set(Some(vec![second.id.clone()]));
    assert_eq!(change.update(&db).await?.related, Some(vec![second.id]));
    Ok(())
}

#[tokio::test]
async fn bulk_load() -> Result {
    let db = connect("bulk_load").await?;
    let new = ["01ARYZ6S41TSV4RRFFQ69G5FAV", "01ARYZ6S41TSV4RRFFQ69G5FAW"];
    let new = new.map(|id| ActiveModel { id: Set(id.to_owned()), ..Default::default() });
    Order::insert_many(new).exec(&db).await?;
    assert_eq!(Order::find().count(&db).await?, 2);
    Ok(())
}

#[test]
fn create_table() {
    let create =
        Schema::new(DbBackend::Postgres).create_table_from_entity(Order).to_string(PostgresQueryBuilder);
    assert!(create.contains(r#""id" ulid NOT NULL PRIMARY KEY"#), "{create}");
}

#[tokio::test]
async fn malformed_ids() -> Result {
    let db = connect("malformed").await?;
    let sample = Statement::from_string(DbBackend::Postgres, "SELECT note, given FROM sample.given");
    for row in db.query_all_raw(sample).await? {
        let mut order = ActiveModel { note: Set(row.try_get_by_index(0)?), ..Default::default() };
        match row.try_get_by_index(1)? {
            Some(given) => order.id = Set(given),
            None => order.customer_id = Set(None),
        }
        if let Err(error) = order.insert(&db).await {
            assert!(error.to_string().contains("for type ulid"), "{error}");
        }
    }
    db.execute_unprepared("SELECT sample.compare()").await?;
    Ok(())
}

#[tokio::test]
async fn not_cast() -> Result {
    let db = connect("not_cast").await?;
    let id = "01ARYZ6S41TSV4RRFFQ69G5FAV";
    let error = Order::find().filter(Expr::col(Column::Id).eq(id)).all(&db).await.unwrap_err();
    assert!(error.to_string().contains("operator does not exist: ulid = text"), "{error}");
    Ok(())
}
