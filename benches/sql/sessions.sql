-- Generating ids in 1, 2, 4 and 8 sessions at once, for two seconds each: wall-clock nanoseconds
-- per id, with the scan.
\timing off
\setenv BENCH_GENERATOR :generator
\setenv BENCH_ROWS :rows
\! for n in 1 2 4 8; do PGOPTIONS='-c max_parallel_workers_per_gather=0 -c jit=off' pgbench -n -c $n -j 2 -T 2 -D generator="$BENCH_GENERATOR" -f benches/sql/sessions.pgbench 2> /dev/null | awk -v n=$n '/^tps/ { print "measure sessions_ns", n, 1e9 / $3 / ENVIRON["BENCH_ROWS"] }'; done
\timing on
