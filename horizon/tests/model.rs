//! The protocol in every order in which threads can run and see each other's memory, as far as two
//! preemptions of each thread lead: `RUSTFLAGS='--cfg loom' cargo test -p ulid_horizon`.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::AtomicUsize;

use loom::sync::{Arc, Mutex};
use loom::thread;

use super::*;

/// A step of the protocol that is left out or done too early.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// This full barrier is missing.
    Without(Barrier),
    // I1, entry before id.
    IdBeforeEntry,
    DatabaseLate,
    // I2, closed after the end.
    ClosedBeforeEnded,
    GivenAwayBeforeEnded,
    // I3, prepared before closed.
    ClosedBeforePrepared,
    PreparedSlotsFirst,
    ListedBefore,
    // I4, no bound of before a reset.
    ResetWithoutFlag,
    RowWithoutCheck,
}
use Fault::*;

/// The barrier that is missing, plus 1; zero if none is. The models run one after the other.
static REMOVED: AtomicUsize = AtomicUsize::new(0);

pub(super) fn is_removed(barrier: Barrier) -> bool {
    REMOVED.load(std::sync::atomic::Ordering::Relaxed) == barrier as usize + 1
}

fn remove_barrier(fault: Fault) {
    let removed = match fault {
        Without(barrier) => barrier as usize + 1,
        _ => 0,
    };
    REMOVED.store(removed, std::sync::atomic::Ordering::Relaxed);
}

/// The id clock before a reset; no transaction comes to it after one.
const AHEAD: u64 = 100;

/// The database of the reader.
const DATABASE: u64 = 1;

#[derive(Clone)]
struct Ended {
    xid: u64,
    row: u64,
    database: u64,
}

/// What the processes share, and the transactions that have ended, with their rows. A snapshot is a
/// copy of these, under a lock that stands for ProcArrayLock.
struct Server {
    id_clock: IdClock,
    control: Control,
    process_slots: [ProcessSlot; 2],
    prepared_slots: Vec<PreparedSlot>,
    /// The xids of all transactions that were prepared until now.
    prepared: Mutex<Vec<u64>>,
    ended: Mutex<Vec<Ended>>,
    fault: Fault,
}

impl Server {
    fn new(fault: Fault, prepared_slots: usize) -> Self {
        Self {
            id_clock: IdClock::default(),
            control: Control::default(),
            process_slots: Default::default(),
            prepared_slots: (0..prepared_slots)
                .map(|_| PreparedSlot::default())
                .collect(),
            prepared: Mutex::default(),
            ended: Mutex::default(),
            fault,
        }
    }

