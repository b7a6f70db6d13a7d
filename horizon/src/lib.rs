//! The horizon of ordered ids: the id below which no row of a database can become visible any more.
//! (It is not the xmin horizon.)
//!
//! A row becomes visible when its transaction commits, and transactions do not commit in the order
//! of their ids. So a transaction opens an entry in shared memory before it draws its first id. The
//! entry has a *bound*: all ids of the transaction are later. Whoever refreshes the horizon draws a
//! time from the same id clock, and takes the least of that and of the bounds of all open entries.
//! The result is written into a row, and that transaction commits. Consumers read the row, so they
//! see a horizon only if it was computed before their snapshot was taken.
//!
//! # No row is lost
//! Take a row whose id is below a horizon that a snapshot sees, and was drawn by the transaction of
//! the row, which the guard sees to. The id was drawn before the time of the refresh, which is
//! above the horizon. The entry was opened before the id was drawn (I1), so the reader of the
//! entries, who had drawn the later time, did not come before it was opened. It found the entry
//! open, or closed. If it was open, then the horizon is at most its bound, which is below the id: a
//! contradiction. So it had been closed, which happens after the transaction has left the ProcArray
//! (I2). Every snapshot that was taken later sees it as ended, and the snapshot that sees the
//! horizon was. The commit record of the row was written before that, so a standby replays it
//! before that of the horizon, and a subscriber applies it before. (Rows that a subscriber
//! generates itself are not covered.)
//!
//! # Invariants
//! Each store and load on which one of them depends names it. To draw a time is to advance the
//! [`IdClock`]: the result is later than all times that were drawn before.
//!
//! - **I1, entry before id.** A transaction draws an id only after its entry is complete: database,
//!   then `bound`, then a full barrier. Whoever has drawn a later time sees the entry.
//! - **I2, closed after the end.** An entry is closed, and a prepared slot is given away, only
//!   after the transaction has left the ProcArray.
//! - **I3, prepared before closed.** A transaction that is prepared is in its prepared slot before
//!   its entry is closed. Process slots are read before prepared slots. So it is found in one of
//!   them. Whether a prepared transaction is in progress is asked after its slot was read: if the
//!   slot was given to another one meanwhile, the answer is that it has ended.
//! - **I4, no bound of before a reset.** A reset sets the id clock back, and then makes all bounds
//!   [`UNKNOWN`]. Until it has done so, `resetting` is not zero, and there is no horizon. Whoever
//!   sees the id clock set back ([`IdClock::set`] releases) sees `resetting`, too. Whoever writes a
//!   bound of before meanwhile makes it unknown. The caller has drawn its horizon before or after
//!   the whole reset: it holds the lock of the row, which a reset takes first. (The rows of other
//!   databases are not locked. Whoever resets the id clock resets them, too.)
//!
//! `tests/model.rs` runs this in loom, with a fault for each step on which an invariant depends.
//!
//! # What this relies on in PostgreSQL
//! `xact.c`: `CommitTransaction` and `AbortTransaction` call `ProcArrayEndTransaction` before the
//! XactCallbacks of `XACT_EVENT_COMMIT` and `XACT_EVENT_ABORT`. `PrepareTransaction` calls those of
//! `XACT_EVENT_PREPARE` when the dummy PGPROC of the prepared transaction is in the ProcArray, and
//! before `PostPrepare_Twophase` lets anybody end it. A process that exits calls
//! `AbortOutOfAnyTransaction`.
#![forbid(unsafe_code)]

use std::mem::offset_of;

use pg_ulid::ordered::IdClock;
use pg_ulid::{Error, Time};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// In place of a bound or a horizon that is not known: it is before all ids. The horizon is rounded
/// down to its millisecond, which is that of the Unix epoch.
pub const UNKNOWN: Time = Time::from_bits(1);

/// In place of the bound of a process without an open entry. No bound is zero, since the first time
/// of an id clock is 1.
const CLOSED: u64 = 0;

/// In place of the xid of a prepared slot: a process has reserved it.
const RESERVED: u64 = u64::MAX;

