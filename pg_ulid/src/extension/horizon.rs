//! The horizon of ordered ids: the id below which no row of a database can become visible any more,
//! neither to the reader's snapshot nor to a later one. (It is not the xmin horizon.)
//!
//! A row becomes visible when its transaction commits, and transactions do not commit in the order
//! of their ids. So a transaction writes an [`Entry`] to shared memory before its first id. The
//! entry has `bound`, an exclusive lower bound of its ids. XactCallback closes the entry with the
//! xid, after the transaction has left the ProcArray. At PREPARE TRANSACTION, it moves the entry to
//! a [`PreparedSlot`]. A reader takes a time from the id clock. The horizon is the minimum of this
//! time and of `bound` of each transaction that is running according to its snapshot.
//!
//! Three transactions and a reader, with times in milliseconds:
//!
//! | time | xid 7 | xid 8 | xid 9 | the reader |
//! |---|---|---|---|---|
//! | 10 | opens its entry: bound 10 | | | |
//! | 11 | id 11 | | | |
//! | 12 | | opens its entry: bound 12 | | |
//! | 13 | | id 13 | | |
//! | 14 | | commits, entry: xid 8 | | |
//! | 15 | | | | snapshot: `xmin` 7, `xmax` 9, `xip` 7 |
//! | 16 | commits, entry: xid 7 | | | |
//! | 17 | | | | takes the time 17 |
//! | 18 | | | opens its entry: bound 18 | |
//! | 19 | | | id 19 | reads the entries |
//!
//! - Xid 7 is in `xip`. The reader does not see the row of id 11, although it is committed by now.
//!   So the entry counts, and the horizon is 10.
//! - Xid 8 is not running according to the snapshot. The reader sees its row, but leaves id 13 to
//!   the next poll.
//! - Xid 9 opened its entry at a later time than that of the reader. It makes no difference whether
//!   the reader sees the entry.
//!
//! # Invariants
//!
//! Each store and load on which one of them depends names it. To draw a time is to advance an
//! [`IdClock`]: the result is later than all times that were drawn before.
//!
//! - **I1, entry before id.** A transaction draws an id only after its entry is complete: database,
//!   `bound` below the id, `OPEN`, `count`, `latest_xid`. So a reader that has drawn a time after
//!   that id sees the entry. (The barriers of `open_entry` and `horizon` are between.)
//! - **I2, closed after the end.** An entry or a prepared slot keeps a transaction as running until
//!   it has left the ProcArray. Then it keeps the xid, unless the rows can never become visible. So
//!   a transaction that a snapshot sees as running counts for that snapshot.
//! - **I3, xids increase.** The entries of a process slot, from the oldest to the newest, have
//!   increasing xids, and `latest_xid` has the greatest. So if a snapshot sees one as ended, it
//!   sees all earlier ones as ended. A prepared slot is given away only after its transaction has
//!   ended, so the same holds there.
//! - **I4, nothing is overwritten that is not remembered.** Before an entry or a prepared
//!   slot is given to another transaction, `overwritten` has its xid, in the word of its database.
//!   A reader loads that word last. So whatever a reader has missed by then is there, or a later
//!   one of the same database.
//! - **I5, prepared before it is gone.** A prepared transaction is in its prepared slot before its
//!   entry is closed, and a reader looks at process slots before prepared slots. So it is found in
//!   one of them.
//! - **I6, no `bound` of before a reset.** `resetting` is not zero while the id clock is back and a
//!   `bound` of before is left. Whoever writes one meanwhile zeroes it. Zero means no horizon.
//! - **I7, started before used.** A process that sees `start_xid` sees the id clock as it was
//!   started, and none generates an id before that. So a transaction with an xid of at least
//!   `start_xid` has no ids but those in an entry.
//!
//! **No row is lost.** Take a row whose id is less than the horizon of a snapshot that does not see
//! it. Its transaction is running for that snapshot, or aborts. The id is less than the drawn time,
//! so the reader has loaded the entry (I1) as it was then or later. If it was open, or closed with
//! its xid (I2), it counted: the scan stops only at a later transaction that has ended, and then
//! this one has ended, too (I3). If it was overwritten, its database has a transaction in
//! `overwritten` that is running for the snapshot (I3, I4). If it was prepared, its prepared slot
//! counted (I5). In the first and the last case the horizon is at most `bound`, which is less than
//! the id; in the other, it is zero.
//!
//! `tests/model/horizon.rs` has the model in loom, with faults for each invariant.
//!
//! # What this relies on in PostgreSQL
//!
//! - `xact.c`: `CommitTransaction` and `AbortTransaction` call `ProcArrayEndTransaction` before the
//!   XactCallbacks of `XACT_EVENT_COMMIT` and `XACT_EVENT_ABORT`. `PrepareTransaction` calls those
//!   of `XACT_EVENT_PREPARE` when the dummy PGPROC of the prepared transaction is in the ProcArray,
//!   and before `PostPrepare_Twophase` lets anybody end it. A process that exits calls
//!   `AbortOutOfAnyTransaction`.
//! - `procarray.c`: `GetSnapshotData` copies the top-level xids below `xmax` into `xip`, also those
//!   of prepared transactions. It leaves out the own xid, and those of lazy VACUUM and of logical
//!   decoding, which insert no rows. It holds the lock that `ProcArrayEndTransaction` takes for a
//!   transaction with an xid.
//! - `snapmgr.c`: `XidInMVCCSnapshot`, for a top-level xid, compares with `xmin` and `xmax`, and
//!   then searches `xip`.

