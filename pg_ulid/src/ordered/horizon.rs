//! The horizon of ordered ids, for whoever follows a growing table: each row whose id is less is
//! visible to a snapshot of the server, and so to every later one, or never will be.
//!
//! An id is older than the moment when its row becomes visible, and transactions do not end in the
//! order of their ids. So a transaction opens an [`Entry`] before its first id, with a time that
//! all its ids are greater than, and closes it with its number after the server has ended it. The
//! horizon is the least of these times, of the transactions whose rows the snapshot does not see. A
//! closed entry stays until its process needs the place, since a snapshot may be older than the end
//! of its transaction; then the process's [`Slot`] remembers the number alone.
//!
//! This module is public for the extension alone, and exempt from semantic versioning.

use crate::Error;
use crate::ordered::{self, FRACTION_BITS};
use crate::sync::{AtomicU64, Ordering, fence};

/// Stands for the number of a transaction that has not ended. Zero stands for one of which nothing
/// will be seen.
const OPEN: u64 = u64::MAX;

/// A transaction, in memory that all processes share. All zeros are an empty entry.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Entry {
    /// All its ids are greater.
    since: AtomicU64,
    transaction: AtomicU64,
}

impl Entry {
    /// The server has ended the transaction, which has this number: zero if its rows will never be
    /// visible, or if it was prepared and has an entry as such.
    #[inline]
    pub fn close(&self, transaction: u64) {
        self.transaction.store(transaction, Ordering::Release);
    }

    /// Opens the entry. The clock may read anything.
    fn open(&self, last_time: &AtomicU64, clock: u64) {
        // The order moves on to the clock, so that the horizon does not fall back to its last id,
        // however old that is. At the end of time there is no next id.
        let since = ordered::advance(last_time, clock).unwrap_or(u64::MAX);
        self.since.store(since, Ordering::Release);
        self.transaction.store(OPEN, Ordering::Release);
        // Whoever advances the order after an id of this transaction sees the entry. So does who
        // resets it, or else this does not see the order that was before.
        fence(Ordering::SeqCst);
        if last_time.load(Ordering::Relaxed) < since {
            self.since.store(0, Ordering::Release);
            // Whoever advances the order after an id of this transaction sees this, too.
            fence(Ordering::Release);
        }
    }
}

/// The last `N` transactions of a process, one after the other, or a prepared transaction. All
/// zeros are an empty slot.
#[derive(Debug)]
#[repr(C)]
pub struct Slot<const N: usize> {
    /// The last transaction whose entry has been overwritten, which ended after all of those
    /// before.
    forgotten: AtomicU64,
    /// The process that has the slot, which alone uses what follows.
    pid: AtomicU64,
    next: AtomicU64,
    entries: [Entry; N],
}

impl<const N: usize> Default for Slot<N> {
    fn default() -> Self {
        let [forgotten, pid, next] = Default::default();
        Self {
            forgotten,
            pid,
            next,
            entries: [(); N].map(|()| Entry::default()),
        }
    }
}

impl<const N: usize> Slot<N> {
    /// Opens an entry for the present transaction of a process, before it makes an id with
    /// `last_time`.
    pub fn open(&self, pid: u64, last_time: &AtomicU64, clock: u64) -> &Entry {
        let next = self.next.load(Ordering::Relaxed);
        self.next.store(next + 1, Ordering::Relaxed);
        self.pid.store(pid, Ordering::Relaxed);
        let entry = &self.entries[next as usize % N];
        self.forget(entry.transaction.load(Ordering::Relaxed));
        entry.transaction.store(0, Ordering::Release);
        entry.open(last_time, clock);
        entry
    }

    /// Whoever sees that the entry of this transaction is overwritten sees that it is forgotten.
    fn forget(&self, transaction: u64) {
        if transaction != 0 {
            self.forgotten.store(transaction, Ordering::Release);
        }
    }

    /// A time that the ids of all transactions of this slot that are running are greater than.
    fn horizon(&self, is_running: &impl Fn(u64) -> bool) -> u64 {
        let least = self.least(is_running);
        // What has been overwritten meanwhile is forgotten by now.
        if self.forgot(is_running) { 0 } else { least }
    }

