// The name is a placeholder until the first release: see CONTRIBUTING.md, also about go.sum.
module pgulid

go 1.25.0

require (
	github.com/google/uuid v1.6.0
	github.com/jackc/pgx/v5 v5.9.2
	github.com/lib/pq v1.10.9
	github.com/oklog/ulid/v2 v2.1.1
	gorm.io/driver/postgres v1.6.0
	gorm.io/gorm v1.31.1
)
