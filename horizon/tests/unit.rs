//! One thread after the other; what happens between threads is in `model.rs`.
#![allow(clippy::unwrap_used)]

use super::*;

const CLOCK: u64 = 1_469_918_176_385 << 16;

const fn at(bits: u64) -> Time {
    Time::from_bits(bits)
}

#[derive(Default)]
struct Memory {
    id_clock: IdClock,
    control: Control,
    process_slots: [ProcessSlot; 2],
    prepared_slots: [PreparedSlot; 3],
}

impl Memory {
    fn with_id_clock_at(time: u64) -> Self {
        let memory = Self::default();
        memory.id_clock.set(at(time));
        memory
    }

    fn shared(&self) -> Shared<'_> {
        Shared {
            id_clock: &self.id_clock,
            control: &self.control,
            process_slots: &self.process_slots,
            prepared_slots: &self.prepared_slots,
        }
    }

    /// Opens an entry in database 1.
    fn open(&self, process: usize, clock: u64) -> OpenEntry<'_> {
        self.open_in(1, process, clock, &[])
    }

    fn open_in(
        &self,
        database: u64,
        process: usize,
        clock: u64,
        in_progress: &[u64],
    ) -> OpenEntry<'_> {
        let (pid, is_in_progress) = (process as u64 + 10, |xid| in_progress.contains(&xid));
        let entry = self
            .shared()
            .open_entry(process, pid, database, at(clock), is_in_progress);
        entry.unwrap()
    }

    fn reset(&self) {
        self.shared().begin_reset();
        self.shared().end_reset();
    }

    /// The horizon of database 1 while these prepared transactions are in progress.
    fn horizon(&self, in_progress: &[u64]) -> u64 {
        self.horizon_of(1, in_progress)
    }

    fn horizon_of(&self, database: u64, in_progress: &[u64]) -> u64 {
        let is_in_progress = |xid| in_progress.contains(&xid);
        let horizon = self
            .shared()
            .horizon(database, at(CLOCK + 20), is_in_progress);
        horizon.unwrap().to_bits()
    }
}

#[test]
fn the_horizon_is_the_least_bound_of_the_open_entries() {
    let memory = Memory::default();
    let (a, b) = (memory.open(0, CLOCK), memory.open(1, CLOCK + 10));
    assert_eq!(b.bound(), at(CLOCK + 10));
    assert_eq!(memory.shared().bound_of_process(11), Some(at(CLOCK + 10)));
    assert_eq!(memory.horizon(&[]), CLOCK);
    a.close();
    assert_eq!(memory.shared().bound_of_process(10), None);
    assert_eq!(memory.horizon(&[]), CLOCK + 10);
    b.close();
    // It advances with the clock, and no id comes after it that is less.
    assert_eq!(memory.horizon(&[]), CLOCK + 22);
    assert_eq!(memory.id_clock.advance(at(CLOCK)), Ok(at(CLOCK + 23)));
}

#[test]
fn at_the_end_of_time_there_is_no_horizon_and_beyond_the_slots_no_entry() {
    let memory = Memory::with_id_clock_at(u64::MAX);
    assert_eq!(memory.open(0, CLOCK).bound(), Time::MAX);
    let shared = memory.shared();
    assert!(shared.horizon(1, at(CLOCK), |_| false).is_err());
    assert!(shared.open_entry(2, 12, 1, at(CLOCK), |_| false).is_none());
}

#[test]
fn a_transaction_counts_in_its_database_only() {
    let memory = Memory::default();
    let (a, b) = (
        memory.open_in(1, 0, CLOCK, &[]),
        memory.open_in(2, 1, CLOCK + 10, &[]),
    );
    let horizons = |xids: &[u64]| [1, 2, 3].map(|database| memory.horizon_of(database, xids));
    assert_eq!(horizons(&[]), [CLOCK, CLOCK + 10, CLOCK + 22]);
    a.prepare(100);
    b.close();
    assert_eq!(horizons(&[100]), [CLOCK, CLOCK + 24, CLOCK + 25]);
    assert_eq!(horizons(&[]), [CLOCK + 26, CLOCK + 27, CLOCK + 28]);
}

#[test]
fn a_prepared_transaction_counts_until_it_has_ended() {
    let memory = Memory::default();
    for (xid, in_progress) in [(100, &[][..]), (101, &[100]), (102, &[100, 101])] {
        memory.open_in(1, 0, CLOCK + xid, in_progress).prepare(xid);
    }
    assert_eq!(
        memory.shared().bound_of_prepared(101),
        Some(at(CLOCK + 101))
    );
    assert_eq!(memory.shared().bound_of_prepared(103), None);
    let least = [&[100, 101, 102][..], &[102, 101], &[102]].map(|xids| memory.horizon(xids));
    // The drawn time is less than the last two bounds: those are of a later clock.
    assert_eq!(least, [CLOCK + 100, CLOCK + 101, CLOCK + 102]);
    assert_eq!(memory.horizon(&[]), CLOCK + 106);
}

#[test]
fn a_slot_is_given_away_only_when_its_transaction_has_ended() {
    let memory = Memory::default();
    memory.open(0, CLOCK).prepare(100);
    for process in [0, 1, 0, 1] {
        memory.open_in(1, process, CLOCK + 1, &[100]).close();
    }
    memory.open_in(1, 1, CLOCK + 2, &[100]).prepare(101);
    assert_eq!(
        [memory.horizon(&[100]), memory.horizon(&[101])],
        [CLOCK, CLOCK + 5]
    );
}