/// The entry of a process: its transaction, if that has generated ordered ids. A process has a
/// cache line of its own, since each transaction writes it. All zeros are a closed entry.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct ProcessSlot {
    /// A [`Time`] of the id clock, by its bits: each id of the transaction is later. Or [`CLOSED`].
    bound: AtomicU64,
    /// The OID of the database of the transaction that opened the entry last.
    database: AtomicU64,
    /// The pid of the process that opened the entry last.
    pid: AtomicU64,
    /// The index of the prepared slot that is reserved, plus 1; zero if none is.
    reserved: AtomicU64,
}

/// A prepared transaction. All zeros are a free slot.
#[derive(Debug, Default)]
#[repr(C, align(32))]
pub struct PreparedSlot {
    /// The full xid of the transaction; it may have ended. Or [`RESERVED`], or zero.
    xid: AtomicU64,
    /// Copies of these fields of the transaction's entry.
    bound: AtomicU64,
    database: AtomicU64,
}

/// What the processes share besides the id clock and the slots. All zeros are the first state.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Control {
    /// The number of processes that are resetting the id clock.
    resetting: AtomicU64,
    /// The number of resets that have been done.
    resets: AtomicU64,
    /// The number of processes that are advancing the id clock to a row, which may be of before a
    /// reset.
    advancing: AtomicU64,
    /// The system clock, in milliseconds since the Unix epoch, when [`Shared::draw`] last made a
    /// step ahead of it.
    last_step: AtomicU64,
    /// Where the next search for a free prepared slot starts: this number, modulo the number of
    /// slots.
    next_slot: AtomicU64,
    /// The next full xid at the first use of the memory outside of recovery; zero before that.
    start_xid: AtomicU64,
}

/// The full barriers, which the model removes one at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Barrier {
    OpenEntry,
    Fill,
    Horizon,
    AdvanceToRow,
    SetBackEntries,
    SetBackPrepared,
}

/// A full barrier, which orders what comes before it and what comes after it for all processes.
#[inline(always)]
fn full_barrier(_barrier: Barrier) {
    #[cfg(all(test, loom))]
    if model::is_removed(_barrier) {
        return;
    }
    fence(Ordering::SeqCst);
}

/// A hash of the sizes of the types in shared memory, and of the offsets of their fields. Processes
/// with libraries of different releases compare it before they share the memory. It does not tell
/// what the fields mean.
pub const fn layout_hash() -> u64 {
    hash(&[
        size_of::<ProcessSlot>(),
        offset_of!(ProcessSlot, bound),
        offset_of!(ProcessSlot, database),
        offset_of!(ProcessSlot, pid),
        offset_of!(ProcessSlot, reserved),
        size_of::<PreparedSlot>(),
        offset_of!(PreparedSlot, xid),
        offset_of!(PreparedSlot, bound),
        offset_of!(PreparedSlot, database),
        size_of::<Control>(),
        offset_of!(Control, resetting),
        offset_of!(Control, resets),
        offset_of!(Control, advancing),
        offset_of!(Control, last_step),
        offset_of!(Control, next_slot),
        offset_of!(Control, start_xid),
    ])
}

/// A hash of numbers in their order: FNV-1a, of words in place of bytes.
pub const fn hash(numbers: &[usize]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut n = 0;
    while n < numbers.len() {
        hash = (hash ^ numbers[n] as u64).wrapping_mul(0x0100_0000_01b3);
        n += 1;
    }
    hash
}

/// All that the processes share.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'memory> {
    /// The id clock: the last time that was drawn.
    pub id_clock: &'memory IdClock,
    /// What belongs to no process.
    pub control: &'memory Control,
    /// One for each process of the server.
    pub process_slots: &'memory [ProcessSlot],
    /// max_prepared_transactions, and one more for each process. None if transactions cannot be
    /// prepared.
    pub prepared_slots: &'memory [PreparedSlot],
}

/// The open entry of a transaction: references to shared memory, which the process keeps.
#[derive(Clone, Copy, Debug)]
pub struct OpenEntry<'memory> {
    slot: &'memory ProcessSlot,
    prepared_slots: &'memory [PreparedSlot],
}

