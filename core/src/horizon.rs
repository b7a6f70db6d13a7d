//! The horizon of ordered ids, for whoever follows a growing table: no id before it can appear any more.
//!
//! An id is older than the moment when its row becomes visible, and transactions do not end in the order of their ids.
//! So a transaction takes a [`Slot`] before its first id, with a time that all its ids are greater than. The horizon
//! is the least of these times, of the transactions that have not ended. Nobody clears a slot: it counts as long as
//! the server says that its transaction is running, which the server must say until the transaction's rows are
//! visible.

use crate::ordered;
use crate::sync::{AtomicU64, Ordering, fence};

/// The slot of a process or of a prepared transaction, in memory that all processes share. All zeros are an empty one.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Slot {
    /// A number of the transaction that is not zero. A process does not use it again soon.
    transaction: AtomicU64,
    since: AtomicU64,
}

impl Slot {
    /// Whether this transaction has the slot.
    #[inline(always)]
    pub fn is_of(&self, transaction: u64) -> bool {
        self.transaction.load(Ordering::Relaxed) == transaction
    }

    /// Takes the process's slot for its transaction, before the transaction makes an id with `shared`. The clock may
    /// read anything.
    pub fn take(&self, transaction: u64, shared: &AtomicU64, clock: u64) {
        // The order moves on to the clock, so that the horizon does not fall back to its last id, however old that is.
        // At the end of time there is no next id.
        self.set_since(ordered::advance(shared, clock).unwrap_or(u64::MAX), shared, || {
            self.transaction.store(transaction, Ordering::Release);
        });
    }

