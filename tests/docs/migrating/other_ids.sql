SET timezone = 'UTC';
CREATE TABLE users (id text PRIMARY KEY, name text);
CREATE TABLE post (user_id text NOT NULL REFERENCES users, body text);
INSERT INTO users VALUES ('user_01h455vb4pex5vsknk084sn02q', 'Ada');
INSERT INTO post SELECT id, 'hello' FROM users;
\set crockford 0123456789ABCDEFGHJKMNPQRSTVWXYZ
\set base32hex 0123456789ABCDEFGHIJKLMNOPQRSTUV
\set base58 123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz
