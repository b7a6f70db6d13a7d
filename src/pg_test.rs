//! What only Rust inside a backend can test. Everything else is tested as SQL in
//! `tests/pg_regress`.

/// The settings of the test server: none. `#[pg_test]` calls this and `setup` by name.
#[cfg(test)]
pub fn postgresql_conf_options() -> Vec<&'static str> {
    Vec::new()
}

/// What is done before the tests: nothing.
#[cfg(test)]
pub fn setup(_options: Vec<&str>) {}

#[pgrx::pg_schema]
#[allow(
    clippy::unwrap_used,
    reason = "tests that are compiled into the library"
)]
mod tests {
    use std::time::Duration;

    use pgrx::prelude::*;

    use crate::ordered::shmem;
    use crate::{SIGNATURES, generate::test_support as generator};
    use pg_ulid::{Time, Ulid, ordered};

    /// The result of `query` as text.
    fn text(query: &str) -> String {
        Spi::get_one(query).unwrap().unwrap()
    }

    fn gen_monotonic_ulid() -> Ulid {
        text("SELECT gen_monotonic_ulid()::text").parse().unwrap()
    }

    /// `SIGNATURES` has the signatures of `export!`. The install script is written by hand, so this
    /// test keeps SQL and Rust consistent.
    #[pg_test]
    fn each_c_function_has_the_signature_that_rust_exports() {
        let mut exported: Vec<_> = SIGNATURES
            .iter()
            .map(|(symbol, arguments, result, is_strict)| {
                let strict = if *is_strict { " strict" } else { "" };
                // An Fcinfo, whose SQL type is empty, is no argument in SQL.
                let arguments = arguments.iter().filter(|argument| !argument.is_empty());
                let arguments: Vec<_> = arguments.copied().collect();
                format!("{symbol}({}) -> {result}{strict}", arguments.join(", "))
            })
            .collect();
        exported.sort();
        let declared = text(
            "SELECT string_agg(
                 format('%s(%s) -> %s%s', prosrc, arguments, format_type(prorettype, NULL),
                        CASE WHEN proisstrict THEN ' strict' END),
                 E'\\n' ORDER BY prosrc COLLATE \"C\")
             FROM pg_proc, LATERAL (
                 SELECT string_agg(format_type(type, NULL), ', ' ORDER BY n) AS arguments
                 FROM unnest(proargtypes) WITH ORDINALITY AS a (type, n)) AS a
             WHERE prolang = (SELECT oid FROM pg_language WHERE lanname = 'c')
             AND oid IN (
                 SELECT objid FROM pg_depend
                 WHERE refclassid = 'pg_extension'::regclass AND classid = 'pg_proc'::regclass
                 AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'ulid'))
             AND pronamespace <> 'tests'::regnamespace",
        );
        assert_eq!(declared.lines().collect::<Vec<_>>(), exported);
    }

    /// fn_extra is only MAXALIGNed. A debug build asserts the alignment of what is read there.
    /// Each of 16 calls keeps its own.
    #[pg_test]
    fn windows_are_kept_in_memory_of_any_alignment() {
        let windows = "ulid_lower_bound(now()) <@ r AND r @> ulid_lower_bound(now())";
        assert_eq!(
            text(&format!(
                "SELECT (bool_and({}))::text FROM generate_series(1, 2) AS n,
                        LATERAL (SELECT tstzrange(now() - n * interval '1 hour', NULL) OFFSET 0)
                        AS v (r)",
                [windows; 8].join(" AND ")
            )),
            "true"
        );
    }

    /// C functions that only the tests declare. Each can raise an error that SQL cannot cause.
    mod failing {
        use super::{Time, shmem};
        use crate::error::{self, Result};

        crate::fmgr::export! {
            ulid_test_panic() -> bool = panic;
            ulid_test_clock() -> Result<bool> = clock;
            ulid_test_seed() -> Result<bool> = seed;
            ulid_test_attach() -> bool = attach;
        }

        #[allow(clippy::panic)]
        fn panic() -> bool {
            panic!("what a test does")
        }

        fn clock() -> Result<bool> {
            Err(error::system_clock_out_of_range())
        }

        fn seed() -> Result<bool> {
            Err(error::no_randomness())
        }

        /// An id clock in addition to those of the other tests. It needs shared memory.
        fn attach() -> bool {
            shmem::test_support::attached(c"ulid_test").time() == Time::UNIX_EPOCH
        }
    }

    /// SQLSTATE and message of the error that a function of [`failing`] raises. Declares it first.
    fn error_of(symbol: &str) -> String {
        let library = text("SELECT probin FROM pg_proc WHERE proname = 'gen_monotonic_ulid'");
        Spi::run(&format!(
            "CREATE FUNCTION {symbol}() RETURNS boolean
             LANGUAGE c STRICT AS '{library}', '{symbol}'"
        ))
        .unwrap();
        error_of_call(&format!("{symbol}()"))
    }

    /// SQLSTATE and message of the error that a call raises.
    fn error_of_call(call: &str) -> String {
        Spi::run(&format!(
            "CREATE OR REPLACE FUNCTION error_of() RETURNS text LANGUAGE plpgsql AS $$ BEGIN
                 PERFORM {call};
                 RETURN 'no error';
             EXCEPTION WHEN OTHERS THEN
                 RETURN SQLSTATE || ' ' || SQLERRM;
             END $$",
        ))
        .unwrap();
        text("SELECT error_of()")
    }

    /// A panic that is not caught would crash-restart the server.
    #[pg_test]
    fn a_panic_is_an_error() {
        assert_eq!(error_of("ulid_test_panic"), "XX000 what a test does");
    }

    /// PostgreSQL calls a walker through a pointer, so it has a `#[pg_guard]` of its own.
    #[pg_test]
    fn a_panic_in_the_planner_is_an_error() {
        use crate::planner::test_support::PANIC;

        Spi::run("CREATE TABLE estimated (id ulid)").unwrap();
        Spi::run("CREATE TABLE walked (id ulid) PARTITION BY RANGE (id)").unwrap();
        Spi::run(
            "CREATE FUNCTION planned() RETURNS text LANGUAGE plpgsql AS $$ BEGIN
                 PERFORM FROM estimated WHERE id <@ tstzrange(now(), NULL);
                 PERFORM FROM walked WHERE id <@ tstzrange(now(), NULL);
                 RETURN 'no error';
             EXCEPTION WHEN OTHERS THEN
                 RETURN SQLSTATE || ' ' || SQLERRM;
             END $$",
        )
        .unwrap();
        for place in ["estimator", "walker"] {
            PANIC.set(place);
            let error = text("SELECT planned()");
            PANIC.set("");
            assert_eq!(error, format!("XX000 in the {place}"));
        }
        assert_eq!(text("SELECT planned()"), "no error");
    }

    /// SQL can neither set the clock before 1970 nor take away the operating system's randomness.
    #[pg_test]
    fn what_only_the_system_can_cause_is_an_error_of_its_own() {
        assert_eq!(
            error_of("ulid_test_clock"),
            "22008 system clock out of range for type ulid"
        );
        assert_eq!(
            error_of("ulid_test_seed"),
            "XX000 could not generate random values"
        );
    }

    /// A sequence inherited through a fork would continue identically in each child.
    #[pg_test]
    fn a_generator_of_another_process_is_not_used() {
        loop {
            let first = gen_monotonic_ulid();
            generator::set_process(-1);
            let second = gen_monotonic_ulid();
            // In a later millisecond, an id is never the next number.
            if first.unix_ms() == second.unix_ms() {
                assert_ne!(u128::from(second), u128::from(first) + 1);
                break;
            }
        }
    }

    #[pg_test]
    fn exhaustion_is_an_error_that_the_next_millisecond_ends() {
        gen_monotonic_ulid();
        let now = || Time::now().unwrap();
        let later = now().saturating_add(Duration::from_secs(60));
        generator::set_last(Ulid::upper_bound(later));
        for _ in 0..2 {
            Spi::run(
                "DO $$ BEGIN
                     PERFORM gen_monotonic_ulid();
                     RAISE 'not exhausted';
                 EXCEPTION WHEN sequence_generator_limit_exceeded THEN
                     ASSERT SQLSTATE = '2200H' AND SQLERRM LIKE '%is exhausted';
                 END $$",
            )
            .unwrap();
        }
        let last = Time::from_unix_ms(now().unix_ms() - 1).unwrap();
        generator::set_last(Ulid::upper_bound(last));
        assert!(gen_monotonic_ulid().unix_ms() <= now().unix_ms());
    }

    /// Tests run at once, and share the id clock: one that changes it, or the shared memory, waits.
    fn take_turns() {
        text("SELECT pg_advisory_xact_lock(1)::text");
    }

    /// One test for everything that changes the id clock.
    #[pg_test]
    fn ordered_ids_go_on_from_the_id_clock_of_the_server() {
        take_turns();
        let id_clock = shmem::id_clock();
        let next = || ordered::time_of(text("SELECT gen_ordered_ulid()::text").parse().unwrap());
        // In steps of 1/65536 ms, in which the id clock advances.
        let after = |time: Time, count| Time::from_bits(time.to_bits() + count);
        let first = next();
        assert_eq!(id_clock.time(), first);
        assert!(next() > first);
        // As if the clock was set back by a minute.
        let ahead = Time::now().unwrap().saturating_add(Duration::from_secs(60));
        id_clock.set(ahead);
        assert_eq!(
            [next(), next(), next()],
            [1, 2, 3].map(|count| after(ahead, count))
        );
        // The last possible time.
        id_clock.set(Time::from_bits(u64::MAX - 1));
        assert_eq!(next(), Time::MAX);
        for _ in 0..2 {
            let error = "22008 id clock out of range for type ulid";
            assert_eq!(error_of_call("gen_ordered_ulid()"), error);
        }
        assert_eq!(id_clock.time(), Time::MAX);
        // As after a start of the server.
        id_clock.set(Time::UNIX_EPOCH);
        assert!(next() <= Time::now().unwrap());
    }

    /// The first caller creates the id clock, as zero, and every later caller finds the same one.
    #[pg_test]
    fn an_id_clock_is_made_once() {
        let attached = || shmem::test_support::attached(c"ulid_test_once");
        assert_eq!(attached().time(), Time::UNIX_EPOCH);
        attached().set(Time::MAX);
        assert_eq!(attached().time(), Time::MAX);
        assert!(!std::ptr::eq(attached(), shmem::id_clock()));
    }

    /// A library of another release may have come first: ids can be generated, and their
    /// horizon is not known. The result of `beside_another_layout` is whether tracking has stopped
    /// for both.
    #[pg_test]
    fn beside_another_layout_ids_are_generated_and_have_no_horizon() {
        assert!(shmem::test_support::beside_another_layout(
            c"ulid_test_layout",
            assert_no_horizon_after_an_id
        ));
    }

    /// The settings from which the size follows cannot change while the server runs. The length is
    /// compared all the same, as what is behind the end would be overwritten.
    #[pg_test]
    fn a_segment_that_is_too_short_is_not_used() {
        assert!(shmem::test_support::beside_a_short_segment(
            c"ulid_test_segment",
            assert_no_horizon_after_an_id
        ));
    }

    fn assert_no_horizon_after_an_id() {
        Spi::run("SELECT gen_ordered_ulid()").unwrap();
        assert_eq!(
            error_of_call("ulid_next_horizon('00000000000000000000000000')"),
            "55000 cannot determine the horizon of ordered ids"
        );
    }

    /// This session has no entry in shared memory, whose bound the guard compares otherwise. While
    /// there is no horizon, no consumer passes an id that the transaction generates.
    #[pg_test]
    fn beside_another_layout_the_guard_refuses_what_is_older_than_the_transaction() {
        Spi::run(
            "CREATE TABLE guarded (id ulid DEFAULT gen_ordered_ulid());
             CREATE TRIGGER guard AFTER INSERT ON guarded
                 FOR EACH ROW EXECUTE FUNCTION ulid_ordered_guard('id');
             CREATE FUNCTION old() RETURNS void LANGUAGE sql
                 AS $$ INSERT INTO guarded VALUES ('01ARYZ6S41TSV4RRFFQ69G5FAV') $$;
             CREATE FUNCTION ahead() RETURNS void LANGUAGE sql
                 AS $$ INSERT INTO guarded VALUES ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ') $$",
        )
        .unwrap();
        assert!(shmem::test_support::beside_another_layout(
            c"ulid_test_guard",
            || {
                for _ in 0..2 {
                    Spi::run("INSERT INTO guarded DEFAULT VALUES").unwrap();
                }
                let refused = |call, message| {
                    let expected = format!("23514 consumers of relation \"guarded\" {message}");
                    assert_eq!(error_of_call(call), expected);
                };
                refused(
                    "old()",
                    "may have passed ulid \"01ARYZ6S41TSV4RRFFQ69G5FAV\"",
                );
                refused(
                    "ahead()",
                    "cannot reach ulid \"7ZZZZZZZZZZZZZZZZZZZZZZZZZ\" yet",
                );
            }
        ));
        assert_eq!(text("SELECT count(*)::text FROM guarded"), "2");
    }

    /// Until 18 the header takes space that the server has left; from 19 it needs none there.
    #[cfg(not(feature = "pg19"))]
    #[pg_test]
    fn a_server_without_room_gives_its_own_error() {
        take_turns();
        // Make those of the other tests first: the space stays taken.
        for name in [
            c"ulid_ordered_time",
            c"ulid_test_once",
            c"ulid_test_layout",
            c"ulid_test_segment",
            c"ulid_test_guard",
        ] {
            shmem::test_support::attached(name);
        }
        shmem::test_support::exhaust();
        let error =
            "53200 not enough shared memory for data structure \"ulid_test\" (128 bytes requested)";
        assert_eq!(error_of("ulid_test_attach"), error);
        assert_eq!(error_of_call("ulid_test_attach()"), error);
        // No lock is left behind: this would wait for it.
        text("SELECT gen_ordered_ulid()::text");
    }

    /// PostgreSQL plans such an expression only for other extensions.
    #[pg_test]
    #[allow(unsafe_code)]
    fn an_expression_of_no_query_stays_what_it_is() {
        Spi::run("CREATE TABLE checked (id ulid, CHECK (id <@ '[2025-01-01Z,)'))").unwrap();
        let check =
            text("SELECT conbin::text FROM pg_constraint WHERE conrelid = 'checked'::regclass");
        let check = std::ffi::CString::new(check).unwrap();
        let (mut relations, mut dependencies) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the text is that of a node, and what is made of it lives in the memory of this
        // transaction.
        let planned = unsafe {
            let node = pg_sys::stringToNode(check.as_ptr()).cast();
            (*pg_sys::expression_planner_with_deps(node, &mut relations, &mut dependencies)).type_
        };
        assert_eq!(planned, pg_sys::NodeTag::T_OpExpr);
    }
}
