//! The protocol in every order in which threads can run and see each other's memory, as far as two
//! preemptions of each thread lead: `RUSTFLAGS='--cfg loom' cargo test -p pg_ulid --lib horizon`.

use loom::sync::{Arc, Mutex};
use loom::thread;

use super::*;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    IdBeforeEntry,
    ClosedBeforeEnded,
    ForgottenLate,
    ForgottenReadEarly,
    OneForgotten,
    ResetWithoutFlag,
}
use Fault::*;

/// The last time before a reset; no transaction comes to it after one.
const AHEAD: u64 = 100;

/// What the processes share, and the transactions that have ended, with their rows: a snapshot is a
/// copy of it, under the lock that PostgreSQL takes to end a transaction, too.
#[derive(Default)]
struct Server {
    last_time: AtomicU64,
    state: State,
    processes: [Slot<1>; 2],
    prepared: [Slot<1>; 2],
    one_forgotten: AtomicU64,
    ended: Mutex<Vec<(u64, u64)>>,
    fault: Fault,
}

impl Server {
    fn order(&self) -> Shared<'_, 1> {
        let Self {
            last_time,
            state,
            processes,
            prepared,
            ..
        } = self;
        Shared {
            last_time,
            state,
            processes,
            prepared,
        }
    }

    fn draw(&self) -> u64 {
        ordered::advance(&self.last_time, 0).unwrap()
    }

    fn insert(&self, process: usize) -> (&Entry, u64) {
        let slot @ Slot {
            entries: [entry], ..
        } = &self.processes[process];
        let early = (self.fault == IdBeforeEntry).then(|| self.draw());
        if self.fault == ForgottenLate {
            let last = entry.transaction.load(Ordering::Relaxed);
            entry.open(&self.last_time, 0);
            slot.forget(last);
        } else {
            slot.open(1, &self.last_time, 0);
        }
        (entry, early.unwrap_or_else(|| self.draw()))
    }

    fn end(&self, transaction: u64, row: u64) {
        self.ended.lock().unwrap().push((transaction, row));
    }

    fn commit(&self, process: usize, transaction: u64) {
        let (entry, row) = self.insert(process);
        // Closed with its number, it counts for every snapshot that does not see its end.
        if self.fault == ClosedBeforeEnded {
            entry.close(0);
        }
        self.end(transaction, row);
        entry.close(transaction);
    }

    /// Prepares a transaction in this slot, which is free, and returns its row.
    fn prepare(&self, slot: usize, transaction: u64) -> u64 {
        let (entry, row) = self.insert(0);
        let slot @ Slot {
            entries: [prepared],
            ..
        } = &self.prepared[slot];
        let last = prepared.transaction.load(Ordering::Relaxed);
        if self.fault == OneForgotten && last != 0 {
            self.one_forgotten.store(last, Ordering::Release);
        }
        let ended = self.ended.lock().unwrap().clone();
        assert!(slot.prepare(transaction, entry, |last| {
            ended.iter().all(|(other, _)| *other != last)
        }));
        entry.close(0);
        row
    }

    fn horizon(&self, is_running: &impl Fn(u64) -> bool) -> u64 {
        if !matches!(self.fault, ForgottenReadEarly | OneForgotten) {
            return self.order().horizon(0, is_running).unwrap();
        }
        let drawn = self.draw();
        fence(Ordering::SeqCst);
        let early = |slot: &Slot<1>| {
            if slot.forgot(is_running) {
                0
            } else {
                slot.least(is_running)
            }
        };
        let processes = self.processes.iter().map(early).fold(drawn, u64::min);
        let horizon = self
            .prepared
            .iter()
            .map(|slot| slot.least(is_running))
            .fold(processes, u64::min);
        let forgotten = self.one_forgotten.load(Ordering::Acquire);
        if forgotten != 0 && is_running(forgotten) {
            0
        } else {
            horizon
        }
    }
}

/// Runs two writers after a beginning, and a reader with a snapshot beside them: in a thread of its
/// own where the writers have to be interrupted before it begins.
fn check(fault: Fault, begin: fn(&Server), writers: [fn(&Server); 2], is_apart: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let server = Arc::new(Server {
            fault,
            ..Server::default()
        });
        begin(&server);
        let writers = writers.map(|write| {
            let server = server.clone();
            thread::spawn(move || write(&server))
        });
        let reader = server.clone();
        let read = move || {
            let snapshot = reader.ended.lock().unwrap().clone();
            let is_running =
                move |transaction| snapshot.iter().all(|(ended, _)| *ended != transaction);
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
        for &(transaction, row) in server.ended.lock().unwrap().iter() {
            // A horizon of before a reset says nothing about what is made after it.
            let is_later = row < AHEAD && horizon >= AHEAD;
            assert!(
                row > horizon || !is_running(transaction) || is_later,
                "row {row} is behind {horizon}"
            );
        }
    });
}

fn nothing(_: &Server) {}

fn once(server: &Server) {
    server.commit(1, 3);
}

fn prepares(server: &Server) {
    let row = server.prepare(0, 4);
    server.end(4, row);
}

/// Two transactions of a process, of which the second takes the entry, beside another process.
fn two_transactions(fault: Fault) {
    fn twice(server: &Server) {
        server.commit(0, 1);
        server.commit(0, 2);
    }
    check(fault, nothing, [twice, once], false);
}

/// A prepared transaction, and the next one of its process; two that end in another order, and
/// others that take their slots.
fn prepared(fault: Fault) {
    fn prepares_first(server: &Server) {
        let row = server.prepare(0, 4);
        server.commit(0, 5);
        server.end(4, row);
    }
    fn second_has_ended(server: &Server) {
        assert_eq!(server.prepare(0, 4), 2);
        let row = server.prepare(1, 5);
        server.end(5, row);
    }
    fn first_ends(server: &Server) {
        server.end(4, 2);
        server.prepare(0, 6);
        server.prepare(1, 7);
    }
    check(fault, nothing, [prepares_first, once], false);
    check(fault, second_has_ended, [first_ends, nothing], false);
}

/// A reset beside a transaction that is running, one that begins, and one that is prepared.
fn reset(fault: Fault) {
    fn ahead(server: &Server) {
        server.last_time.store(AHEAD, Ordering::Relaxed);
    }
    fn runs(server: &Server) {
        ahead(server);
        server.processes[0].open(1, &server.last_time, 0);
    }
    fn ends(server: &Server) {
        server.end(8, server.draw());
        server.processes[0].entries[0].close(8);
    }
    fn resets(server: &Server) {
        if server.fault == ResetWithoutFlag {
            server.order().start_again()
        } else {
            server.order().reset()
        }
    }
    check(fault, runs, [ends, resets], true);
    check(fault, ahead, [once, resets], true);
    check(fault, ahead, [prepares, resets], true);
}

#[test]
fn no_row_is_lost() {
    for check in [two_transactions as fn(Fault), prepared, reset] {
        check(None);
    }
}

#[test]
fn each_fault_loses_rows() {
    let faults: [(Fault, fn(Fault)); 6] = [
        (IdBeforeEntry, two_transactions),
        (ClosedBeforeEnded, two_transactions),
        (ForgottenLate, two_transactions),
        (ForgottenReadEarly, two_transactions),
        (OneForgotten, prepared),
        (ResetWithoutFlag, reset),
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