use std::mem::offset_of;

use crate::error::Error;
use crate::ordered::IdClock;
use crate::sync::{AtomicU64, Ordering, fence};
use crate::time::{FRACTION_BITS, Time};

/// In place of a horizon or of a bound that is not known: it is before all ids.
pub const UNKNOWN: Time = Time::UNIX_EPOCH;

/// In place of the full xid of an entry whose transaction has not ended. Zero stands for none.
const OPEN: u64 = u64::MAX;

/// A flag of [`Shared::prepared_xids`]: the prepared slot is reserved. The other bits are the xid
/// of the transaction that had it before.
const RESERVED: u64 = 1 << 63;

/// The number of words in which a slot remembers what was overwritten in it, by the database modulo
/// this number.
const OVERWRITTEN_WORDS: usize = 16;

/// For each database, the full xid of its last transaction whose entry or prepared slot was
/// overwritten; zero if there is none. Databases whose OIDs are equal modulo [`OVERWRITTEN_WORDS`]
/// share a word, which has the last xid of any of them.
#[derive(Debug, Default)]
#[repr(C)]
struct Overwritten([AtomicU64; OVERWRITTEN_WORDS]);

impl Overwritten {
    /// The word of a database, by its OID.
    fn of(&self, database: u64) -> &AtomicU64 {
        &self.0[database as usize % OVERWRITTEN_WORDS]
    }

    /// Remembers a transaction of this database before it is overwritten. With xid zero, there is
    /// none to be remembered.
    fn record(&self, database: u64, xid: u64) {
        if xid != 0 {
            self.of(database).store(xid, Ordering::Release);
        }
    }
}

/// A transaction that has generated ordered ids. All zeros are an empty entry.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Entry {
    /// A [`Time`] of the id clock, by its bits. Each id of the transaction has a later time.
    bound: AtomicU64,
    /// The OID of its database.
    database: AtomicU64,
    /// `OPEN` while the transaction is running. Then its full xid, if it has committed with one.
    /// Zero if it has aborted, had no xid, or was prepared.
    xid: AtomicU64,
}

/// The entry of a process that is open, and those of the last transactions that have committed with
/// an xid: `N` in all. All zeros are an empty slot.
///
/// Their xids increase (I3), because a process runs one transaction after the other, also if
/// another process takes the slot. Prepared transactions may end in any order, so they leave the
/// slot.
#[derive(Debug)]
#[repr(C)]
pub struct ProcessSlot<const N: usize> {
    /// The transactions whose entries were overwritten.
    overwritten: Overwritten,
    /// The pid of the process that last opened an entry here.
    pid: AtomicU64,
    /// The number of entries until now; the last is at this number - 1, modulo N.
    count: AtomicU64,
    /// The index of the prepared slot that is reserved, plus 1; zero if none is.
    reserved: AtomicU64,
    entries: [Entry; N],
}

impl<const N: usize> Default for ProcessSlot<N> {
    fn default() -> Self {
        let [pid, count, reserved] = Default::default();
        Self {
            overwritten: Overwritten::default(),
            pid,
            count,
            reserved,
            entries: [(); N].map(|()| Entry::default()),
        }
    }
}

impl<const N: usize> ProcessSlot<N> {
    /// The entry of this number, from 0. Entries are used in turn.
    fn entry(&self, number: u64) -> &Entry {
        &self.entries[number as usize % N]
    }

    /// Writes the entry of the transaction that begins to generate ids. `database` is an OID, and
    /// `clock` the system clock, which need not be later than `id_clock`. The caller then stores
    /// `latest_xid`, and issues a full barrier before the first id.
    fn write_entry(&self, database: u64, id_clock: &IdClock, clock: Time) -> &Entry {
        let count = self.count.load(Ordering::Relaxed);
        let last = count.wrapping_sub(1);
        // I3: no snapshot needs an entry without an xid, so it is used again.
        let is_free = count != 0 && self.entry(last).xid.load(Ordering::Relaxed) == 0;
        let number = if is_free { last } else { count };
        let entry = self.entry(number);
        // I4: a reader that finds one of the next stores finds this one.
        let [old_database, old_xid] =
            [&entry.database, &entry.xid].map(|word| word.load(Ordering::Relaxed));
        self.overwritten.record(old_database, old_xid);
        entry.xid.store(0, Ordering::Release);
        // I1: from here to the barrier of `open_entry`.
        entry.database.store(database, Ordering::Release);
        // No id has this time. The id clock advances to the system clock, so that `bound` is not as
        // old as the last id.
        // On overflow there is no next id, so nothing is to be held.
        let bound = id_clock.advance(clock).unwrap_or(Time::MAX);
        entry.bound.store(bound.0, Ordering::Release);
        entry.xid.store(OPEN, Ordering::Release);
        self.count.store(number + 1, Ordering::Release);
        entry
    }