#[test]
fn a_slot_that_one_process_has_reserved_is_not_given_to_another() {
    let memory = Memory::default();
    let first = memory.open(0, CLOCK);
    memory.open(1, CLOCK + 1).prepare(101);
    memory.open_in(1, 1, CLOCK + 2, &[101]).prepare(102);
    memory.open_in(1, 1, CLOCK + 3, &[102]).prepare(103);
    first.prepare(100);
    let bounds = [100, 102, 103].map(|xid| memory.horizon(&[xid]));
    assert_eq!(bounds, [CLOCK, CLOCK + 2, CLOCK + 3]);
}

#[test]
fn where_none_can_be_prepared_there_are_no_prepared_slots() {
    let memory = Memory::default();
    let shared = Shared {
        prepared_slots: &[],
        ..memory.shared()
    };
    shared
        .open_entry(0, 10, 1, at(CLOCK), |_| false)
        .unwrap()
        .prepare(100);
    assert_eq!(shared.horizon(1, at(CLOCK), |_| true), Ok(at(CLOCK + 1)));
}

#[test]
fn the_first_start_counts() {
    let memory = Memory::default();
    assert_eq!(memory.shared().start_xid(), None);
    memory.shared().start(7);
    memory.shared().start(8);
    assert_eq!(memory.shared().start_xid(), Some(7));
}

#[test]
fn after_a_reset_there_is_no_horizon_until_the_transactions_have_ended() {
    let memory = Memory::with_id_clock_at(CLOCK * 2);
    let entries = [memory.open(0, CLOCK), memory.open(1, CLOCK)];
    entries[1].prepare(100);
    memory.reset();
    assert_eq!(memory.id_clock.advance(at(CLOCK)), Ok(at(CLOCK)));
    assert_eq!(memory.horizon(&[100]), UNKNOWN.to_bits());
    assert_eq!(memory.horizon_of(2, &[100]), CLOCK + 21);
    entries[0].close();
    assert_eq!(memory.horizon(&[100]), UNKNOWN.to_bits());
    assert_eq!(memory.horizon(&[]), CLOCK + 23);
}

#[test]
fn from_the_beginning_of_a_reset_to_its_end_there_is_no_horizon() {
    let memory = Memory::with_id_clock_at(CLOCK * 2);
    memory.shared().begin_reset();
    assert_eq!(memory.horizon(&[]), UNKNOWN.to_bits());
    memory.shared().cancel_reset();
    assert!(memory.horizon(&[]) > CLOCK * 2);
}

#[test]
fn a_row_that_was_read_before_a_reset_does_not_undo_it() {
    let memory = Memory::with_id_clock_at(CLOCK);
    let advance = |time, meanwhile: &dyn Fn()| {
        let read = || -> Result<Time, ()> {
            meanwhile();
            Ok(at(time))
        };
        memory.shared().advance_to_row(read).unwrap();
        memory.id_clock.time().to_bits()
    };
    assert_eq!(advance(CLOCK * 2, &|| ()), CLOCK * 2);
    assert_eq!(advance(CLOCK, &|| ()), CLOCK * 2);
    assert_eq!(advance(CLOCK * 2, &|| memory.reset()), 0);
    assert_eq!(advance(CLOCK, &|| memory.shared().begin_reset()), 0);
    assert_eq!(memory.shared().advance_to_row(|| Err(7)), Err(7));
}

#[test]
fn while_the_id_clock_is_ahead_the_horizon_takes_every_other_millisecond() {
    const MS: u64 = 1 << 16;
    let memory = Memory::with_id_clock_at(CLOCK + 3_600_000 * MS + 5);
    let horizon = |clock| {
        memory
            .shared()
            .horizon(1, at(clock), |_| false)
            .unwrap()
            .to_bits()
    };
    let ms = |clock| (horizon(clock) - CLOCK) as f64 / MS as f64;
    assert_eq!(ms(CLOCK), 3_600_001.0);
    assert!(ms(CLOCK + MS) < 3_600_001.1);
    let floors = [2, 4, 5, 6].map(|n| ms(CLOCK + n * MS).floor());
    assert_eq!(floors, [2.0, 3.0, 3.0, 4.0].map(|ms| ms + 3_600_000.0));
    // Nor does it wait for a clock that was set back, or go ahead of one that is right.
    assert_eq!(ms(CLOCK - MS).floor(), 3_600_005.0);
    memory.id_clock.set(at(CLOCK + 5));
    assert_eq!(horizon(CLOCK + 4), CLOCK + 6);
}

#[test]
fn another_layout_has_another_number() {
    assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
    assert_ne!(hash(&[1]), hash(&[1, 0]));
    assert_ne!(hash(&[1, 2]), hash(&[1, 3]));
    assert_eq!(
        [size_of::<ProcessSlot>(), size_of::<PreparedSlot>()],
        [64, 32]
    );
}

#[test]
fn a_full_xid_is_the_last_one_with_these_bits() {
    for next in [7_u64, (7 << 32) + 3, (7 << 32) - 8] {
        for distance in [0, 1, 4, u64::from(u32::MAX)] {
            let xid = next.wrapping_sub(distance);
            assert_eq!(to_full_xid(xid as u32, next), xid);
        }
    }
}
