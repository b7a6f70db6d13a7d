CREATE TABLE consumer (last_id ulid);
