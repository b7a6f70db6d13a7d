//! The protocol in every order in which threads can run and see each other's memory, as far as two
//! preemptions of each thread lead: `RUSTFLAGS='--cfg loom' cargo test -p pg_ulid --lib horizon`.

use loom::sync::{Arc, Mutex};
use loom::thread;

use super::*;

/// An invariant of the protocol that is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    // I1, entry before id.
    IdBeforeEntry,
    CountLate,
    LatestXidLate,
    DatabaseLate,
    // I2, closed after the end.
    ClosedBeforeEnded,
    ReservationHides,
    // I3, xids increase.
    NoneEndedAfterAbort,
    PreparedInSlot,
    OldestFirst,
    StopsWithoutRows,
    // I4, nothing is overwritten that is not remembered.
    OverwrittenLate,
    OverwrittenOfOther,
    OneOverwritten,
    OverwrittenReadEarly,
    // I5, prepared before it is gone.
    SlotAfterEntry,
    PreparedFirst,
    // I6, no `bound` of before a reset.
    ResetWithoutFlag,
    // I7, started before used.
    FirstBeforeTime,
}
use Fault::*;

/// The id clock before a reset; no transaction comes to it after one.
const AHEAD: u64 = 100;

/// The time after which an id clock is started.
const AFTER: u64 = 50;

/// The database of the reader.
const DATABASE: u64 = 1;

#[derive(Clone)]
struct Ended {
    transaction: u64,
    row: u64,
    database: u64,
}

/// What the processes share, and the transactions that have ended, with their rows. A snapshot is a
/// copy of these, under a lock that stands for ProcArrayLock.
struct Server<const N: usize, const P: usize> {
    id_clock: IdClock,
    control: Control,
    latest_xids: [AtomicU64; 2],
    process_slots: [ProcessSlot<N>; 2],
    prepared_xids: [AtomicU64; P],
    prepared_slots: [PreparedSlot; P],
    one_overwritten: AtomicU64,
    ended: Mutex<Vec<Ended>>,
    fault: Fault,
}

impl<const N: usize, const P: usize> Server<N, P> {
    fn new(fault: Fault) -> Self {
        Self {
            id_clock: IdClock::default(),
            control: Control::default(),
            latest_xids: Default::default(),
            process_slots: Default::default(),
            prepared_xids: [(); P].map(|()| AtomicU64::default()),
            prepared_slots: [(); P].map(|()| PreparedSlot::default()),
            one_overwritten: AtomicU64::default(),
            ended: Mutex::default(),
            fault,
        }
    }

