# The statements that are run, and a case: settings, what is created before, and the statements.
package PlannerFuzz::Statements;
use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use List::Util 'shuffle';
use PlannerFuzz::Grammar;
use PlannerFuzz::Random;
use PlannerFuzz::Schema;
use PlannerFuzz::Tree;

our @EXPORT = qw(make_case);

# what is run
shape(statement => 'query',             20, sub { top_query() });
shape(statement => 'prepared',          8,  \&statement_prepared);
shape(statement => 'PL/pgSQL function', 2,  sub { statement_function('plpgsql') });
shape(statement => 'SQL function',      2,  sub { statement_function('sql') });
shape(
    statement => 'cursor',
    1,
    sub {
        (all('DECLARE c ', one_of('', 'SCROLL '), 'CURSOR FOR ', top_query()), 'FETCH ALL FROM c')
    });
shape(statement => 'COPY', 1, sub { all('COPY (', top_query(), ') TO STDOUT') });
shape(
    statement => 'CREATE TABLE AS',
    1, sub { (all('CREATE TEMP TABLE made AS ', top_query()), 'SELECT * FROM made') });
shape(
    statement => 'materialized view',
    1,
    sub {
        $case->{is_stored} = 1;
        (   all('CREATE MATERIALIZED VIEW made AS ', top_query()),
            'REFRESH MATERIALIZED VIEW made',
            'SELECT * FROM made');
    });
shape(statement => 'view with check',    1, \&statement_checked_view);
shape(statement => 'window called once', 3, \&statement_once);
shape(statement => 'foreign partitions', 5, \&statement_foreign_partitions);
shape(statement => 'change',             6, sub { pick('change', place()) });
shape(
    change => 'INSERT',
    1,
    sub {
        my $table = target();
        modify($table, all("INSERT INTO $table AS x (id, n, w, b, t) ", query(within(place(), 0))));
    });
shape(change => 'UPDATE', 2, sub { update(target()) });
shape(
    change => 'UPDATE FROM',
    2,
    sub {
        my $table = target();
        my ($from, $in) = from(place(), 2);
        my $at = seeing($in, relation('x', 1));
        modify(
            $table,
            all("UPDATE $table x SET ",
                new_values(changed_row()),
                ' FROM ',
                $from,
                conditions('WHERE', $at)));
    });
shape(change => 'DELETE', 1, sub { delete_from(target()) });
shape(
    change => 'DELETE USING',
    2,
    sub {
        my $table = target();
        my ($from, $in) = from(place(), 2);
        modify(
            $table,
            all("DELETE FROM $table x USING ",
                $from, conditions('WHERE', seeing($in, relation('x', 1)))));
    });
shape(change    => 'MERGE',                                    4, \&statement_merge);
shape(change    => 'foreign partitions',                       1, \&change_foreign_partitions);
shape(statement => 'ON CONFLICT',                              3, \&statement_on_conflict);
shape(statement => 'ON CONFLICT on a predicate or expression', 4, \&statement_arbiter);
shape(statement => 'trigger WHEN',                             3, \&statement_trigger);
shape(statement => 'policy',                                   3, \&statement_policy);
shape(statement => 'partial index',                            3, sub { statement_index(1) });
shape(statement => 'expression index',                         3, sub { statement_index(0) });
shape(statement => 'generated column',                         2, \&statement_generated);
shape(statement => 'check constraint',                         2, \&statement_check);
shape(statement => 'statistics',                               1, \&statement_statistics);
shape(statement => 'rule',                                     1, \&statement_rule);
shape(statement => 'foreign key',                              4, \&statement_foreign_key);
shape(statement => 'cached plan of several roles',             4, \&statement_roles);
shape(statement => 'virtual column',                           2, from => 18, \&statement_virtual);

# Statements that run before, and settings for the case.
sub before  { push @{ $case->{before} },   @_ }
sub setting { push @{ $case->{settings} }, @_ }