    /// The least time of the entries.
    fn least(&self, is_running: &impl Fn(u64) -> bool) -> u64 {
        let running = self.entries.iter().filter(|entry| {
            let transaction = entry.transaction.load(Ordering::Acquire);
            transaction == OPEN || transaction != 0 && is_running(transaction)
        });
        running
            .map(|entry| entry.since.load(Ordering::Acquire))
            .min()
            .unwrap_or(u64::MAX)
    }

    /// Whether there were others that are running.
    fn forgot(&self, is_running: &impl Fn(u64) -> bool) -> bool {
        let forgotten = self.forgotten.load(Ordering::Acquire);
        forgotten != 0 && is_running(forgotten)
    }
}

impl Slot<1> {
    /// Takes the slot for a transaction that is about to be prepared and still has the entry of its
    /// process, unless the transaction that last had the slot is running.
    fn prepare(&self, transaction: u64, process: &Entry, is_running: impl Fn(u64) -> bool) -> bool {
        let [entry] = &self.entries;
        let last = entry.transaction.load(Ordering::Acquire);
        let is_taken = last != OPEN
            && (last == 0 || !is_running(last))
            && entry
                .transaction
                .compare_exchange(last, OPEN, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok();
        if is_taken {
            self.forget(last);
            entry
                .since
                .store(process.since.load(Ordering::Acquire), Ordering::Release);
            // A reset changes the times of processes first.
            fence(Ordering::SeqCst);
            if process.since.load(Ordering::Acquire) == 0 {
                entry.since.store(0, Ordering::Release);
            }
            entry.close(transaction);
        }
        is_taken
    }
}

/// What the processes share besides the last time and the slots. All zeros are the first state.
#[derive(Debug, Default)]
#[repr(C)]
pub struct State {
    /// How many are resetting the order.
    resetting: AtomicU64,
    /// The millisecond of the clock in which a horizon last went ahead of it.
    stepped: AtomicU64,
    /// Where the next transaction to be prepared looks for a slot.
    next: AtomicU64,
}

/// All that the processes share of one order.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'memory, const N: usize> {
    /// The time of the last id.
    pub last_time: &'memory AtomicU64,
    /// The state of the order.
    pub state: &'memory State,
    /// The slots of the processes.
    pub processes: &'memory [Slot<N>],
    /// The slots of prepared transactions: more than can be prepared or going to be at once.
    pub prepared: &'memory [Slot<1>],
}