    fn shared(&self) -> Shared<'_, N> {
        Shared {
            id_clock: &self.id_clock,
            control: &self.control,
            latest_xids: &self.latest_xids,
            process_slots: &self.process_slots,
            prepared_xids: &self.prepared_xids,
            prepared_slots: &self.prepared_slots,
        }
    }

    fn draw(&self) -> u64 {
        self.id_clock.advance(Time(0)).unwrap().0
    }

    /// Opens an entry, and generates an id. Only process 0 prepares transactions: the other one
    /// needs no slot.
    fn insert(&self, process: usize, database: u64) -> (OpenEntry<'_>, u64) {
        let early = (self.fault == IdBeforeEntry).then(|| self.draw());
        let slot = &self.process_slots[process];
        let next = slot.entry(slot.count.load(Ordering::Relaxed));
        let last = next.xid.load(Ordering::Relaxed);
        let last_database = next.database.load(Ordering::Relaxed);
        let before = slot.overwritten.of(last_database).load(Ordering::Relaxed);
        if self.fault == OverwrittenLate {
            next.xid.store(0, Ordering::Relaxed);
        }
        let ended = self.ended.lock().unwrap().clone();
        let is_in_progress = |prepared| ended.iter().all(|ended| ended.transaction != prepared);
        let mut order = self.shared();
        if process != 0 {
            (order.prepared_xids, order.prepared_slots) = (&[], &[]);
        }
        let running = order
            .open_entry(process, 1, database, Time(0), is_in_progress)
            .unwrap();
        let count = slot.count.load(Ordering::Relaxed);
        match self.fault {
            OverwrittenLate => slot.overwritten.record(last_database, last),
            OverwrittenOfOther => {
                slot.overwritten
                    .of(last_database)
                    .store(before, Ordering::Relaxed);
                slot.overwritten.record(database, last);
            }
            CountLate => slot.count.store(count - 1, Ordering::Relaxed),
            LatestXidLate => running
                .latest_xid
                .store(running.previous_xid, Ordering::Relaxed),
            DatabaseLate => running
                .entry
                .database
                .store(last_database, Ordering::Relaxed),
            ReservationHides if process == 0 => {
                self.reserved(&running).store(RESERVED, Ordering::Relaxed)
            }
            _ => {}
        }
        let row = early.unwrap_or_else(|| self.draw());
        match self.fault {
            CountLate => slot.count.store(count, Ordering::Release),
            LatestXidLate => running.latest_xid.store(OPEN, Ordering::Release),
            DatabaseLate => running.entry.database.store(database, Ordering::Release),
            _ => {}
        }
        (running, row)
    }

    /// The word of the prepared slot that a transaction has reserved.
    fn reserved(&self, running: &OpenEntry) -> &AtomicU64 {
        &self.prepared_xids[running.reserved.load(Ordering::Relaxed) as usize - 1]
    }

    fn end(&self, transaction: u64, row: u64, database: u64) {
        self.ended.lock().unwrap().push(Ended {
            transaction,
            row,
            database,
        });
    }

    fn commit_in(&self, database: u64, process: usize, transaction: u64) {
        let (running, row) = self.insert(process, database);
        // Closed with its xid, it counts for each snapshot that does not see its end.
        if self.fault == ClosedBeforeEnded {
            running.end(0);
        }
        self.end(transaction, row, database);
        running.end(transaction);
    }

    fn commit(&self, process: usize, transaction: u64) {
        self.commit_in(DATABASE, process, transaction);
    }

    fn abort(&self, process: usize) {
        let (running, _) = self.insert(process, DATABASE);
        running.end(0);
        if self.fault == NoneEndedAfterAbort {
            running.latest_xid.store(0, Ordering::Release);
        }
    }

    /// Prepares a transaction, and returns its row.
    fn prepare(&self, transaction: u64) -> u64 {
        let (running, row) = self.insert(0, DATABASE);
        match self.fault {
            OneOverwritten => {
                let prepared = self.reserved(&running);
                let last = prepared.load(Ordering::Relaxed) & !RESERVED;
                if last != 0 {
                    self.one_overwritten.store(last, Ordering::Release);
                }
                prepared.store(RESERVED, Ordering::Release);
                running.prepare(transaction);
            }
            SlotAfterEntry => {
                running.end(0);
                running.prepare(transaction);
            }
            PreparedInSlot => running.end(transaction),
            _ => running.prepare(transaction),
        }
        row
    }

    fn horizon(&self, is_running: &impl Fn(u64) -> bool) -> u64 {
        match self.fault {
            OneOverwritten | OldestFirst | StopsWithoutRows | OverwrittenReadEarly
            | PreparedFirst => {}
            _ => {
                return self
                    .shared()
                    .horizon(DATABASE, Time(0), is_running)
                    .unwrap()
                    .0;
            }
        }
        let drawn = self.draw();
        fence(Ordering::SeqCst);
        let is_running =
            |transaction| transaction == OPEN || transaction != 0 && is_running(transaction);
        let prepared = || {
            let slots = self.prepared_xids.iter().zip(&self.prepared_slots);
            let of = |(prepared_xid, slot): (&AtomicU64, &PreparedSlot)| {
                let is_prepared = is_running(prepared_xid.load(Ordering::Acquire) & !RESERVED);
                match self.fault {
                    _ if !is_prepared => u64::MAX,
                    OneOverwritten => slot.bound_in(DATABASE).0,
                    _ => slot.horizon(DATABASE, &is_running).0,
                }
            };
            slots.map(of).fold(u64::MAX, u64::min)
        };
        let slots = || {
            let slots = self.latest_xids.iter().zip(&self.process_slots);
            let of = |(latest_xid, slot): (&AtomicU64, &ProcessSlot<N>)| match self.fault {
                _ if !is_running(latest_xid.load(Ordering::Acquire)) => u64::MAX,
                OverwrittenReadEarly
                    if is_running(slot.overwritten.of(DATABASE).load(Ordering::Acquire)) =>
                {
                    0
                }
                OverwrittenReadEarly => slot.least_bound(DATABASE, &is_running).0,
                OldestFirst | StopsWithoutRows => self.least(slot, &is_running),
                _ => slot.horizon(DATABASE, &is_running).0,
            };
            slots.map(of).fold(drawn, u64::min)
        };
        let horizon = if self.fault == PreparedFirst {
            prepared().min(slots())
        } else {
            slots().min(prepared())
        };
        if is_running(self.one_overwritten.load(Ordering::Acquire)) {
            0
        } else {
            horizon
        }
    }

    /// A scan of a slot that stops where it must not.
    fn least(&self, slot: &ProcessSlot<N>, is_running: &impl Fn(u64) -> bool) -> u64 {
        let count = slot.count.load(Ordering::Acquire);
        let mut numbers: Vec<_> = (count.saturating_sub(N as u64)..count).collect();
        if self.fault == StopsWithoutRows {
            numbers.reverse();
        }
        let entries = numbers.into_iter().map(|number| slot.entry(number));
        entries
            .take_while(|entry| is_running(entry.xid.load(Ordering::Acquire)))
            .map(|entry| entry.bound.load(Ordering::Acquire))
            .fold(u64::MAX, u64::min)
    }
}

