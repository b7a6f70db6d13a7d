//! What all processes of a server share: the time of the last ordered id, and the order that the
//! horizon is found in.
//!
//! The time is in a few bytes that every release of the library finds. The rest is in a dynamic
//! segment, whose size follows from the settings of the server and from the library.
#![allow(unsafe_code)]

use std::ffi::CStr;
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};

use pg_ulid::ordered::horizon::{self, Slot, State};
use pgrx::pg_sys::{MaxBackends, max_prepared_xacts};

use super::frame::Plain;
use crate::server;

/// The name of the memory in the server. It never changes: another name would begin another order.
const NAME: &CStr = c"ulid_ordered_time";

/// The number of what is in the segment: another one with each change of [`Segment`], `Slot` or
/// `Entry`.
const LAYOUT: u64 = 1;

/// Stands for the number where processes make ids that have not opened an entry.
const MIXED: u64 = u64::MAX;

/// What has this name. The size, and what the fields are, never change. All zeros are the first
/// state.
#[repr(C, align(8))]
struct Header {
    last_time: AtomicU64,
    /// The number of the layout of whoever came first.
    layout: AtomicU64,
    /// The handle of the segment.
    segment: AtomicU64,
    _unused: [u64; 5],
}

/// The segment begins with this. Then come the slots of the processes, and those of prepared
/// transactions.
#[repr(C, align(64))]
struct Segment {
    state: State,
    /// The first transaction that can have begun after the memory was there; zero as long as that
    /// is not known.
    first: AtomicU64,
}

/// A process remembers this many transactions.
pub(crate) type Order = horizon::Order<'static, 8>;

static HEADER: AtomicPtr<Header> = AtomicPtr::new(null_mut());
static SEGMENT: AtomicPtr<Segment> = AtomicPtr::new(null_mut());

/// The time of the last ordered id, attached at its first use in this process; the postmaster runs
/// no SQL.
///
/// If there is no room for it, PostgreSQL's own error passes through.
#[inline(always)]
pub(crate) fn last_time(plain: Plain) -> &'static AtomicU64 {
    let mut header = HEADER.load(Ordering::Relaxed);
    if header.is_null() {
        header = attach(NAME, plain);
        HEADER.store(header, Ordering::Relaxed);
    }
    // SAFETY: it was attached, which lasts as long as the process.
    unsafe { &(*header).last_time }
}

/// The order, attached at its first use in this process, and the first transaction that can have
/// begun after it was there, which only a standby does not know. None if libraries of several
/// layouts use this memory: no horizon can be found then, until the server starts again.
pub(crate) fn order(plain: Plain) -> Option<(Order, u64)> {
    // SAFETY: what is attached lasts as long as the process, and has as many slots behind it.
    unsafe {
        let last_time = last_time(plain);
        let header = &*HEADER.load(Ordering::Relaxed);
        let layout =
            header
                .layout
                .compare_exchange(0, LAYOUT, Ordering::Relaxed, Ordering::Relaxed);
        let segment = match layout {
            Ok(_) | Err(LAYOUT) => attached_segment(&header.segment, plain),
            Err(_) => null_mut(),
        };
        if segment.is_null() {
            return None;
        }
        let first = &(*segment).first;
        // A standby's memory is older than the prepared transactions that it has when it becomes a
        // primary.
        if first.load(Ordering::Relaxed) == 0 && !server::RecoveryInProgress() {
            let next = server::ReadNextFullTransactionId().value;
            let _ = first.compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed);
        }
        let processes = segment.add(1).cast();
        let (backends, prepared) = slots();
        let order = Order {
            last_time,
            state: &(*segment).state,
            processes: std::slice::from_raw_parts(processes, backends),
            prepared: std::slice::from_raw_parts(processes.add(backends).cast(), prepared),
        };
        Some((order, first.load(Ordering::Relaxed)))
    }
}

/// This process makes ids without entries, so there is no horizon until the server starts again.
pub(crate) fn give_up(plain: Plain) {
    last_time(plain);
    // SAFETY: the header is attached.
    unsafe {
        (*HEADER.load(Ordering::Relaxed))
            .layout
            .store(MIXED, Ordering::Relaxed)
    };
    // Whoever looks for the horizon after the next id sees this.
    fence(Ordering::SeqCst);
}

/// How many slots there are: of processes, and of prepared transactions. Each process can be
/// preparing one.
fn slots() -> (usize, usize) {
    // SAFETY: they are set before the first process of the server starts.
    let (backends, prepared) = unsafe { (MaxBackends as usize, max_prepared_xacts as usize) };
    (backends, prepared + backends)
}

