\echo Use "ALTER EXTENSION ulid UPDATE TO '0.2.0'" to load this file. \quit
