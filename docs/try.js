// What docs/try.md does: ulid_sql in PGlite, a form for one id, and a prompt. The site has PGlite and ulid_sql.sql beside it.
const element = id => document.getElementById(id);

const examples = {
  'A key, and the time in it': `CREATE TABLE IF NOT EXISTS event (id uuid PRIMARY KEY DEFAULT gen_ulid(), what text NOT NULL);
INSERT INTO event (what) VALUES ('ordered'), ('paid');
SELECT ulid_to_text(id) AS id, what, ulid_extract_timestamp(id) AS created_at FROM event ORDER BY event.id;`,
  'Rows of a period': `CREATE TABLE IF NOT EXISTS visit (id uuid PRIMARY KEY);
INSERT INTO visit SELECT gen_ulid(now() - n * interval '1 hour') FROM generate_series(1, 48) AS n;
SELECT count(*) FROM visit
WHERE id BETWEEN ulid_lower_bound(now() - interval '1 day') AND ulid_upper_bound(now());`,
  'By the first characters': `SELECT ulid_to_text(id) AS id, ulid_starts_with(id, '01ARYZ') AS starts
FROM (VALUES (ulid_from_text('01ARYZ6S41TSV4RRFFQ69G5FAV')), (gen_ulid())) AS v (id);`,
  'Version 7 and TypeID': `SELECT ulid_to_typeid('job', id) AS typeid, ulid_to_text(id) AS short, ulid_extract_timestamp(id) AS time
FROM (VALUES ('01890a5d-ac96-774b-bcce-b302099a8057'::uuid)) AS v (id);`,
  'An error': `SELECT ulid_from_text('01ARYZ6S41TSU4RRFFQ69G5FAV');`,
};

// The database, started once.
let started;
const database = () => (started ??= (async () => {
  element('state').textContent = 'Loading PostgreSQL ...';
  const [{ PGlite }, script] = await Promise.all([
    import('./pglite/index.js'),
    fetch('ulid_sql.sql').then(response => response.text()),
  ]);
  const db = new PGlite();
  await db.exec(`CREATE SCHEMA ulid_sql; SET search_path = ulid_sql; ${script}`);
  await db.exec("SET search_path = public, ulid_sql; SET timezone = 'UTC'");
  element('state').textContent = (await db.query('SELECT version()')).rows[0].version.replace(/ on .*/, '');
  return db;
})());

const shown = value => value === null ? '' : value instanceof Date ? value.toISOString() : String(value);

const table = rows => {
  const table = document.createElement('table');
  for (const row of rows) {
    const line = table.insertRow();
    for (const cell of row) line.insertCell().append(cell);
  }
  return table;
};

const problem = error => {
  const text = document.createElement('pre');
  text.textContent = [`ERROR:  ${error.code ?? ''}  ${error.message}`, error.detail && `DETAIL:  ${error.detail}`,
    error.hint && `HINT:  ${error.hint}`].filter(Boolean).join('\n');
  return text;
};

// Show what a function returns, or its error, unless a later call has begun meanwhile.
const calls = new Map();
const show = async (place, make) => {
  const call = Symbol();
  calls.set(place, call);
  const result = await make().catch(problem);
  if (calls.get(place) === call) element(place).replaceChildren(result);
};

const forms = id => show('forms', async () => {
  const read = id.includes('_') ? 'ulid_from_typeid' : 'ulid_from_text';
  const { rows: [form] } = await (await database()).query(
    `SELECT ulid_to_text(id) AS "ULID", id::text AS "UUID",
            to_char(ulid_extract_timestamp(id), 'YYYY-MM-DD HH24:MI:SS.MS"Z"') AS "time",
            ulid_to_uuid_v7(id)::text AS "as a version 7 UUID", ulid_to_typeid('id', id) AS "TypeID"
     FROM (SELECT ${read}($1) AS id) AS q`, [id]);
  return table(Object.entries(form));
});

const run = sql => show('result', async () => {
  const results = await (await database()).exec(sql);
  const { fields, rows } = results.findLast(({ fields }) => fields.length) ?? { fields: [], rows: [] };
  return fields.length ? table([fields.map(({ name }) => name), ...rows.map(row => fields.map(({ name }) => shown(row[name])))])
    : document.createTextNode('done');
});

element('id').addEventListener('input', event => forms(event.target.value.trim()));
element('new').addEventListener('click', async () => {
  element('id').value = (await (await database()).query('SELECT ulid_to_text(gen_ulid()) AS id')).rows[0].id;
  forms(element('id').value);
});
element('example').append(...Object.keys(examples).map(name => new Option(name)));
element('example').addEventListener('change', event => { element('sql').value = examples[event.target.value]; });
element('sql').value = Object.values(examples)[0];
// the keys of mdBook, such as the arrows, are for other places
for (const id of ['id', 'sql', 'example']) element(id).addEventListener('keydown', event => event.stopPropagation());
element('run').addEventListener('click', () => run(element('sql').value));
forms(element('id').value);