/// Runs two writers after a beginning, and a reader with a snapshot beside them: in a thread of its
/// own where the writers have to be interrupted before it begins.
fn check<const N: usize, const P: usize>(
    fault: Fault,
    begin: fn(&Server<N, P>),
    writers: [fn(&Server<N, P>); 2],
    is_apart: bool,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let server = Arc::new(Server::new(fault));
        begin(&server);
        let writers = writers.map(|write| {
            let server = server.clone();
            thread::spawn(move || write(&server))
        });
        let reader = server.clone();
        let read = move || {
            let snapshot = reader.ended.lock().unwrap().clone();
            let is_running = move |transaction| {
                snapshot
                    .iter()
                    .all(|ended| ended.transaction != transaction)
            };
            (reader.horizon(&is_running), is_running)
        };
        let (horizon, is_running) = if is_apart {
            thread::spawn(read).join().unwrap()
        } else {
            read()
        };
        writers
            .into_iter()
            .for_each(|writer| writer.join().unwrap());
        for ended in server.ended.lock().unwrap().iter() {
            let row = ended.row;
            // A horizon of before a reset says nothing about what is generated after it.
            let is_later = row < AHEAD && horizon >= AHEAD;
            assert!(
                row > horizon
                    || !is_running(ended.transaction)
                    || is_later
                    || ended.database != DATABASE,
                "row {row} is behind {horizon}"
            );
        }
    });
}

fn nothing<const N: usize, const P: usize>(_: &Server<N, P>) {}

fn once<const N: usize, const P: usize>(server: &Server<N, P>) {
    server.commit(1, 3);
}

fn prepares<const N: usize, const P: usize>(server: &Server<N, P>) {
    let row = server.prepare(4);
    server.end(4, row, DATABASE);
}

/// Two transactions of a process, of which the second takes the entry, beside another process.
fn two_transactions(fault: Fault) {
    fn twice(server: &Server<1, 0>) {
        server.commit(0, 1);
        server.commit(0, 2);
    }
    check(fault, nothing, [twice, once], false);
}

/// Transactions of a process that all have an entry, or abort.
fn several_entries(fault: Fault) {
    fn first(server: &Server<2, 0>) {
        server.commit(0, 1);
    }
    fn others(server: &Server<2, 0>) {
        server.commit(0, 2);
        server.abort(0);
    }
    fn overwrites(server: &Server<2, 0>) {
        server.abort(0);
        server.commit(0, 2);
        server.commit(0, 3);
    }
    check(fault, first, [others, nothing], false);
    check(fault, first, [overwrites, nothing], false);
}