impl<const N: usize> Shared<'_, N> {
    /// Gives a slot to a transaction that is going to be prepared and has this entry of its
    /// process. A slot that was given back is not the next one to be given, so that what it forgets
    /// is old.
    pub fn prepare(self, transaction: u64, process: &Entry, is_running: impl Fn(u64) -> bool) {
        let next =
            || self.state.next.fetch_add(1, Ordering::Relaxed) as usize % self.prepared.len();
        while !self.prepared[next()].prepare(transaction, process, &is_running) {}
    }

    /// The horizon, as a time like the last one: advances that to the clock, and returns a time
    /// that each id made from now on is greater than, and also each id of a transaction that is
    /// running, as the snapshot sees it.
    ///
    /// # Errors
    /// Those of [`ordered::next`].
    pub fn horizon(self, clock: u64, is_running: impl Fn(u64) -> bool) -> Result<u64, Error> {
        // Who makes an id before this has its entry already; whose entry is not seen here makes
        // greater ones.
        let drawn = self.draw(clock)?;
        fence(Ordering::SeqCst);
        // Transactions that make ids less than what their entries say, until a reset has reached
        // these.
        if self.state.resetting.load(Ordering::Acquire) != 0 {
            return Ok(0);
        }
        // A transaction that is prepared meanwhile is found in the later slots.
        let processes = self
            .processes
            .iter()
            .map(|slot| slot.horizon(&is_running))
            .fold(drawn, u64::min);
        Ok(self
            .prepared
            .iter()
            .map(|slot| slot.horizon(&is_running))
            .fold(processes, u64::min))
    }

    /// Advances the last time to the clock. If it is ahead of that, the horizon, which is a whole
    /// millisecond, would stand still: it takes the next millisecond, but for only half of the time
    /// that passes, so the clock catches up.
    fn draw(self, clock: u64) -> Result<u64, Error> {
        let (next_ms, now_ms) = (
            (self.last_time.load(Ordering::Relaxed) >> FRACTION_BITS) + 1,
            clock >> FRACTION_BITS,
        );
        let stepped = &self.state.stepped;
        let may_step = |&last: &u64| next_ms > now_ms + 1 && now_ms.abs_diff(last) >= 2;
        let steps = Some(stepped.load(Ordering::Relaxed))
            .filter(may_step)
            .is_some_and(|last| {
                stepped
                    .compare_exchange(last, now_ms, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok()
            });
        ordered::advance(
            self.last_time,
            if steps {
                next_ms << FRACTION_BITS
            } else {
                clock
            },
        )
    }

    /// Lets the order begin again with the clock. The transactions that are running may make ids
    /// after it that are less than what their entries say, so until they end, the horizon is zero.
    pub fn reset(self) {
        self.state.resetting.fetch_add(1, Ordering::Relaxed);
        self.start_again();
        self.state.resetting.fetch_sub(1, Ordering::Release);
    }

    fn start_again(self) {
        fn forget_times<const M: usize>(slots: &[Slot<M>]) {
            for entry in slots.iter().flat_map(|slot| &slot.entries) {
                entry.since.store(0, Ordering::Release);
            }
        }
        self.last_time.swap(0, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        forget_times(self.processes);
        fence(Ordering::SeqCst);
        forget_times(self.prepared);
    }

    /// The time from which the running transaction of a process holds the horizon; none if it does
    /// not.
    pub fn since_of_process(self, pid: u64) -> Option<u64> {
        let slots = self
            .processes
            .iter()
            .filter(|slot| slot.pid.load(Ordering::Relaxed) == pid);
        since(slots.flat_map(|slot| &slot.entries), OPEN)
    }

    /// The time from which a prepared transaction holds the horizon; none if it has no slot.
    pub fn since_of_prepared(self, transaction: u64) -> Option<u64> {
        since(
            self.prepared.iter().flat_map(|slot| &slot.entries),
            transaction,
        )
    }
}

fn since<'memory>(
    mut entries: impl Iterator<Item = &'memory Entry>,
    transaction: u64,
) -> Option<u64> {
    entries
        .find(|entry| entry.transaction.load(Ordering::Acquire) == transaction)
        .map(|entry| entry.since.load(Ordering::Relaxed))
}

