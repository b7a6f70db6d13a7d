#!/usr/bin/env bash
# Print the SQL command that installs the extension ulid_sql into a database with pg_tle, where
# files cannot be copied to the server.
set -eu
cd "$(dirname "$0")/../sql"
value() { sed -n "s/^$1 = \(.*\)/\1/p" ulid_sql.control; }
cat << END
SELECT pgtle.install_extension('ulid_sql', $(value default_version), $(value comment),
\$script\$
$(cat ulid_sql.sql)
\$script\$, ARRAY[$(value requires)]);
END
