\i tests/docs/no_rewrite.sql