/// A process of the reader's database takes a slot from one of another database, and the other way
/// round.
fn databases(fault: Fault) {
    fn other(server: &Server<1, 0>) {
        server.commit_in(2, 0, 1);
    }
    fn own(server: &Server<1, 0>) {
        server.commit(0, 2);
        server.commit_in(2, 0, 4);
    }
    check(fault, other, [own, once], false);
}

/// A prepared transaction, and the next one of its process; two that end in another order, and
/// others that take their slots.
fn prepared(fault: Fault) {
    fn prepares_first(server: &Server<1, 2>) {
        let row = server.prepare(4);
        server.commit(0, 5);
        server.end(4, row, DATABASE);
    }
    fn second_has_ended(server: &Server<1, 2>) {
        assert_eq!(server.prepare(4), 2);
        let row = server.prepare(5);
        server.end(5, row, DATABASE);
    }
    fn first_ends(server: &Server<1, 2>) {
        server.end(4, 2, DATABASE);
        server.prepare(6);
        server.prepare(7);
    }
    check(fault, nothing, [prepares_first, once], false);
    check(fault, second_has_ended, [first_ends, nothing], false);
}

/// A reset beside a transaction that is running, one that begins, and one that is prepared.
fn reset(fault: Fault) {
    fn ahead<const P: usize>(server: &Server<1, P>) {
        server.id_clock.set(Time(AHEAD));
    }
    fn runs(server: &Server<1, 0>) {
        ahead(server);
        server.insert(0, DATABASE);
    }
    fn ends(server: &Server<1, 0>) {
        server.end(8, server.draw(), DATABASE);
        server.process_slots[0].entries[0]
            .xid
            .store(8, Ordering::Release);
        server.latest_xids[0].store(8, Ordering::Release);
    }
    fn resets<const P: usize>(server: &Server<1, P>) {
        if server.fault == ResetWithoutFlag {
            server.shared().set_back()
        } else {
            server.shared().reset()
        }
    }
    check(fault, runs, [ends, resets], true);
    check::<_, 0>(fault, ahead, [once, resets], true);
    check::<_, 1>(fault, ahead, [prepares, resets], true);
}

/// Two processes start the id clock, and each of them generates an id.
fn start(fault: Fault) {
    fn starts(server: &Server<1, 0>) {
        let order = server.shared();
        if order.start_xid().is_none() {
            if server.fault == FirstBeforeTime {
                order.start(Time(0), 7);
            }
            order.start(Time(AFTER), 7);
        }
        let row = server.draw();
        assert!(row > AFTER, "row {row} is behind {AFTER}");
    }
    check(fault, nothing, [starts, starts], false);
}

#[test]
fn no_row_is_lost() {
    for check in [
        two_transactions as fn(Fault),
        several_entries,
        databases,
        prepared,
        reset,
        start,
    ] {
        check(None);
    }
}

#[test]
fn each_fault_loses_rows() {
    let faults: [(Fault, fn(Fault)); 18] = [
        (IdBeforeEntry, two_transactions),
        (CountLate, two_transactions),
        (LatestXidLate, two_transactions),
        (DatabaseLate, databases),
        (OverwrittenLate, two_transactions),
        (OverwrittenOfOther, databases),
        (ClosedBeforeEnded, two_transactions),
        (NoneEndedAfterAbort, several_entries),
        (ReservationHides, prepared),
        (OneOverwritten, prepared),
        (SlotAfterEntry, prepared),
        (PreparedInSlot, prepared),
        (OldestFirst, several_entries),
        (StopsWithoutRows, several_entries),
        (OverwrittenReadEarly, two_transactions),
        (PreparedFirst, prepared),
        (ResetWithoutFlag, reset),
        (FirstBeforeTime, start),
    ];
    for (fault, check) in faults {
        let lost = std::panic::catch_unwind(|| check(fault)).expect_err(&format!("{fault:?}"));
        assert!(
            lost.downcast_ref::<String>()
                .is_some_and(|lost| lost.contains("is behind")),
            "{fault:?}"
        );
    }
}
