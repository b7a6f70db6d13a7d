import Ecto.Query
import PgUlid.Ecto.Query

{:ok, _} = Shop.Repo.start_link(types: Shop.RepoTypes, url: System.fetch_env!("DATABASE_URL"))
Ecto.Migrator.run(Shop.Repo, [{1, Shop.CreateOrders}], :up, all: true)

first = Shop.Repo.insert!(%Shop.Order{note: "first"})
Shop.Repo.insert!(%Shop.Order{note: "second", parent_id: first.id, related: [first.id]})
Shop.Repo.all(from order in Shop.Order, where: order.id in ^[first.id], preload: :parent)
Shop.Repo.all(from order in Shop.Order, where: within(order.id, ^~U[2026-01-01 00:00:00Z], nil))
Shop.Repo.all(from order in Shop.Order, where: starts_with(order.id, ^String.slice(first.id, 0, 10)))
Shop.Repo.insert_all(Shop.Order, [[id: "01aryz6s41tsv4rrffq69g5fav", note: "loaded"]])