impl OpenEntry<'_> {
    /// Each id of the transaction is later than this. [`UNKNOWN`] after a reset.
    pub fn bound(&self) -> Time {
        Time::from_bits(self.slot.bound.load(Ordering::Relaxed))
    }

    /// Closes the entry of a transaction that has left the ProcArray.
    pub fn close(&self) {
        // I2
        self.slot.bound.store(CLOSED, Ordering::Release);
    }

    /// Moves the entry to the reserved prepared slot. The transaction has been prepared, with this
    /// full xid. Its dummy PGPROC is in the ProcArray, and nobody can end it yet.
    pub fn prepare(&self, xid: u64) {
        let index = self
            .slot
            .reserved
            .swap(0, Ordering::Relaxed)
            .wrapping_sub(1);
        // `open_entry` has reserved one, since transactions can be prepared.
        if let Some(prepared) = self.prepared_slots.get(index as usize) {
            prepared.fill(self.slot, xid);
        }
        // I3: after the slot is filled.
        self.close();
    }
}

impl PreparedSlot {
    /// Copies the entry of the transaction of this full xid, which is still open.
    fn fill(&self, entry: &ProcessSlot, xid: u64) {
        // I3: from here to the store of the xid.
        let (database, bound) = (&entry.database, &entry.bound);
        self.database
            .store(database.load(Ordering::Relaxed), Ordering::Relaxed);
        self.bound
            .store(bound.load(Ordering::Relaxed), Ordering::Relaxed);
        // I4: a full barrier, which pairs with the second one of `set_back`. Either `set_back`
        // makes this bound unknown afterwards, or it has made that of the entry unknown before,
        // which the load sees.
        full_barrier(Barrier::Fill);
        if bound.load(Ordering::Relaxed) == UNKNOWN.to_bits() {
            self.bound.store(UNKNOWN.to_bits(), Ordering::Relaxed);
        }
        self.xid.store(xid, Ordering::Release);
    }
}

impl<'memory> Shared<'memory> {
    /// Stores the next full xid of the server, if that is the first call. Call it before anything
    /// else, outside of recovery.
    pub fn start(self, next_xid: u64) {
        let (relaxed, start_xid) = (Ordering::Relaxed, &self.control.start_xid);
        let _ = start_xid.compare_exchange(0, next_xid, relaxed, relaxed);
    }

    /// The full xid of [`Self::start`]; none before. A prepared transaction with a lesser xid and
    /// without a prepared slot may be from before a restart or a promotion, and have any ids.
    pub fn start_xid(self) -> Option<u64> {
        let start_xid = self.control.start_xid.load(Ordering::Relaxed);
        (start_xid != 0).then_some(start_xid)
    }