    /// Takes an empty slot, or that of a transaction that is not running, for a transaction that is going to be
    /// prepared and still has its process's slot, `from`. False if the slot is not free.
    pub fn take_over(
        &self,
        transaction: u64,
        from: &Self,
        shared: &AtomicU64,
        is_running: impl Fn(u64) -> bool,
    ) -> bool {
        let last = self.transaction.load(Ordering::Acquire);
        let is_taken = (last == 0 || !is_running(last))
            && self
                .transaction
                .compare_exchange(last, transaction, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok();
        if is_taken {
            self.set_since(from.since.load(Ordering::Relaxed), shared, || ());
        }
        is_taken
    }

    fn set_since(&self, since: u64, shared: &AtomicU64, and_then: impl FnOnce()) {
        self.since.store(since, Ordering::Release);
        and_then();
        // Whoever advances the order after an id of this transaction sees the slot. So does who resets it, or else
        // this does not see the order that was before.
        fence(Ordering::SeqCst);
        if shared.load(Ordering::Relaxed) < since {
            self.since.store(0, Ordering::Release);
        }
    }
}

/// The horizon, as a time like the word's: advances the word to the clock, and returns a time that each id made from
/// now on is greater than, and also each id of a transaction that is still running.
///
/// The slots of prepared transactions come after those of processes. `is_running` is asked with the place of a slot
/// and its transaction.
///
/// # Errors
/// Those of [`ordered::next`].
pub fn horizon(
    shared: &AtomicU64,
    clock: u64,
    slots: &[Slot],
    is_running: impl Fn(usize, u64) -> bool,
) -> Result<u64, crate::Error> {
    // Who makes an id before this has its slot already; whose slot is not seen here makes greater ones.
    let mut horizon = ordered::advance(shared, clock)?;
    fence(Ordering::SeqCst);
    for (place, slot) in slots.iter().enumerate() {
        let transaction = slot.transaction.load(Ordering::Acquire);
        if transaction != 0 && is_running(place, transaction) {
            horizon = horizon.min(slot.since.load(Ordering::Acquire));
        }
    }
    Ok(horizon)
}

/// Lets the order begin again with the clock. The transactions that are running may have made ids after it that are
/// less than what their slots say, so until they end, the horizon is zero.
pub fn reset(shared: &AtomicU64, slots: &[Slot]) {
    shared.swap(0, Ordering::AcqRel);
    fence(Ordering::SeqCst);
    for slot in slots {
        slot.since.store(0, Ordering::Release);
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    const CLOCK: u64 = 1_469_918_176_385 << 16;

    #[test]
    fn the_horizon_is_the_least_time_of_the_running_transactions() {
        let (shared, slots) = (AtomicU64::new(0), [(); 3].map(|()| Slot::default()));
        slots[0].take(7, &shared, CLOCK);
        slots[1].take(8, &shared, CLOCK + 10);
        assert!(slots[0].is_of(7) && !slots[0].is_of(8));
        let horizon =
            |is_running: fn(usize, u64) -> bool| super::horizon(&shared, CLOCK + 20, &slots, is_running);
        assert_eq!(horizon(|_, _| true), Ok(CLOCK));
        assert_eq!(horizon(|place, transaction| (place, transaction) == (1, 8)), Ok(CLOCK + 10));
        // It goes on with the clock, and no id comes after it that is less.
        assert_eq!(horizon(|_, _| false), Ok(CLOCK + 22));
        assert_eq!(ordered::advance(&shared, CLOCK), Ok(CLOCK + 23));
        shared.store(u64::MAX, Ordering::Relaxed);
        assert!(horizon(|_, _| false).is_err());
    }

    #[test]
    fn a_prepared_transaction_keeps_its_time_in_a_slot_that_is_free() {
        let (shared, slots) = (AtomicU64::new(0), [(); 2].map(|()| Slot::default()));
        slots[0].take(7, &shared, CLOCK);
        assert!(slots[1].take_over(700, &slots[0], &shared, |_| true));
        slots[0].take(8, &shared, CLOCK + 10);
        assert!(!slots[1].take_over(800, &slots[0], &shared, |_| true));
        let horizon = || super::horizon(&shared, CLOCK + 20, &slots, |place, _| place == 1);
        assert_eq!(horizon(), Ok(CLOCK));
        assert!(slots[1].take_over(800, &slots[0], &shared, |transaction| transaction != 700));
        assert_eq!(horizon(), Ok(CLOCK + 10));
    }

    #[test]
    fn after_a_reset_there_is_no_horizon_until_the_transactions_have_ended() {
        let (shared, slots) = (AtomicU64::new(CLOCK * 2), [Slot::default()]);
        slots[0].take(7, &shared, CLOCK);
        reset(&shared, &slots);
        assert_eq!(ordered::advance(&shared, CLOCK), Ok(CLOCK));
        assert_eq!(horizon(&shared, CLOCK, &slots, |_, _| true), Ok(0));
        assert_eq!(horizon(&shared, CLOCK, &slots, |_, _| false), Ok(CLOCK + 2));
    }
}

/// The protocol in every order in which threads can run and see each other's memory, as far as two preemptions of each
/// thread lead: `RUSTFLAGS='--cfg loom' cargo test -p pg_ulid --lib horizon`.
#[cfg(test)]
#[cfg(loom)]
mod model {
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    use super::*;

    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        None,
        SlotAfterId,
        EndsBeforeVisible,
    }

    /// What processes share: for each slot the transaction that is running there, and the rows that a snapshot sees,
    /// with the lock that PostgreSQL takes to end a transaction and to take a snapshot.
    struct Server {
        shared: AtomicU64,
        slots: [Slot; 3],
        running: [AtomicU64; 3],
        visible: Mutex<Vec<u64>>,
    }

    impl Server {
        fn insert(&self, place: usize, transaction: u64, fault: Fault) -> u64 {
            self.running[place].store(transaction, Ordering::Relaxed);
            if fault != Fault::SlotAfterId {
                self.slots[place].take(transaction, &self.shared, 0);
            }
            let id = ordered::advance(&self.shared, 0).unwrap();
            if fault == Fault::SlotAfterId {
                self.slots[place].take(transaction, &self.shared, 0);
            }
            id
        }

        fn end(&self, place: usize, row: Option<u64>, fault: Fault) {
            if fault == Fault::EndsBeforeVisible {
                self.running[place].store(0, Ordering::Relaxed);
            }
            let mut visible = self.visible.lock().unwrap();
            self.running[place].store(0, Ordering::Relaxed);
            visible.extend(row);
        }
    }

    fn check(fault: Fault, write: fn(&Server, Fault)) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let server = Arc::new(Server {
                shared: AtomicU64::new(0),
                slots: Default::default(),
                running: [(); 3].map(|()| AtomicU64::new(0)),
                visible: Mutex::default(),
            });
            let writers = [write, |server, fault| {
                let row = server.insert(1, 1, fault);
                server.end(1, Some(row), fault);
            }];
            let writers = writers.map(|write| {
                let server = server.clone();
                thread::spawn(move || write(&server, fault))
            });
            let is_running =
                |place: usize, transaction| server.running[place].load(Ordering::Relaxed) == transaction;
            let horizon = horizon(&server.shared, 0, &server.slots, is_running).unwrap();
            let seen = server.visible.lock().unwrap().clone();
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            for row in server.visible.lock().unwrap().iter() {
                assert!(*row > horizon || seen.contains(row), "row {row} is behind the horizon {horizon}");
            }
        });
    }

    /// Two transactions of a process, of which the second takes the slot.
    fn twice(server: &Server, fault: Fault) {
        for transaction in [1, 2] {
            let row = server.insert(0, transaction, fault);
            server.end(0, Some(row), fault);
        }
    }

    /// A prepared transaction, and the next one of its process.
    fn prepared(server: &Server, fault: Fault) {
        let row = server.insert(0, 1, fault);
        server.running[2].store(100, Ordering::Relaxed);
        assert!(server.slots[2].take_over(100, &server.slots[0], &server.shared, |_| true));
        server.end(0, None, fault);
        let next = server.insert(0, 2, fault);
        server.end(0, Some(next), fault);
        server.end(2, Some(row), fault);
    }

    #[test]
    fn no_row_is_lost() {
        check(Fault::None, twice);
        check(Fault::None, prepared);
    }

    #[test]
    #[should_panic(expected = "is behind the horizon")]
    fn a_slot_taken_after_the_id_loses_rows() {
        check(Fault::SlotAfterId, twice);
    }

    #[test]
    #[should_panic(expected = "is behind the horizon")]
    fn a_transaction_that_ends_before_its_rows_are_visible_loses_them() {
        check(Fault::EndsBeforeVisible, twice);
    }
}