    /// The minimum of `bound` of the running transactions of a database; [`Time::MAX`] if there are
    /// none. [`UNKNOWN`] if a running one of it may have been overwritten. `is_running` tells
    /// whether the snapshot sees a full xid as running. It is true for `OPEN`, and false for zero.
    fn horizon(&self, database: u64, is_running: &impl Fn(u64) -> bool) -> Time {
        let least = self.least_bound(database, is_running);
        // I4: after the entries.
        if is_running(self.overwritten.of(database).load(Ordering::Acquire)) {
            UNKNOWN
        } else {
            least
        }
    }

    /// That minimum of the entries that are left, from the newest to the oldest.
    fn least_bound(&self, database: u64, is_running: &impl Fn(u64) -> bool) -> Time {
        // I1, of the newest entry.
        let count = self.count.load(Ordering::Acquire);
        let mut least = Time::MAX;
        for number in (count.saturating_sub(N as u64)..count).rev() {
            let entry = self.entry(number);
            // I2
            let xid = entry.xid.load(Ordering::Acquire);
            if xid == 0 {
                continue;
            }
            // I3: all older ones have ended, too.
            if !is_running(xid) {
                break;
            }
            // I1
            if entry.database.load(Ordering::Acquire) == database {
                least = least.min(Time(entry.bound.load(Ordering::Acquire)));
            }
        }
        least
    }
}

/// A prepared transaction, whose xid is in [`Shared::prepared_xids`]. All zeros are an empty slot.
#[derive(Debug, Default)]
#[repr(C)]
pub struct PreparedSlot {
    /// The transactions that had the slot before.
    overwritten: Overwritten,
    /// Copies of these fields of the transaction's entry.
    bound: AtomicU64,
    database: AtomicU64,
}

impl PreparedSlot {
    /// Copies the entry of the transaction of this full xid, which has been prepared. The entry is
    /// still open. `prepared_xid` is the word of this slot in [`Shared::prepared_xids`].
    fn fill(&self, prepared_xid: &AtomicU64, xid: u64, entry: &Entry) {
        // I4: before the other stores.
        let old_xid = prepared_xid.load(Ordering::Relaxed) & !RESERVED;
        let old_database = self.database.load(Ordering::Relaxed);
        self.overwritten.record(old_database, old_xid);
        // I5: from here to the store of the xid.
        self.database
            .store(entry.database.load(Ordering::Relaxed), Ordering::Release);
        self.bound
            .store(entry.bound.load(Ordering::Acquire), Ordering::Release);
        // I6: a full barrier, which pairs with the second one of `set_back`. Either that zeroes
        // this `bound` afterwards, or the load sees that it has zeroed the one of the entry.
        fence(Ordering::SeqCst);
        if entry.bound.load(Ordering::Acquire) == UNKNOWN.0 {
            self.bound.store(UNKNOWN.0, Ordering::Release);
        }
        prepared_xid.store(xid, Ordering::Release);
    }

    /// `bound` if the transaction is of this database; otherwise [`Time::MAX`]. [`UNKNOWN`] if an
    /// earlier one of this database had the slot, and is running.
    fn horizon(&self, database: u64, is_running: &impl Fn(u64) -> bool) -> Time {
        let bound = self.bound_in(database);
        // I4: after the slot.
        if is_running(self.overwritten.of(database).load(Ordering::Acquire)) {
            UNKNOWN
        } else {
            bound
        }
    }

    fn bound_in(&self, database: u64) -> Time {
        if self.database.load(Ordering::Acquire) == database {
            Time(self.bound.load(Ordering::Acquire))
        } else {
            Time::MAX
        }
    }
}

/// What the processes share besides the id clock and the slots. All zeros are the first state.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Control {
    /// The number of processes that are resetting the id clock.
    resetting: AtomicU64,
    /// The system clock, in milliseconds since the Unix epoch, when [`Shared::draw`] last made a
    /// step ahead of it.
    last_step: AtomicU64,
    /// Where the next search for a free prepared slot starts: this number, modulo the number of
    /// slots.
    next_slot: AtomicU64,
    /// The next full xid when the id clock was started on this server; zero before that, and during
    /// recovery.
    start_xid: AtomicU64,
}

