\echo Use "ALTER EXTENSION ulid_gist UPDATE TO '1.0.0-recheck'" to load this file. \quit

-- Nothing: the way back to 1.0.0 makes what btree_gist has and the class lacks.