/// The segment, attached at its first use in this process; null if it is not to be had any more.
/// The first process that asks for it makes it, and gives its own up if another one was faster.
fn attached_segment(handle: &AtomicU64, _: Plain) -> *mut Segment {
    let attached = SEGMENT.load(Ordering::Relaxed);
    if !attached.is_null() {
        return attached;
    }
    let (backends, prepared) = slots();
    let size =
        size_of::<Segment>() + size_of::<Slot<8>>() * backends + size_of::<Slot<1>>() * prepared;
    // SAFETY: the segment is as large as this, and nobody else has it before its handle is known;
    // pinned, it stays until the server stops, and attached until this process ends.
    unsafe {
        let mut mapped = null_mut();
        if handle.load(Ordering::Relaxed) == 0 {
            mapped = server::dsm_create(size, 0);
            server::dsm_segment_address(mapped)
                .cast::<u8>()
                .write_bytes(0, size);
            let own = server::dsm_segment_handle(mapped);
            server::dsm_pin_segment(mapped);
            if handle
                .compare_exchange(0, own.into(), Ordering::Release, Ordering::Relaxed)
                .is_err()
            {
                server::dsm_unpin_segment(own);
                server::dsm_detach(mapped);
                mapped = null_mut();
            }
        }
        if mapped.is_null() {
            mapped = server::dsm_attach(handle.load(Ordering::Acquire) as u32);
        }
        if mapped.is_null() {
            return null_mut();
        }
        server::dsm_pin_mapping(mapped);
        let segment = server::dsm_segment_address(mapped).cast();
        SEGMENT.store(segment, Ordering::Relaxed);
        segment
    }
}

/// Whether every process that makes ids has opened an entry; asked after the slots of this order
/// have been read.
pub(crate) fn is_whole(_order: Order) -> bool {
    let header = HEADER.load(Ordering::Relaxed);
    // SAFETY: whoever has an order has attached the header.
    unsafe { (*header).layout.load(Ordering::Acquire) == LAYOUT }
}

/// The header of this name. The first process that asks for it creates it, as zeros, before any
/// other process sees it.
#[cfg(any(feature = "pg15", feature = "pg16"))]
#[cold]
fn attach(name: &CStr, _: Plain) -> *mut Header {
    use pgrx::pg_sys::{LWLockMode, MainLWLockArray};

    /// `AddinShmemInitLock` in `storage/lwlocknames.h` of these versions.
    const ADDIN_SHMEM_INIT_LOCK: usize = 21;
    let mut found = false;
    // SAFETY: a backend has this lock and what it protects. An error releases the lock as it does
    // every one.
    unsafe {
        let lock = &raw mut (*MainLWLockArray.add(ADDIN_SHMEM_INIT_LOCK)).lock;
        server::LWLockAcquire(lock, LWLockMode::LW_EXCLUSIVE);
        let memory = server::ShmemInitStruct(name.as_ptr(), size_of::<Header>(), &mut found)
            .cast::<Header>();
        if !found {
            memory.write_bytes(0, 1);
        }
        server::LWLockRelease(lock);
        memory
    }
}

/// The header of this name. From PostgreSQL 17 there is a registry for it, which needs no reserved
/// space.
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
#[cold]
fn attach(name: &CStr, _: Plain) -> *mut Header {
    /// # Safety
    /// The pointer is to memory of this size that nobody else has yet.
    unsafe extern "C-unwind" fn initialize(
        memory: *mut c_void,
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
        _argument: *mut c_void,
    ) {
        // SAFETY: the registry of segments calls this once, under its lock, with the memory that it
        // has just made.
        unsafe { memory.cast::<Header>().write_bytes(0, 1) };
    }
    let (name, mut found) = (name.as_ptr(), false);
    // SAFETY: the name is short enough; the function initializes what it is given before anybody
    // else can attach it.
    unsafe {
        #[cfg(any(feature = "pg17", feature = "pg18"))]
        let memory =
            server::GetNamedDSMSegment(name, size_of::<Header>(), Some(initialize), &mut found);
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
        let memory = server::GetNamedDSMSegment(
            name,
            size_of::<Header>(),
            Some(initialize),
            &mut found,
            null_mut(),
        );
        memory.cast()
    }
}

/// For the tests inside a backend, which use headers under other names.
#[cfg(feature = "pg_test")]
pub(crate) mod test_support {
    use super::{AtomicU64, CStr, HEADER, Header, Ordering, Plain};

    /// The last time of the server.
    pub(crate) fn last_time() -> &'static AtomicU64 {
        // SAFETY: these tests run where there is room for it.
        super::last_time(unsafe { Plain::new() })
    }

    /// The last time of this name.
    pub(crate) fn attached(name: &CStr) -> &'static AtomicU64 {
        &header(name).last_time
    }

    fn header(name: &CStr) -> &'static Header {
        // SAFETY: a header stays until the process ends, and everybody reaches its fields as atomic
        // ones. The frames of the one test that finds no room for it are plain.
        unsafe { &*super::attach(name, Plain::new()) }
    }

    /// Lets a test be as if this process had begun after one of another layout, and then undoes it.
    /// Returns whether it has given up the horizon of both.
    pub(crate) fn beside_another_layout(test: impl FnOnce()) -> bool {
        let other = header(c"ulid_test_layout");
        other.layout.store(super::LAYOUT + 1, Ordering::Relaxed);
        let own = HEADER.swap(std::ptr::from_ref(other).cast_mut(), Ordering::Relaxed);
        test();
        HEADER.store(own, Ordering::Relaxed);
        other.layout.load(Ordering::Relaxed) == super::MIXED
    }

    /// Takes all the space that the server has left.
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    pub(crate) fn exhaust() {
        use crate::server::ShmemAllocNoError;

        for size in [1 << 16, 1 << 12, 1] {
            // SAFETY: any backend may take what is left; what it gets is used by nobody.
            while unsafe { !ShmemAllocNoError(size).is_null() } {}
        }
    }
}