/// A hash of the sizes of the types in shared memory, and of the offsets of their fields. Processes
/// with libraries of different releases compare it before they share the memory. It does not tell
/// what the fields mean.
pub const fn layout_hash<const N: usize>() -> u64 {
    let numbers = [
        size_of::<Entry>(),
        offset_of!(Entry, bound),
        offset_of!(Entry, database),
        offset_of!(Entry, xid),
        size_of::<ProcessSlot<N>>(),
        offset_of!(ProcessSlot<N>, overwritten),
        offset_of!(ProcessSlot<N>, pid),
        offset_of!(ProcessSlot<N>, count),
        offset_of!(ProcessSlot<N>, reserved),
        offset_of!(ProcessSlot<N>, entries),
        size_of::<PreparedSlot>(),
        offset_of!(PreparedSlot, overwritten),
        offset_of!(PreparedSlot, bound),
        offset_of!(PreparedSlot, database),
        size_of::<Control>(),
        offset_of!(Control, resetting),
        offset_of!(Control, last_step),
        offset_of!(Control, next_slot),
        offset_of!(Control, start_xid),
        OVERWRITTEN_WORDS,
        N,
    ];
    hash(&numbers)
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

/// All that the processes share. `N` is the number of entries of a process slot.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'memory, const N: usize> {
    /// The id clock: the last time that was drawn.
    pub id_clock: &'memory IdClock,
    /// What belongs to no process.
    pub control: &'memory Control,
    /// For each process slot, `OPEN` while its last entry is open; then the full xid of its last
    /// transaction that committed with one. A dense array, as ProcGlobal->xids, because most
    /// processes are idle.
    pub latest_xids: &'memory [AtomicU64],
    /// The slots of the processes.
    pub process_slots: &'memory [ProcessSlot<N>],
    /// For each prepared slot, the full xid of its transaction, and the flag `RESERVED`. The
    /// xid is zero before the first one.
    pub prepared_xids: &'memory [AtomicU64],
    /// max_prepared_transactions, and one more for each process. None if transactions cannot be
    /// prepared.
    pub prepared_slots: &'memory [PreparedSlot],
}

/// The open entry of a transaction, and what its end needs: references to shared memory, which the
/// process keeps.
#[derive(Clone, Copy, Debug)]
pub struct OpenEntry<'memory> {
    entry: &'memory Entry,
    latest_xid: &'memory AtomicU64,
    /// What `latest_xid` was before the entry was opened.
    previous_xid: u64,
    /// The index of the reserved prepared slot, plus 1.
    reserved: &'memory AtomicU64,
    prepared_xids: &'memory [AtomicU64],
    prepared_slots: &'memory [PreparedSlot],
}

impl OpenEntry<'_> {
    /// Each id of the transaction has a later time than this. [`UNKNOWN`] after a reset.
    pub fn bound(&self) -> Time {
        Time(self.entry.bound.load(Ordering::Relaxed))
    }

    /// Closes the entry of a transaction that has left the ProcArray, with its full xid. That is
    /// zero if it had none, or has aborted: its rows can never become visible.
    pub fn end(&self, xid: u64) {
        // I2
        self.entry.xid.store(xid, Ordering::Release);
        let last = if xid == 0 {
            // I3: zero would hide the transaction before this one.
            self.previous_xid
        } else {
            xid
        };
        self.latest_xid.store(last, Ordering::Release);
    }

    /// Moves the entry to the reserved prepared slot. The transaction has been prepared, with this
    /// full xid. Its dummy PGPROC is in the ProcArray, and nobody can end it yet.
    pub fn prepare(&self, xid: u64) {
        let index = self.reserved.swap(0, Ordering::Relaxed).wrapping_sub(1) as usize;
        // `open_entry` has reserved one, since transactions can be prepared.
        let mut slots = self.prepared_xids.iter().zip(self.prepared_slots);
        if let Some((prepared_xid, slot)) = slots.nth(index) {
            slot.fill(prepared_xid, xid, self.entry);
        }
        // I5: after the slot is filled.
        self.end(0);
    }
}

impl<'memory, const N: usize> Shared<'memory, N> {
    /// Starts the id clock: from then on, ids have later times than `after`. The first call stores
    /// `next_xid`, the next full xid of the server, for [`Self::start_xid`].
    pub fn start(self, after: Time, next_xid: u64) {
        // I7: in this order.
        self.id_clock.advance_to(after);
        let start_xid = &self.control.start_xid;
        let _ = start_xid.compare_exchange(0, next_xid, Ordering::Release, Ordering::Relaxed);
    }

    /// The next full xid when the id clock was started on this server; none before that. A
    /// transaction with a lesser xid may have ids without an entry.
    pub fn start_xid(self) -> Option<u64> {
        // I7
        Some(self.control.start_xid.load(Ordering::Acquire)).filter(|&xid| xid != 0)
    }