#[cfg(all(test, loom))]
#[path = "../../tests/model/horizon.rs"]
mod model;

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const CLOCK: u64 = 1_469_918_176_385 << 16;

    #[derive(Default)]
    struct Memory {
        last_time: AtomicU64,
        state: State,
        processes: [Slot<2>; 2],
        prepared: [Slot<1>; 2],
    }

    impl Memory {
        fn order(&self) -> Shared<'_, 2> {
            let Self {
                last_time,
                state,
                processes,
                prepared,
            } = self;
            Shared {
                last_time,
                state,
                processes,
                prepared,
            }
        }

        fn open(&self, process: usize, clock: u64) -> &Entry {
            self.processes[process].open(process as u64 + 10, &self.last_time, clock)
        }

        /// The horizon of a snapshot that sees none of these transactions.
        fn horizon(&self, running: &[u64]) -> u64 {
            self.order()
                .horizon(CLOCK + 20, |transaction| running.contains(&transaction))
                .unwrap()
        }
    }

    #[test]
    fn the_horizon_is_the_least_time_of_the_transactions_that_a_snapshot_does_not_see() {
        let memory = Memory::default();
        let (a, b) = (memory.open(0, CLOCK), memory.open(1, CLOCK + 10));
        assert_eq!(memory.order().since_of_process(11), Some(CLOCK + 10));
        assert_eq!(memory.horizon(&[]), CLOCK);
        a.close(7);
        assert_eq!(memory.order().since_of_process(10), None);
        assert_eq!(
            [memory.horizon(&[7]), memory.horizon(&[])],
            [CLOCK, CLOCK + 10]
        );
        b.close(0);
        // It goes on with the clock, and no id comes after it that is less.
        assert_eq!(memory.horizon(&[]), CLOCK + 23);
        assert_eq!(ordered::advance(&memory.last_time, CLOCK), Ok(CLOCK + 24));
        memory.last_time.store(u64::MAX, Ordering::Relaxed);
        assert!(memory.order().horizon(CLOCK, |_| false).is_err());
    }

    #[test]
    fn nothing_is_proven_for_a_snapshot_that_is_older_than_what_is_remembered() {
        let memory = Memory::default();
        let run = |transaction| memory.open(0, CLOCK + transaction).close(transaction);
        [5, 6].into_iter().for_each(run);
        assert_eq!(
            [memory.horizon(&[5, 6]), memory.horizon(&[6])],
            [CLOCK + 5, CLOCK + 6]
        );
        [7, 0, 0].into_iter().for_each(run);
        // Two of which nothing can be seen have the entries; the last that they have replaced is
        // the seventh.
        assert_eq!([memory.horizon(&[7]), memory.horizon(&[])], [0, CLOCK + 26]);
    }

    #[test]
    fn a_prepared_transaction_keeps_its_time_in_a_slot_that_is_free() {
        let memory = Memory::default();
        let prepare = |transaction, clock, running: &[u64]| {
            let entry = memory.open(0, clock);
            memory
                .order()
                .prepare(transaction, entry, |last| running.contains(&last));
            entry.close(0);
        };
        prepare(100, CLOCK, &[]);
        prepare(101, CLOCK + 5, &[100]);
        assert_eq!(
            [memory.horizon(&[100, 101]), memory.horizon(&[101])],
            [CLOCK, CLOCK + 5]
        );
        assert_eq!(memory.order().since_of_prepared(101), Some(CLOCK + 5));
        prepare(102, CLOCK + 30, &[100]);
        assert_eq!(
            [memory.horizon(&[100, 102]), memory.horizon(&[102])],
            [CLOCK, CLOCK + 30]
        );
        prepare(103, CLOCK + 40, &[102]);
        // In the slots of the second and of the first.
        assert_eq!(
            [memory.horizon(&[101]), memory.horizon(&[103])],
            [0, CLOCK + 40]
        );
    }

    #[test]
    fn after_a_reset_there_is_no_horizon_until_the_transactions_have_ended() {
        let memory = Memory {
            last_time: AtomicU64::new(CLOCK * 2),
            ..Default::default()
        };
        let entries = [memory.open(0, CLOCK), memory.open(1, CLOCK)];
        memory.order().prepare(100, entries[1], |_| true);
        entries[1].close(0);
        memory.order().reset();
        assert_eq!(ordered::advance(&memory.last_time, CLOCK), Ok(CLOCK));
        assert_eq!(memory.horizon(&[100]), 0);
        entries[0].close(0);
        assert_eq!(memory.horizon(&[100]), 0);
        assert_eq!(memory.horizon(&[]), CLOCK + 22);
    }

    #[test]
    fn while_the_order_is_ahead_of_the_clock_the_horizon_takes_every_other_millisecond() {
        const MS: u64 = 1 << FRACTION_BITS;
        let memory = Memory {
            last_time: AtomicU64::new(CLOCK + 3_600_000 * MS + 5),
            ..Default::default()
        };
        let at =
            |clock| (memory.order().horizon(clock, |_| false).unwrap() - CLOCK) as f64 / MS as f64;
        assert_eq!(at(CLOCK), 3_600_001.0);
        assert!(at(CLOCK + MS) < 3_600_001.1);
        assert_eq!(
            [2, 4, 5, 6].map(|ms| at(CLOCK + ms * MS).floor()),
            [2.0, 3.0, 3.0, 4.0].map(|ms| ms + 3_600_000.0)
        );
        // Nor does it wait for a clock that was set back, or go ahead of one that is right.
        assert_eq!(at(CLOCK - MS).floor(), 3_600_005.0);
        memory.last_time.store(CLOCK + 5, Ordering::Relaxed);
        assert_eq!(memory.order().horizon(CLOCK + 4, |_| false), Ok(CLOCK + 6));
    }
}
