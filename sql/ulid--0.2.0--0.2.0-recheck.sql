\echo Use "ALTER EXTENSION ulid UPDATE TO '0.2.0-recheck'" to load this file. \quit

-- Nothing: the way back to 0.2.0 makes what the server has and the database lacks.