    /// Opens an entry for a transaction, before its first id. None if the process has no slot.
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
        let latest_xid = self.latest_xids.get(slot_number)?;
        if slot.reserved.load(Ordering::Relaxed) == 0 && !self.prepared_slots.is_empty() {
            let index = self.reserve(is_in_progress);
            slot.reserved.store(index as u64 + 1, Ordering::Relaxed);
        }
        slot.pid.store(pid, Ordering::Relaxed);
        let previous_xid = latest_xid.load(Ordering::Relaxed);
        let entry = slot.write_entry(database, self.id_clock, clock);
        // I1: the entry is complete. The barrier pairs with that of `horizon`.
        latest_xid.store(OPEN, Ordering::Release);
        fence(Ordering::SeqCst);
        // I6: the barrier pairs with the first one of `set_back`, too. Either that zeroes
        // `bound` afterwards, or the load sees the reset.
        if self.id_clock.time().0 < entry.bound.load(Ordering::Relaxed) {
            entry.bound.store(UNKNOWN.0, Ordering::Release);
            // A reader whose time is later than an id of ours sees this, too.
            fence(Ordering::Release);
        }
        Some(OpenEntry {
            entry,
            latest_xid,
            previous_xid,
            reserved: &slot.reserved,
            prepared_xids: self.prepared_xids,
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
            let index = next as usize % self.prepared_xids.len();
            let prepared_xid = &self.prepared_xids[index];
            // I3: only a transaction that has ended loses its slot. I2: the reservation keeps its
            // xid, as older snapshots may still see it as running.
            let last = prepared_xid.load(Ordering::Acquire);
            let is_taken = last & RESERVED != 0 || last != 0 && is_in_progress(last);
            if !is_taken
                && prepared_xid
                    .compare_exchange(last, last | RESERVED, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
            {
                return index;
            }
        }
    }

    /// The horizon of a snapshot, in a database, as a time of the id clock. Each row below it is
    /// visible to the snapshot, or never becomes visible. [`UNKNOWN`] if a transaction that is
    /// running for the snapshot was overwritten, or has no bound because of a reset. Advances the
    /// id clock to `clock`, the system clock. `is_running` tells whether the snapshot sees a full
    /// xid as running.
    ///
    /// # Errors
    /// Those of [`IdClock::advance`].
    pub fn horizon(
        self,
        database: u64,
        clock: Time,
        is_running: impl Fn(u64) -> bool,
    ) -> Result<Time, Error> {
        // I1: an id that is at most `drawn` was drawn before. The barrier pairs with that of
        // `open_entry`.
        let drawn = self.draw(clock)?;
        fence(Ordering::SeqCst);
        // I6
        if self.control.resetting.load(Ordering::Acquire) != 0 {
            return Ok(UNKNOWN);
        }
        let is_running = |xid| xid != 0 && (xid == OPEN || is_running(xid));
        let mut horizon = drawn;
        for (latest_xid, slot) in self.latest_xids.iter().zip(self.process_slots) {
            // I3: of what has ended, it is the greatest xid. I1: `OPEN` is always running.
            if is_running(latest_xid.load(Ordering::Acquire)) {
                horizon = horizon.min(slot.horizon(database, &is_running));
            }
        }
        // I5: prepared slots after process slots.
        for (prepared_xid, slot) in self.prepared_xids.iter().zip(self.prepared_slots) {
            // I2 and I3
            if is_running(prepared_xid.load(Ordering::Acquire) & !RESERVED) {
                horizon = horizon.min(slot.horizon(database, &is_running));
            }
        }
        Ok(horizon)
    }

    /// Takes the time of a reader from the id clock, which advances to the system clock.
    ///
    /// An id is compared with the millisecond of a horizon only. If the id clock is ahead of the
    /// system clock, it would advance by a 65536th of a millisecond per call, and the horizon would
    /// stand still. So it then steps to the next millisecond, once for two of the system clock,
    /// which catches up.
    fn draw(self, clock: Time) -> Result<Time, Error> {
        let (next_ms, now_ms) = (self.id_clock.time().unix_ms() + 1, clock.unix_ms());
        let last_step = &self.control.last_step;
        let last = last_step.load(Ordering::Relaxed);
        let steps = next_ms > now_ms + 1
            && now_ms.abs_diff(last) >= 2
            && last_step
                .compare_exchange(last, now_ms, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        let clock = if steps {
            Time(next_ms << FRACTION_BITS)
        } else {
            clock
        };
        self.id_clock.advance(clock)
    }

    /// Sets the id clock back to zero, so that the next id has the time of the system clock.
    /// Running transactions may then generate ids that are less than `bound`. So the horizon of
    /// their database is not known until they end. `bound` of closed entries becomes unknown, too,
    /// and so the horizon of older snapshots.
    pub fn reset(self) {
        // I6: around the change of the id clock.
        self.control.resetting.fetch_add(1, Ordering::Relaxed);
        self.set_back();
        self.control.resetting.fetch_sub(1, Ordering::Release);
    }

    /// Sets the id clock to zero, then each `bound` to [`UNKNOWN`].
    fn set_back(self) {
        // I6: each barrier pairs with one in `open_entry` or in `PreparedSlot::fill`.
        self.id_clock.set(Time::UNIX_EPOCH);
        fence(Ordering::SeqCst);
        for entry in self.process_slots.iter().flat_map(|slot| &slot.entries) {
            entry.bound.store(UNKNOWN.0, Ordering::Release);
        }
        fence(Ordering::SeqCst);
        for slot in self.prepared_slots {
            slot.bound.store(UNKNOWN.0, Ordering::Release);
        }
    }

    /// `bound` of the running transaction of a process; none if that has no open entry.
    pub fn bound_of_process(self, pid: u64) -> Option<Time> {
        let mut slots = self.latest_xids.iter().zip(self.process_slots);
        let (_, slot) = slots.find(|(latest_xid, slot)| {
            slot.pid.load(Ordering::Relaxed) == pid && latest_xid.load(Ordering::Acquire) == OPEN
        })?;
        let last = slot.count.load(Ordering::Acquire).wrapping_sub(1);
        Some(Time(slot.entry(last).bound.load(Ordering::Relaxed)))
    }

    /// `bound` of the prepared transaction of this full xid; none if it has no prepared slot.
    pub fn bound_of_prepared(self, xid: u64) -> Option<Time> {
        let mut slots = self.prepared_xids.iter().zip(self.prepared_slots);
        let (_, slot) = slots
            .find(|(prepared_xid, _)| prepared_xid.load(Ordering::Acquire) & !RESERVED == xid)?;
        Some(Time(slot.bound.load(Ordering::Relaxed)))
    }
}

/// Which transactions a snapshot sees as running. It was not taken during recovery, so `xip` has
/// the top-level xids that were in progress below `xmax`, except the own one. The own entry is
/// still `OPEN`, so its xid is not asked for. Entries have no xids of subtransactions.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotXids<'server> {
    /// `xmin` and `xmax` of the snapshot, as full xids.
    xmin: u64,
    xmax: u64,
    /// Those of the snapshot, of 32 bits, in no order.
    xip: &'server [u32],
}

impl<'server> SnapshotXids<'server> {
    /// The snapshot with these fields. `next` is the full xid that was the next one at some time
    /// after the snapshot was taken.
    pub fn new(xmin: u32, xmax: u32, xip: &'server [u32], next: u64) -> Self {
        Self {
            xmin: to_full_xid(xmin, next),
            xmax: to_full_xid(xmax, next),
            xip,
        }
    }

