\echo Use "ALTER EXTENSION ulid_gist UPDATE TO '1.0.0-recheck'" to load this file. \quit

-- This script is empty: the one back to 1.0.0 adds what btree_gist has and the class lacks.