    fn shared(&self) -> Shared<'_> {
        Shared {
            id_clock: &self.id_clock,
            control: &self.control,
            process_slots: &self.process_slots,
            prepared_slots: &self.prepared_slots,
        }
    }

    fn draw(&self) -> u64 {
        self.id_clock.advance(Time::UNIX_EPOCH).unwrap().to_bits()
    }

    fn is_in_progress(&self, xid: u64) -> bool {
        self.ended
            .lock()
            .unwrap()
            .iter()
            .all(|ended| ended.xid != xid)
    }

    /// Opens an entry, and generates an id. Only process 0 prepares transactions: the other one
    /// needs no slot.
    fn insert(&self, process: usize, database: u64) -> (OpenEntry<'_>, u64) {
        let early = (self.fault == IdBeforeEntry).then(|| self.draw());
        let slot = &self.process_slots[process];
        let last_database = slot.database.load(Ordering::Relaxed);
        let mut shared = self.shared();
        if process != 0 {
            shared.prepared_slots = &[];
        }
        let is_in_progress = |xid| self.fault != GivenAwayBeforeEnded && self.is_in_progress(xid);
        let clock = Time::UNIX_EPOCH;
        let entry = shared
            .open_entry(process, 1, database, clock, is_in_progress)
            .unwrap();
        if self.fault == DatabaseLate {
            slot.database.store(last_database, Ordering::Relaxed);
        }
        let row = early.unwrap_or_else(|| self.draw());
        if self.fault == DatabaseLate {
            slot.database.store(database, Ordering::Release);
        }
        (entry, row)
    }

    /// The transaction leaves the ProcArray.
    fn end(&self, xid: u64, row: u64, database: u64) {
        self.ended
            .lock()
            .unwrap()
            .push(Ended { xid, row, database });
    }

    fn commit_in(&self, database: u64, process: usize, xid: u64) {
        let (entry, row) = self.insert(process, database);
        if self.fault == ClosedBeforeEnded {
            entry.close();
        }
        self.end(xid, row, database);
        entry.close();
    }

    /// Prepares a transaction, and returns its row.
    fn prepare(&self, xid: u64) -> u64 {
        let (entry, row) = self.insert(0, DATABASE);
        if self.fault == ClosedBeforePrepared {
            entry.close();
        }
        self.prepared.lock().unwrap().push(xid);
        entry.prepare(xid);
        row
    }

    /// What a refresh computes. The row that it writes is seen by later snapshots only.
    fn horizon(&self) -> u64 {
        let (shared, clock) = (self.shared(), Time::UNIX_EPOCH);
        let is_in_progress = |xid| self.is_in_progress(xid);
        match self.fault {
            ListedBefore => {
                let listed = self.prepared.lock().unwrap().clone();
                shared
                    .horizon(DATABASE, clock, |xid| listed.contains(&xid))
                    .unwrap()
            }
            PreparedSlotsFirst => {
                let drawn = shared.draw(clock).unwrap();
                full_barrier(Barrier::Horizon);
                let least = shared.least_of_prepared(DATABASE, drawn, is_in_progress);
                least.min(shared.least_of_processes(DATABASE))
            }
            _ => shared.horizon(DATABASE, clock, is_in_progress).unwrap(),
        }
        .to_bits()
    }
}

/// Runs two writers after a beginning, and beside them a refresh and then a snapshot that sees it:
/// in a thread of its own where the writers have to be interrupted before it begins.
fn check(
    fault: Fault,
    prepared_slots: usize,
    begin: fn(&Server),
    writers: [fn(&Server); 2],
    is_apart: bool,
) {
    remove_barrier(fault);
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let server = Arc::new(Server::new(fault, prepared_slots));
        begin(&server);
        let writers = writers.map(|write| {
            let server = server.clone();
            thread::spawn(move || write(&server))
        });
        let reader = server.clone();
        let read = move || (reader.horizon(), reader.ended.lock().unwrap().len());
        let (horizon, seen) = if is_apart {
            thread::spawn(read).join().unwrap()
        } else {
            read()
        };
        writers
            .into_iter()
            .for_each(|writer| writer.join().unwrap());
        for ended in &server.ended.lock().unwrap()[seen..] {
            let row = ended.row;
            // The row that a refresh wrote before a reset is forgotten by it.
            let is_later = row < AHEAD && horizon >= AHEAD;
            let is_known = horizon != UNKNOWN.to_bits();
            assert!(
                row > horizon || !is_known || is_later || ended.database != DATABASE,
                "row {row} is behind {horizon}"
            );
        }
    });
}

fn nothing(_: &Server) {}

fn commits(server: &Server) {
    server.commit_in(DATABASE, 1, 3);
}

/// Two transactions of a process, beside another process.
fn two_transactions(fault: Fault) {
    fn twice(server: &Server) {
        server.commit_in(DATABASE, 0, 1);
        server.commit_in(DATABASE, 0, 2);
    }
    check(fault, 0, nothing, [twice, commits], false);
}

/// A process of the reader's database takes a slot from one of another database, and the other way
/// round.
fn databases(fault: Fault) {
    fn other(server: &Server) {
        server.commit_in(2, 0, 1);
    }
    fn own(server: &Server) {
        server.commit_in(DATABASE, 0, 2);
        server.commit_in(2, 0, 4);
    }
    check(fault, 0, other, [own, commits], false);
}