    /// Whether the snapshot sees a top-level transaction as running, by its full xid.
    #[inline]
    pub fn is_running(&self, xid: u64) -> bool {
        xid >= self.xmax || xid >= self.xmin && self.xip.contains(&(xid as u32))
    }

    /// The xids of `xip` that are from before this full xid: top-level transactions that the
    /// snapshot sees as running, and that were before its `xmax`.
    ///
    /// These include all that were prepared before the server left recovery: from then on,
    /// `latestCompletedXid` is at least the last xid of before, so `xmax` is greater.
    pub fn running_before(&self, start_xid: u64) -> impl Iterator<Item = u32> {
        let xmax = self.xmax;
        let in_xip = self.xip.iter().copied();
        in_xip.filter(move |&xid| to_full_xid(xid, xmax) < start_xid)
    }
}

/// The full xid, with its epoch in the high 32 bits, of an xid that is not later than the full xid
/// `next`, and at most 2^32 - 1 before it.
pub fn to_full_xid(xid: u32, next: u64) -> u64 {
    next.wrapping_sub((next as u32).wrapping_sub(xid).into())
}

#[cfg(all(test, loom))]
#[path = "../../tests/model/horizon.rs"]
mod model;

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const CLOCK: u64 = 1_469_918_176_385 << 16;

    fn id_clock_at(time: u64) -> IdClock {
        let id_clock = IdClock::new();
        id_clock.set(Time(time));
        id_clock
    }

    #[derive(Default)]
    struct Memory {
        id_clock: IdClock,
        control: Control,
        latest_xids: [AtomicU64; 2],
        process_slots: [ProcessSlot<2>; 2],
        prepared_xids: [AtomicU64; 3],
        prepared_slots: [PreparedSlot; 3],
    }

    impl Memory {
        fn shared(&self) -> Shared<'_, 2> {
            Shared {
                id_clock: &self.id_clock,
                control: &self.control,
                latest_xids: &self.latest_xids,
                process_slots: &self.process_slots,
                prepared_xids: &self.prepared_xids,
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
            prepared: &[u64],
        ) -> OpenEntry<'_> {
            let is_in_progress = |transaction| prepared.contains(&transaction);
            self.shared()
                .open_entry(
                    process,
                    process as u64 + 10,
                    database,
                    Time(clock),
                    is_in_progress,
                )
                .unwrap()
        }

        /// The horizon in database 1 of a snapshot that sees these transactions as running.
        fn horizon(&self, running: &[u64]) -> u64 {
            self.horizon_in(1, running)
        }