    /// Opens the entry of a transaction before its first id. None if the process has no slot.
    /// `slot_number` is the index of the process slot, `database` an OID, and `clock` the system
    /// clock. `is_in_progress` tells whether the transaction of a full xid has not ended.
    ///
    /// It reserves a prepared slot in case the transaction is prepared. `XACT_EVENT_PRE_PREPARE`
    /// would be too early, because the callback of another extension may still generate the first
    /// id. `XACT_EVENT_PREPARE` would be too late, because no ERROR is allowed there.
    pub fn open_entry(
        self,
        slot_number: usize,
        pid: u64,
        database: u64,
        clock: Time,
        is_in_progress: impl Fn(u64) -> bool,
    ) -> Option<OpenEntry<'memory>> {
        let slot = self.process_slots.get(slot_number)?;
        if slot.reserved.load(Ordering::Relaxed) == 0 && !self.prepared_slots.is_empty() {
            let index = self.reserve(is_in_progress);
            slot.reserved.store(index as u64 + 1, Ordering::Relaxed);
        }
        slot.pid.store(pid, Ordering::Relaxed);
        // I1: from here to the barrier, which pairs with that of `horizon`.
        slot.database.store(database, Ordering::Relaxed);
        // No id has this time. The id clock advances to the system clock, so that the bound is not
        // as old as the last id. On overflow there is no next id, so nothing is to be held.
        let bound = self.id_clock.advance(clock).unwrap_or(Time::MAX);
        slot.bound.store(bound.to_bits(), Ordering::Release);
        full_barrier(Barrier::OpenEntry);
        // I4: the barrier pairs with the first one of `set_back`, too. Either that makes the bound
        // unknown afterwards, or the load sees the id clock set back. If that has passed the bound
        // again, the ids to come are later than the bound.
        if self.id_clock.time() < bound {
            slot.bound.store(UNKNOWN.to_bits(), Ordering::Release);
            // I1, for this bound: it is before the id that is drawn next.
            fence(Ordering::Release);
        }
        Some(OpenEntry {
            slot,
            prepared_slots: self.prepared_slots,
        })
    }

    /// Reserves a prepared slot whose transaction has ended, and returns its index.
    ///
    /// There is one, so the loop ends: there are more slots than prepared transactions, by one for
    /// each process, and a process reserves at most one. The search goes round, so that the slot
    /// that was reserved last is tried last.
    fn reserve(self, is_in_progress: impl Fn(u64) -> bool) -> usize {
        loop {
            let next = self.control.next_slot.fetch_add(1, Ordering::Relaxed);
            let index = next as usize % self.prepared_slots.len();
            let word = &self.prepared_slots[index].xid;
            let xid = word.load(Ordering::Relaxed);
            // I2
            let is_taken = xid == RESERVED || xid != 0 && is_in_progress(xid);
            let (taken, relaxed) = (Ordering::AcqRel, Ordering::Relaxed);
            if !is_taken && word.compare_exchange(xid, RESERVED, taken, relaxed).is_ok() {
                return index;
            }
        }
    }

    /// The horizon of a database, as a time of the id clock. [`UNKNOWN`] during and after a reset,
    /// until the transactions of before have ended. Advances the id clock to `clock`, the system
    /// clock. `is_in_progress` tells whether the transaction of a full xid has not ended.
    ///
    /// # Errors
    /// Those of [`IdClock::advance`].
    pub fn horizon(
        self,
        database: u64,
        clock: Time,
        is_in_progress: impl Fn(u64) -> bool,
    ) -> Result<Time, Error> {
        // I1: an id that is at most `drawn` was drawn before. The barrier pairs with that of
        // `open_entry`.
        let drawn = self.draw(clock)?;
        full_barrier(Barrier::Horizon);
        // I4
        let Control {
            resetting,
            advancing,
            ..
        } = self.control;
        if resetting.load(Ordering::Acquire) != 0 || advancing.load(Ordering::Acquire) != 0 {
            return Ok(UNKNOWN);
        }
        // I3, in this order
        let horizon = drawn.min(self.least_of_processes(database));
        Ok(self.least_of_prepared(database, horizon, is_in_progress))
    }

    /// The least bound of the open entries of a database; [`Time::MAX`] if there are none.
    fn least_of_processes(self, database: u64) -> Time {
        let mut least = Time::MAX;
        for slot in self.process_slots {
            // I1, I2 and I3. The slot may be given to another process between both loads. Then this
            // transaction has ended.
            let bound = slot.bound.load(Ordering::Acquire);
            if bound != CLOSED && slot.database.load(Ordering::Relaxed) == database {
                least = least.min(Time::from_bits(bound));
            }
        }
        least
    }

    /// The least of `least` and of the bounds of the prepared transactions of a database.
    fn least_of_prepared(
        self,
        database: u64,
        mut least: Time,
        is_in_progress: impl Fn(u64) -> bool,
    ) -> Time {
        for slot in self.prepared_slots {
            let xid = slot.xid.load(Ordering::Acquire);
            if xid == 0 || xid == RESERVED {
                continue;
            }
            let bound = Time::from_bits(slot.bound.load(Ordering::Acquire));
            let is_own = slot.database.load(Ordering::Acquire) == database;
            // I3. If the slot was given to another transaction meanwhile, this one had ended.
            if is_own && bound < least && is_in_progress(xid) {
                least = bound;
            }
        }
        least
    }

    /// Takes a time from the id clock, which advances to the system clock.
    ///
    /// A horizon is a whole millisecond. If the id clock is ahead of the system clock, it would
    /// advance by a 65536th of a millisecond per call, and the horizon would stand still. So it
    /// then steps to the next millisecond, once for two of the system clock, which catches up.
    fn draw(self, clock: Time) -> Result<Time, Error> {
        let (next_ms, now_ms) = (self.id_clock.time().unix_ms() + 1, clock.unix_ms());
        let last_step = &self.control.last_step;
        let last = last_step.load(Ordering::Relaxed);
        let relaxed = Ordering::Relaxed;
        let steps = next_ms > now_ms + 1
            && now_ms.abs_diff(last) >= 2
            && last_step
                .compare_exchange(last, now_ms, relaxed, relaxed)
                .is_ok();
        let step = steps.then(|| Time::from_unix_ms(next_ms).ok()).flatten();
        self.id_clock.advance(step.unwrap_or(clock))
    }

    /// Advances the id clock to the time that `read` finds in the row of the horizon. If a reset
    /// came between, the row may be of before it, so the id clock is reset again. Until that is
    /// known, there is no horizon.
    ///
    /// # Errors
    /// That of `read`.
    pub fn advance_to_row<E>(self, read: impl FnOnce() -> Result<Time, E>) -> Result<(), E> {
        let Control {
            resetting,
            resets,
            advancing,
            ..
        } = self.control;
        let before = resets.load(Ordering::Acquire);
        let time = read()?;
        advancing.fetch_add(1, Ordering::Relaxed);
        self.id_clock.advance_to(time);
        // If a reset has set the id clock back before that, one of both words tells.
        full_barrier(Barrier::AdvanceToRow);
        if resetting.load(Ordering::Acquire) != 0 || resets.load(Ordering::Acquire) != before {
            self.begin_reset();
            self.end_reset();
        }
        advancing.fetch_sub(1, Ordering::Release);
        Ok(())
    }

    /// From now on until [`Self::end_reset`] or [`Self::cancel_reset`], there is no horizon.
    pub fn begin_reset(self) {
        self.control.resetting.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the id clock back to zero, so that the next id has the time of the system clock.
    /// Running transactions may then generate ids that are less than their bounds. So the horizon
    /// of their database is not known until they end.
    pub fn end_reset(self) {
        self.set_back();
        self.control.resets.fetch_add(1, Ordering::Release);
        self.cancel_reset();
    }

    /// Ends what [`Self::begin_reset`] has begun, and leaves the id clock as it is.
    pub fn cancel_reset(self) {
        self.control.resetting.fetch_sub(1, Ordering::Release);
    }

    /// Sets the id clock to zero, then each bound to [`UNKNOWN`].
    fn set_back(self) {
        // I4: each barrier pairs with one in `open_entry` or in `PreparedSlot::fill`.
        self.id_clock.set(Time::UNIX_EPOCH);
        full_barrier(Barrier::SetBackEntries);
        for ProcessSlot { bound, .. } in self.process_slots {
            let last = bound.load(Ordering::Relaxed);
            if last != CLOSED {
                // It fails if the entry is closed meanwhile. Another transaction that opens it has
                // a bound of after the reset, or makes it unknown itself.
                let (unknown, release) = (UNKNOWN.to_bits(), Ordering::Release);
                let _ = bound.compare_exchange(last, unknown, release, Ordering::Relaxed);
            }
        }
        full_barrier(Barrier::SetBackPrepared);
        for slot in self.prepared_slots {
            slot.bound.store(UNKNOWN.to_bits(), Ordering::Release);
        }
    }

    /// The bound of the running transaction of a process; none if that has no open entry.
    pub fn bound_of_process(self, pid: u64) -> Option<Time> {
        let mut slots = self.process_slots.iter();
        let bound = slots.find_map(|slot| {
            let bound = slot.bound.load(Ordering::Acquire);
            (bound != CLOSED && slot.pid.load(Ordering::Relaxed) == pid).then_some(bound)
        })?;
        Some(Time::from_bits(bound))
    }

    /// The bound of the prepared transaction of this full xid; none if it has no prepared slot.
    pub fn bound_of_prepared(self, xid: u64) -> Option<Time> {
        let mut slots = self.prepared_slots.iter();
        let slot = slots.find(|slot| slot.xid.load(Ordering::Acquire) == xid)?;
        Some(Time::from_bits(slot.bound.load(Ordering::Relaxed)))
    }
}

/// The full xid, with its epoch in the high 32 bits, of an xid that is not later than the full xid
/// `next`, and at most 2^32 - 1 before it.
pub fn to_full_xid(xid: u32, next: u64) -> u64 {
    next.wrapping_sub((next as u32).wrapping_sub(xid).into())
}

#[cfg(all(test, loom))]
#[path = "../tests/model.rs"]
mod model;

#[cfg(all(test, not(loom)))]
#[path = "../tests/unit.rs"]
mod tests;