# The table that the case is about.
sub chosen_table { $case->{table} = one_of(@TABLES) }

# One to change.
sub target { $case->{table} // one_of(@TABLES) }

# The contents of a table, which a change is compared by.
sub contents { "SELECT tableoid::regclass, * FROM $_[0]" }

# A place that sees the row to be changed, x.
sub changed_row { row(relation('x', 1), @_) }

# A change of a table, then its contents.
sub modify
{
    my ($table, $node) = @_;
    $case->{explained} //= $node;
    $case->{changes} = 1;
    my $returning = several(' RETURNING ', ', ', 0, 'x.*', test(changed_row()));
    return (all($node, $returning), contents($table));
}

sub update { my ($table, %option) = @_; modify($table, updating($table, changed_row(), %option)) }

sub delete_from
{
    my ($table) = @_;
    modify($table, all("DELETE FROM $table x", conditions('WHERE', changed_row())));
}

# A test that is the same in all places, of constants and columns of the table.
sub constant_test
{
    my ($id) = @_;
    my ($window, $prefix) =
      (quoted(random_range()) . '::tstzrange', quoted(random_prefix()) . '::text');
    push @{ $case->{windows} },  $window;
    push @{ $case->{prefixes} }, $prefix;
    return chance(0.3)
      ? tested('prefix',              $id, $prefix)
      : tested(one_of(@WINDOW_FORMS), $id, $window);
}

# Each generator returns the statements that run one after another

sub statement_prepared
{
    my $types = $case->{parameters} = [];
    my ($statement, @after) = chance(0.25) ? pick('change', place()) : top_query();
    my @execute = map { 'EXECUTE p' . arguments($types) } 1 .. 1 + rand 7;
    delete $case->{explained};
    my @explain =
      chance(0.3) ? one_of('EXPLAIN ', 'EXPLAIN (VERBOSE, COSTS OFF) ') . $execute[0] : ();
    my $prepare = @$types ? 'PREPARE p(' . join(', ', @$types) . ') AS ' : 'PREPARE p AS ';
    return (all($prepare, $statement), @explain, @execute, @after);
}

sub statement_function
{
    my ($language) = @_;
    my $types      = $case->{parameters} = [];
    my $query      = top_query();
    delete $case->{explained};
    my @body = ('SELECT q::text FROM (', $query, ') q');
    @body = ('BEGIN RETURN QUERY ', @body, '; END') if $language eq 'plpgsql';
    return (
        all('CREATE FUNCTION pg_temp.run(',
            join(', ', @$types),
            ") RETURNS SETOF text LANGUAGE $language ",
            one_of('STABLE', 'VOLATILE'),
            ' AS $f$ ', @body, ' $f$'),
        map { my $arguments = arguments($types) || '()'; "SELECT * FROM pg_temp.run$arguments" }
          1 .. 1 + rand 6);
}

# A table, and the columns that identify its rows.
sub keyed_table
{
    my $table = one_of(qw(plain second by_range by_range_sub by_range_twin));
    return ($table, $table eq 'by_range_sub' ? 'id, n' : 'id');
}

# Source rows for the table's own ids and some more, each id once.
sub conflicting
{
    my ($table) = @_;
    my $new = quoted(ulid(EPOCH_MS + rand(DAYS) * DAY_MS));
    return "SELECT y.id, y.n + 50, y.w, y.b, 'new' FROM $table y WHERE y.id IS NOT NULL"
      . " UNION ALL SELECT $new\::ulid, 1, NULL, NULL, 'more'";
}

sub insert_or
{
    my ($table, $source, $arbiter) = @_;
    my $action = chance(0.3) ? 'NOTHING' : all(
        'UPDATE SET n = excluded.n',
        one_of('', ', t = excluded.t'),
        conditions('WHERE', changed_row(relation('excluded', 1))));
    return modify(
        $table,
        all("INSERT INTO $table AS x (id, n, w, b, t) ",
            $source,  ' ON CONFLICT ',
            $arbiter, ' DO ', $action));
}

sub statement_on_conflict
{
    my ($table, $key) = keyed_table();
    before("CREATE UNIQUE INDEX ON $table ($key)");
    my $source = all(
        'SELECT * FROM (',
        conflicting($table),
        ') y (id, n, w, b, t)',
        conditions('WHERE', row(relation('y'))));
    return insert_or($table, $source, "($key)");
}

sub statement_arbiter
{
    my ($table, $key) = keyed_table();
    my $test    = constant_test('id');
    my $arbiter = chance(0.5) ? all("($key) WHERE (", $test, ')') : all("($key, (", $test, '))');
    before(all("CREATE UNIQUE INDEX ON $table ", $arbiter));
    $arbiter = all($arbiter, ' AND n > 3') if sql($arbiter) =~ /WHERE/ && chance(0.3);
    return insert_or($table, conflicting($table), $arbiter);
}

sub statement_merge
{
    my $table = target();
    my ($in_x, $in_s, $in_both) = (changed_row(), row(relation('s')), changed_row(relation('s')));
    my $source =
        'SELECT DISTINCT ON (n) id, n, w, b, t FROM '
      . one_of(@TABLES)
      . ' WHERE n IS NOT NULL ORDER BY n, id, w, b, t';
    my $and = sub {
        my ($at, $least) = @_;
        several(' AND ', ' AND ', 0, map { condition($at) } 1 .. $least + rand 2);
    };
    my $update =
      sub { one_of('UPDATE SET n = s.n + 20, t = s.t', all('UPDATE SET ', new_values($in_x))) };

    # without a condition, WHEN MATCHED can only be the last one
    my @when = map {
        all(' WHEN MATCHED',
            $and->($in_both, $_),
            ' THEN ', one_of('DELETE', 'DO NOTHING', $update->()))
      }
      reverse 0 .. rand 2;
    push @when,
      all(
        ' WHEN NOT MATCHED',
        $and->($in_s, 0),
        ' THEN INSERT (id, n, w, b, t) VALUES (s.id, s.n, s.w, ',
        test($in_s), ', s.t)') if chance(0.6);
    push @when,
      all(
        ' WHEN NOT MATCHED BY SOURCE',
        $and->($in_x, 0),
        ' THEN ', one_of('DELETE', 'UPDATE SET n = 99')) if $version >= 17 && chance(0.5);
    my $on = all('x.n = s.n', $and->($in_both, 0));
    my $merge = all("MERGE INTO $table x USING ($source) s ON ", $on, several('', '', 1, @when));
    $case->{explained} //= $merge;
    $case->{changes} = 1;
    my @returned = $version >= 17 ? ('merge_action()', 'x.id', test($in_both)) : ();
    return (all($merge, several(' RETURNING ', ', ', 0, @returned)), contents($table));
}

sub statement_trigger
{
    my $table = chosen_table();
    my @ids   = ('NEW.id', 'OLD.id', 'NEW.id', 'NEW.did', '(NEW.c).id');
    my $when  = one_of('BEFORE', 'AFTER');
    before(
        all("CREATE TRIGGER noted $when UPDATE ON $table FOR EACH ROW WHEN (",
            condition(row({ id => \@ids, window => [ 'NEW.w', 'OLD.dw' ], number => ['NEW.n'] })),
            ') EXECUTE FUNCTION note()'));
    return (update($table), 'TABLE notes');
}

sub statement_policy
{
    my $table = chosen_table();
    my $row   = { id => [ 'id', 'id', 'did', '(c).id' ], window => [ 'w', 'dw' ], number => ['n'] };
    my $using = sub { condition(row($row)) };
    before(
        "ALTER TABLE $table ENABLE ROW LEVEL SECURITY",
        all("CREATE POLICY shown ON $table USING (",
            $using->(), ')', chance(0.5) ? all(' WITH CHECK (', $using->(), ')') : ()));
    $case->{role} = 1;
    return chance(0.7) ? top_query() : pick('change', place());
}

sub statement_index
{
    my ($partial) = @_;
    my $table     = chosen_table();
    my $test      = constant_test(one_of('id', 'id', 'id', 'did', '(c).id'));
    my $columns   = one_of('id',   'id DESC', 'n', 'n, id', 'did', '((c).id), n');
    my $on        = one_of($table, partitions($table));
    my $nested    = one_of(
        $test, $test,
        all('NOT ',      $test),
        all('n > 6 OR ', $test),
        all('(',         $test, ') IS NOT TRUE'));
    before(
        $partial
        ? all("CREATE INDEX ON $on ($columns) WHERE (", $nested, ')')
        : all("CREATE INDEX ON $on ((", $nested, ')', one_of('', ", $columns"), ')'));
    before("ANALYZE $table")        if chance(0.5);
    setting('enable_seqscan = off') if chance(0.7);
    return top_query();
}

# A table with foreign partitions, tested with parameters, outer columns and constants.
sub statement_foreign_partitions
{
    my $table = $case->{foreign} = one_of(@FOREIGN) or return;
    my $id    = 'f.' . key_of($table);
    return statement_prepared() if chance(0.2);
    return top_query()          if chance(0.2);
    if (chance(0.5))
    {    # outer columns
        my $test =
            chance(0.3)
          ? tested('prefix',              $id, "left(x.id::text, 4)")
          : tested(one_of(@WINDOW_FORMS), $id, one_of('x.w', window(changed_row())));
        my $at = changed_row({ %{ relation('f', 1) }, key => key_of($table) });
        return all(
            "SELECT x.id, x.n, (SELECT count(*) FROM $table f WHERE ",
            $test,     conditions('AND', $at),
            ') FROM ', either(one_of('plain', 'by_range', 'second'), 'plain'), ' x');
    }
    my $types = $case->{parameters} = [];
    setting('plan_cache_mode = force_generic_plan') if chance(0.7);
    my $parameter = parameter(one_of('tstzrange', 'text'));
    my $test = tested($types->[0] eq 'text' ? 'prefix' : one_of(@WINDOW_FORMS), $id, $parameter);
    my $query =
      all("SELECT * FROM $table f WHERE ", $test, conditions('AND', row(relation('f', 1))));
    return (
        all('PREPARE p(', join(', ', @$types), ') AS ', $query),
        map { 'EXECUTE p' . arguments($types) } 1 .. 3);
}

# A change that the foreign server may do by itself.
sub change_foreign_partitions
{
    my $table = one_of(@FOREIGN) or return;
    return chance(0.5) ? update($table, same_id => 1) : delete_from($table);
}

sub statement_generated
{
    my $table = chosen_table();
    before(
        all("ALTER TABLE $table ADD g boolean GENERATED ALWAYS AS (",
            constant_test('id'), ') STORED'));
    return (modify($table, updating($table, changed_row({ truth => ['x.g'] }))), top_query());
}

sub statement_check
{
    my $table = chosen_table();
    my $test  = constant_test('id');
    before(all("DELETE FROM $table WHERE NOT (", $test, ')'),
        all("ALTER TABLE $table ADD CONSTRAINT checked CHECK (", $test, ')'));
    setting('constraint_exclusion = on');
    return (top_query(),
        "INSERT INTO $table (id) VALUES (" . quoted(random_ulid()) . ') RETURNING id');
}

sub statement_statistics
{
    my $table = chosen_table();
    before(all('CREATE STATISTICS counted ON (', constant_test('id'), "), n FROM $table"),
        "ANALYZE $table");
    return top_query();
}

sub statement_rule
{
    my $table = chosen_table();
    my $row   = {
        id     => [ 'NEW.id', 'OLD.id', 'NEW.did' ],
        window => [ 'NEW.w',  'OLD.dw' ],
        number => ['NEW.n']
    };
    before(
        all("CREATE RULE noted AS ON UPDATE TO $table WHERE ",
            condition(row($row)),
            " DO ALSO INSERT INTO notes VALUES ('rule', OLD.id, NEW.n)"));
    return (updating($table, changed_row()), contents($table), 'TABLE notes');
}

# A key and what references it, as ulid or as uuid; actions on many rows.
sub statement_foreign_key
{
    my ($key, $reference) =
      @{ one_of(([ 'ulid', 'uuid' ]) x 2, [ 'ulid', 'identifier_uuid' ], [ 'ulid', 'ulid' ]) };
    my ($on_delete, $on_update) =
      map { one_of('CASCADE', 'CASCADE', 'SET NULL', 'RESTRICT') } 1 .. 2;
    my $references = "REFERENCES parent ON DELETE $on_delete ON UPDATE $on_update";
    my ($by, @partitions) = '';
    if (chance(0.3))
    {
        my $middle = quoted(bound(int rand DAYS)) . "::ulid::$reference";
        $by         = ' PARTITION BY RANGE (ref)';
        @partitions = (
            "CREATE TEMP TABLE child_1 PARTITION OF child FOR VALUES FROM (MINVALUE) TO ($middle)",
            "CREATE TEMP TABLE child_2 PARTITION OF child FOR VALUES FROM ($middle) TO (MAXVALUE)",
            'CREATE TEMP TABLE child_0 PARTITION OF child DEFAULT');
    }
    my $index = one_of('btree (ref)', 'btree (ref)', 'hash (ref)', 'btree (ref, n)', 'brin (ref)');
    before(
        "CREATE TEMP TABLE parent (id $key PRIMARY KEY)",
        "INSERT INTO parent SELECT DISTINCT id::ulid::$key FROM plain WHERE id IS NOT NULL",
        "CREATE TEMP TABLE child (ref $reference $references, n int)$by",
        @partitions,
        "INSERT INTO child SELECT id::ulid::$reference, n FROM plain",
        tested('index', 'child', $index),
        'ANALYZE child');
    setting('enable_seqscan = off') if chance(0.7);
    $case->{changes} = 1;
    my ($id, $offset) = (quoted(random_ulid()), int rand 20);
    return shuffle(
        all("DELETE FROM parent WHERE id IN (SELECT id::ulid::$key FROM plain WHERE n % ",
            2 + int rand 5,
            ' = 0)'),
        "UPDATE parent SET id = $id\::ulid::$key
            WHERE id = (SELECT id FROM parent ORDER BY id LIMIT 1 OFFSET $offset)",
        'TABLE parent',
        'TABLE child',
        "INSERT INTO child VALUES ($id\::ulid::$reference)",
        "INSERT INTO child SELECT id\::ulid::$reference FROM parent");
}

# Roles that may execute different functions take turns with one plan.
sub statement_roles
{
    # not the operators' functions, which core itself calls when it plans a query on a partition of
    # a partition
    my @functions = grep { chance(0.3) } (
        'public.ulid_range_lower(tstzrange)', 'public.ulid_range_upper(tstzrange)',
        'public.ulid_starts_with_lower(text)', 'public.ulid_starts_with_upper(text)',
        'public.ulid_starts_with_check(public.ulid, text)');
    before('REVOKE EXECUTE ON FUNCTION ' . join(', ', @functions) . ' FROM PUBLIC') if @functions;
    setting('plan_cache_mode = force_generic_plan')                                 if chance(0.7);
    my ($prepare, @others) = statement_prepared();
    return ($prepare, map { ($_, 'SET LOCAL ROLE ' . one_of('fuzz_reader', 'NONE')) } @others);
}

# A column that is computed when it is read: the planner sees its expression.
sub statement_virtual
{
    my $table      = chosen_table();
    my $expression = one_of('u', 'coalesce(u, du)', 'CASE WHEN n > 3 THEN u END');
    before("ALTER TABLE $table ADD g uuid GENERATED ALWAYS AS ($expression) VIRTUAL");
    my $at = changed_row({ id => [ ('x.g') x 12 ], uuid => [ ('x.g') x 6 ] });
    return (all('SELECT x.id, x.n, x.g, ', test($at), " FROM $table x WHERE ", condition($at)),
        top_query());
}

sub statement_checked_view
{
    my $table = chosen_table();
    my $at    = changed_row();
    before(
        all("CREATE TEMP VIEW checked AS SELECT * FROM $table x WHERE ",
            condition($at),
            one_of('', ' WITH CHECK OPTION'),
            '; GRANT ALL ON checked TO fuzz_reader'));
    my ($change) = modify($table, updating('checked', $at));
    return ($change, 'SELECT * FROM checked', "SELECT * FROM $table");
}

# A sub-select must run once per query: each call of this function returns another window, and is
# counted.
sub statement_once
{
    my $table = one_of(@TABLES);
    $case->{explained} = '';
    my $id   = one_of('x.id', 'x.id', 'x.id', 'x.did', 'x.u');
    my $test = tested(one_of(@WINDOW_FORMS), $id, '(SELECT counted_window())');
    return (
        all("SELECT x.id, x.n FROM $table x WHERE ", $test),
        "SELECT current_setting('fuzz.calls', true)");
}

#
# A case
#

my @OFTEN_ON =
  qw(seqscan indexscan indexonlyscan bitmapscan hashjoin mergejoin nestloop hashagg sort
  incremental_sort
  material memoize partition_pruning gathermerge parallel_append);
my @OFTEN_OFF = qw(partitionwise_join partitionwise_aggregate);

sub make_settings
{
    my @settings = (
        (map { "enable_$_ = off" } grep { chance(0.12) } @OFTEN_ON),
        (map { "enable_$_ = on" } grep { chance(0.4) } @OFTEN_OFF));
    push @settings,
      'plan_cache_mode = ' . one_of(qw(force_generic_plan force_generic_plan force_custom_plan))
      if chance(0.6);
    push @settings,
      map { "$_ = 0" }
      qw(parallel_setup_cost parallel_tuple_cost min_parallel_table_scan_size
      min_parallel_index_scan_size) if chance(0.25);
    push @settings, ($version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode') . ' = on'
      if chance(0.1);
    push @settings, one_of('from_collapse_limit', 'join_collapse_limit') . ' = 1' if chance(0.1);
    push @settings, 'geqo_threshold = 2'                                          if chance(0.05);
    push @settings, 'constraint_exclusion = on'                                   if chance(0.1);
    push @settings, 'random_page_cost = 0.01'                                     if chance(0.2);
    push @settings, 'work_mem = 64'                                               if chance(0.05);
    return @settings;
}

# Make case $number of a seed: a tree of three lists of statements.
sub make_case
{
    my ($seed, $number) = @_;
    srand(($seed * 100003 + $number) % 2147483647);
    $case =
      { before => [], relations => 0, names => 0, used => {}, settings => [], prefixes => [] };
    my @statements = pick('statement', place());

    # for a change only the plan, as it must not run twice
    if ($case->{explained} && chance(0.25))
    {
        my @options = ('', '(VERBOSE, FORMAT JSON) ');
        push @options, '(ANALYZE, TIMING OFF) ', '(ANALYZE, VERBOSE, BUFFERS) '
          if !$case->{changes};
        unshift @statements, all('EXPLAIN ', one_of(@options), $case->{explained});
    }
    unshift @statements, 'SET LOCAL ROLE fuzz_reader' if $case->{role} || chance(0.1);
    return several(
        '', '', 3,
        several('', '', 0, map { "SET LOCAL $_" } make_settings(), @{ $case->{settings} }),
        several('', '', 0, @{ $case->{before} }),
        several('', '', 1, @statements));
}

1;