        fn horizon_in(&self, database: u64, running: &[u64]) -> u64 {
            self.shared()
                .horizon(database, Time(CLOCK + 20), |xid| running.contains(&xid))
                .unwrap()
                .to_bits()
        }
    }

    #[test]
    fn the_horizon_is_the_minimum_of_the_transactions_that_a_snapshot_sees_as_running() {
        let memory = Memory::default();
        let (a, b) = (memory.open(0, CLOCK), memory.open(1, CLOCK + 10));
        assert_eq!(b.bound().0, CLOCK + 10);
        assert_eq!(memory.shared().bound_of_process(11), Some(Time(CLOCK + 10)));
        assert_eq!(memory.horizon(&[]), CLOCK);
        a.end(7);
        assert_eq!(memory.shared().bound_of_process(10), None);
        assert_eq!(
            [memory.horizon(&[7]), memory.horizon(&[])],
            [CLOCK, CLOCK + 10]
        );
        b.end(0);
        // It advances with the clock, and no id comes after it that is less.
        assert_eq!(memory.horizon(&[]), CLOCK + 23);
        assert_eq!(memory.id_clock.advance(Time(CLOCK)), Ok(Time(CLOCK + 24)));
        memory.id_clock.set(Time::MAX);
        assert!(memory.shared().horizon(1, Time(CLOCK), |_| false).is_err());
        assert!(
            memory
                .shared()
                .open_entry(2, 12, 1, Time(CLOCK), |_| false)
                .is_none()
        );
    }

    #[test]
    fn a_transaction_counts_in_its_database_only() {
        let memory = Memory::default();
        let (a, b) = (
            memory.open_in(1, 0, CLOCK, &[]),
            memory.open_in(2, 1, CLOCK + 10, &[]),
        );
        let horizons = |running| [1, 2, 3].map(|database| memory.horizon_in(database, running));
        assert_eq!(horizons(&[]), [CLOCK, CLOCK + 10, CLOCK + 22]);
        a.prepare(100);
        b.end(101);
        assert_eq!(horizons(&[100, 101]), [CLOCK, CLOCK + 10, CLOCK + 25]);
        // The next process that has the slot is of another database.
        memory.open_in(3, 1, CLOCK + 15, &[]).end(102);
        assert_eq!(horizons(&[100, 101, 102]), [CLOCK, CLOCK + 10, CLOCK + 26]);
    }

    #[test]
    fn a_snapshot_that_is_older_than_what_a_slot_remembers_has_no_horizon() {
        let memory = Memory::default();
        let run = |transaction| memory.open(0, CLOCK + transaction).end(transaction);
        [5, 6].into_iter().for_each(run);
        assert_eq!(
            [memory.horizon(&[5, 6]), memory.horizon(&[6])],
            [CLOCK + 5, CLOCK + 6]
        );
        [7, 0, 0].into_iter().for_each(run);
        // 7 took the entry of 5. Both transactions without an xid took one entry, that of 6.
        assert_eq!(
            [memory.horizon(&[6, 7]), memory.horizon(&[7])],
            [0, CLOCK + 22]
        );
        assert_eq!(memory.horizon(&[]), CLOCK + 27);
    }

    #[test]
    fn another_layout_has_another_number() {
        assert_ne!(layout_hash::<2>(), layout_hash::<3>());
        assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
        assert_ne!(hash(&[1]), hash(&[1, 0]));
    }

    #[test]
    fn a_slot_remembers_for_each_database_what_was_overwritten() {
        let memory = Memory::default();
        let run = |database, transaction| {
            let running = memory.open_in(database, 0, CLOCK, &[]);
            running.end(transaction);
        };
        let is_known = |database, running: &[u64]| memory.horizon_in(database, running) != 0;
        [5, 6, 7]
            .into_iter()
            .for_each(|transaction| run(1, transaction));
        let running = [5, 6, 7];
        assert!(!is_known(1, &running));
        assert!(is_known(2, &running));
        // Databases that share a word count as one.
        assert!(!is_known(1 + OVERWRITTEN_WORDS as u64, &running));
        // A process of another database takes the slot. It overwrites the last of the first one.
        [8, 9]
            .into_iter()
            .for_each(|transaction| run(2, transaction));
        assert!(!is_known(1, &[7, 8, 9]));
        assert!(is_known(2, &[7, 8, 9]));
        [10, 11]
            .into_iter()
            .for_each(|transaction| run(2, transaction));
        assert!(is_known(1, &[8, 9, 10, 11]));
        assert!(!is_known(2, &[9, 10, 11]));
    }

    #[test]
    fn a_prepared_slot_remembers_for_each_database_what_was_overwritten() {
        let memory = Memory::default();
        for transaction in 100..106 {
            let database = 1 + transaction % 2;
            memory.open_in(database, 0, CLOCK, &[]).prepare(transaction);
        }
        // The last three have the slots of the first three.
        let running = |first: u64| (first..106).collect::<Vec<_>>();
        assert_eq!(memory.horizon_in(1, &running(102)), 0);
        assert_ne!(memory.horizon_in(2, &running(102)), 0);
        assert_ne!(memory.horizon_in(1, &running(103)), 0);
    }

    #[test]
    fn a_prepared_transaction_has_its_slot_until_another_one_takes_it() {
        let memory = Memory::default();
        let prepare = |transaction, clock, prepared: &[u64]| {
            memory.open_in(1, 0, clock, prepared).prepare(transaction);
        };
        prepare(100, CLOCK, &[]);
        prepare(101, CLOCK + 5, &[100]);
        prepare(102, CLOCK + 6, &[100, 101]);
        assert_eq!(
            [
                memory.horizon(&[100, 101, 102]),
                memory.horizon(&[101, 102])
            ],
            [CLOCK, CLOCK + 5]
        );
        assert_eq!(
            memory.shared().bound_of_prepared(101),
            Some(Time(CLOCK + 5))
        );
        // Its slot is the first that is free. While it is reserved, the last one still counts.
        let running = memory.open_in(1, 0, CLOCK + 30, &[100, 102]);
        assert_eq!(memory.horizon(&[101]), CLOCK + 5);
        assert_eq!(
            memory.shared().bound_of_prepared(101),
            Some(Time(CLOCK + 5))
        );
        running.end(0);
        memory.open_in(1, 0, CLOCK + 40, &[]).prepare(103);
        assert_eq!(
            [memory.horizon(&[101, 103]), memory.horizon(&[103])],
            [0, CLOCK + 40]
        );
        assert_eq!(memory.shared().bound_of_prepared(101), None);
    }

    #[test]
    fn each_process_finds_a_prepared_slot_when_as_many_are_prepared_as_can_be() {
        let memory = Memory::default();
        memory.open(0, CLOCK).prepare(100);
        for process in [0, 1] {
            memory.open_in(1, process, CLOCK + 1, &[100]).end(0);
        }
        memory.open_in(1, 1, CLOCK + 2, &[]).prepare(101);
        assert_eq!(
            [memory.horizon(&[100]), memory.horizon(&[101])],
            [CLOCK, CLOCK + 3]
        );
    }

    #[test]
    fn a_prepared_slot_that_one_process_has_reserved_is_not_given_to_another() {
        let memory = Memory::default();
        let first = memory.open(0, CLOCK);
        memory.open(1, CLOCK + 1).prepare(101);
        memory.open_in(1, 1, CLOCK + 2, &[101]).prepare(102);
        memory.open_in(1, 1, CLOCK + 3, &[102]).prepare(103);
        first.prepare(100);
        assert_eq!(
            [100, 102, 103].map(|transaction| memory.horizon(&[transaction])),
            [CLOCK, CLOCK + 2, CLOCK + 3]
        );
    }

    #[test]
    fn where_none_can_be_prepared_there_are_no_prepared_slots() {
        let memory = Memory::default();
        let order = Shared {
            prepared_xids: &[],
            prepared_slots: &[],
            ..memory.shared()
        };
        let running = order.open_entry(0, 10, 1, Time(CLOCK), |_| false).unwrap();
        running.prepare(100);
        assert_eq!(order.horizon(1, Time(CLOCK), |_| true), Ok(Time(CLOCK + 1)));
    }

    #[test]
    fn an_id_clock_is_started_once_and_after_the_time_that_it_is_given() {
        let memory = Memory::default();
        assert_eq!(memory.shared().start_xid(), None);
        memory.shared().start(Time(CLOCK), 7);
        memory.shared().start(Time(CLOCK - 1), 8);
        assert_eq!(memory.shared().start_xid(), Some(7));
        assert_eq!(memory.id_clock.advance(Time(5)), Ok(Time(CLOCK + 1)));
    }

    #[test]
    fn after_a_reset_there_is_no_horizon_until_the_transactions_have_ended() {
        let memory = Memory {
            id_clock: id_clock_at(CLOCK * 2),
            ..Default::default()
        };
        let entries = [memory.open(0, CLOCK), memory.open(1, CLOCK)];
        entries[1].prepare(100);
        memory.shared().reset();
        assert_eq!(memory.id_clock.advance(Time(CLOCK)), Ok(Time(CLOCK)));
        assert_eq!(memory.horizon(&[100]), 0);
        assert_eq!(memory.horizon_in(2, &[100]), CLOCK + 21);
        entries[0].end(0);
        assert_eq!(memory.horizon(&[100]), 0);
        assert_eq!(memory.horizon(&[]), CLOCK + 23);
    }

    #[test]
    fn while_the_id_clock_is_ahead_the_horizon_takes_every_other_millisecond() {
        const MS: u64 = 1 << FRACTION_BITS;
        let memory = Memory {
            id_clock: id_clock_at(CLOCK + 3_600_000 * MS + 5),
            ..Default::default()
        };
        let horizon = |clock| {
            memory
                .shared()
                .horizon(1, Time(clock), |_| false)
                .unwrap()
                .0
        };
        let at = |clock| (horizon(clock) - CLOCK) as f64 / MS as f64;
        assert_eq!(at(CLOCK), 3_600_001.0);
        assert!(at(CLOCK + MS) < 3_600_001.1);
        assert_eq!(
            [2, 4, 5, 6].map(|ms| at(CLOCK + ms * MS).floor()),
            [2.0, 3.0, 3.0, 4.0].map(|ms| ms + 3_600_000.0)
        );
        // Nor does it wait for a clock that was set back, or go ahead of one that is right.
        assert_eq!(at(CLOCK - MS).floor(), 3_600_005.0);
        memory.id_clock.set(Time(CLOCK + 5));
        assert_eq!(horizon(CLOCK + 4), CLOCK + 6);
    }

    #[test]
    fn a_snapshot_sees_what_its_fields_say_also_where_xids_have_wrapped() {
        for start in [7_u64, (7 << 32) - 8] {
            let xid = |number| (start + number) as u32;
            let xip = [xid(2), xid(5)];
            let seen = SnapshotXids::new(xid(2), xid(8), &xip, start + 12);
            let running = |&number: &u64| seen.is_running(start + number);
            assert_eq!(
                (0..11).filter(running).collect::<Vec<_>>(),
                [2, 5, 8, 9, 10]
            );
            // The same 32 bits, an epoch later and before.
            assert!(seen.is_running(start + 3 + (1 << 32)));
            assert!(start == 7 || !seen.is_running(start + 5 - (1 << 32)));
            let before = |number| seen.running_before(start + number).collect::<Vec<_>>();
            assert_eq!(before(2), []);
            assert_eq!(before(5), [xid(2)]);
            assert_eq!(before(10), [xid(2), xid(5)]);
        }
    }
}
