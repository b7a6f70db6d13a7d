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
        #[sea_orm(column_type = "Text", nullable)]
        pub note: Option<String>,
        #[sea_orm(
            column_type = "custom(\"ulid[]\")",
            nullable,
            select_as = "text[]",
            save_as = "ulid[]"
        )]
        pub related: Option<Vec<String>>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use order::{ActiveModel, Column, Entity as Order};
use sea_orm::{ActiveValue::Set, Database, TransactionTrait, entity::prelude::*};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let db = Database::connect(std::env::var("DATABASE_URL")?)
        .await?
        .begin()
        .await?;
    let id = "01aryz6s41tsv4rrffq69g5fav".to_owned();
    let order = ActiveModel {
        note: Set(Some("first".to_owned())),
        related: Set(Some(vec![id])),
        ..Default::default()
    };
    let first = order.insert(&db).await?;
    assert_eq!(
        first.related,
        Some(vec!["01ARYZ6S41TSV4RRFFQ69G5FAV".to_owned()])
    );
    assert_eq!(
        Order::find_by_id(first.id.to_lowercase()).one(&db).await?,
        Some(first.clone())
    );
    let recent = Expr::cust("id <@ tstzrange(now() - interval '1 hour', NULL)");
    let list = Order::find()
        .filter(Column::Id.is_in([first.id]))
        .filter(recent);
    assert_eq!(list.all(&db).await?.len(), 1);
    Ok(())
}