/// A prepared transaction and the next one of its process; three that end in another order, of
/// which the last takes the slot of the second.
fn prepared(fault: Fault) {
    fn prepares(server: &Server) {
        let row = server.prepare(4);
        server.commit_in(DATABASE, 0, 5);
        server.end(4, row, DATABASE);
    }
    fn three(server: &Server) {
        let rows = [4, 5].map(|xid| server.prepare(xid));
        server.end(5, rows[1], DATABASE);
        let row = server.prepare(6);
        server.end(6, row, DATABASE);
        server.end(4, rows[0], DATABASE);
    }
    check(fault, 2, nothing, [prepares, commits], false);
    check(fault, 2, nothing, [three, nothing], false);
}

/// A reset beside a transaction that is running, one that begins, and one that is prepared.
fn reset(fault: Fault) {
    fn ahead(server: &Server) {
        server.id_clock.set(Time::from_bits(AHEAD));
    }
    fn runs(server: &Server) {
        ahead(server);
        server.insert(0, DATABASE);
    }
    fn ends(server: &Server) {
        server.end(8, server.draw(), DATABASE);
        server.process_slots[0]
            .bound
            .store(CLOSED, Ordering::Release);
    }
    fn resets(server: &Server) {
        if server.fault != ResetWithoutFlag {
            return reset_once(server);
        }
        server.shared().set_back();
    }
    fn prepares(server: &Server) {
        let row = server.prepare(4);
        server.end(4, row, DATABASE);
    }
    check(fault, 0, runs, [ends, resets], true);
    check(fault, 0, ahead, [commits, resets], true);
    check(fault, 1, ahead, [prepares, resets], true);
}

fn reset_once(server: &Server) {
    server.shared().begin_reset();
    server.shared().end_reset();
}

/// A reset beside a process that advances the id clock to the row of before.
fn row_of_before(fault: Fault) {
    remove_barrier(fault);
    loom::model(move || {
        let server = Arc::new(Server::new(fault, 0));
        let row = Arc::new(AtomicU64::new(AHEAD));
        let resetting = {
            let (server, row) = (server.clone(), row.clone());
            thread::spawn(move || {
                server.shared().begin_reset();
                // The transaction that has forgotten the row leaves the ProcArray.
                row.store(0, Ordering::Release);
                server.shared().end_reset();
            })
        };
        let read = || Ok::<_, ()>(Time::from_bits(row.load(Ordering::Acquire)));
        if fault == RowWithoutCheck {
            server.id_clock.advance_to(read().unwrap());
        } else {
            server.shared().advance_to_row(read).unwrap();
        }
        resetting.join().unwrap();
        let time = server.id_clock.time().to_bits();
        assert!(time < AHEAD, "the reset is behind {time}");
    });
}

#[test]
fn no_row_is_lost_but_with_a_fault() {
    let scenarios: [fn(Fault); 5] = [two_transactions, databases, prepared, reset, row_of_before];
    scenarios.iter().for_each(|check| check(None));
    let faults: [(Fault, fn(Fault)); 15] = [
        (IdBeforeEntry, two_transactions),
        (DatabaseLate, databases),
        (ClosedBeforeEnded, two_transactions),
        (GivenAwayBeforeEnded, prepared),
        (ClosedBeforePrepared, prepared),
        (PreparedSlotsFirst, prepared),
        (ListedBefore, prepared),
        (ResetWithoutFlag, reset),
        (RowWithoutCheck, row_of_before),
        (Without(Barrier::OpenEntry), two_transactions),
        (Without(Barrier::Horizon), two_transactions),
        (Without(Barrier::Fill), reset),
        (Without(Barrier::AdvanceToRow), row_of_before),
        (Without(Barrier::SetBackEntries), reset),
        (Without(Barrier::SetBackPrepared), reset),
    ];
    let mut unseen = Vec::new();
    for (fault, check) in faults {
        let result = std::panic::catch_unwind(|| check(fault));
        let is_lost = result.is_err_and(|lost| {
            lost.downcast_ref::<String>()
                .is_some_and(|lost| lost.contains("is behind"))
        });
        if !is_lost {
            unseen.push(fault);
        }
    }
    assert!(unseen.is_empty(), "{unseen:?}");
}
