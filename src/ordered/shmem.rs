//! The shared memory of ordered ids: the id clock, and the entries of transactions.
//!
//! The id clock is in a header that every release of the library finds. The entries are in a
//! dynamic shared memory segment, whose size follows from the settings of the server and from the
//! library.
//!
//! pgrx's `pg_shmem_init!` is not used, since it needs `shared_preload_libraries`. A process
//! attaches the memory at its first use. The header takes a few bytes of the main segment's slop,
//! as contrib's pg_prewarm did before PostgreSQL 17 if it was not preloaded. From PostgreSQL 19 on,
//! it is in the registry of named segments (`dsm_registry.c`), which needs no slop. That of 17 and
//! 18 may not try again after a failed allocation, until the server starts again.
#![allow(unsafe_code)]

use std::ffi::CStr;
#[cfg(feature = "pg19")]
use std::ffi::c_void;
use std::ptr::null_mut;
use std::slice::from_raw_parts;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};

use pg_ulid::ordered::IdClock;
use pgrx::pg_sys::{self, MaxBackends, max_prepared_xacts};
use ulid_horizon::{self as rules, Control, PreparedSlot, ProcessSlot};

/// The name of the header in the server. Never change it: another name would be another id clock.
const NAME: &CStr = c"ulid_ordered_time";

/// Raise it when a word in the segment gets another meaning.
const FORMAT_VERSION: usize = 1;

/// A number for the layout of the segment. It follows from [`FORMAT_VERSION`], the types and the
/// order of the arrays. Libraries with different numbers cannot share the segment.
const LAYOUT: u64 = {
    // Where the arrays begin shows their order, with any numbers of slots.
    let Parts {
        process_slots,
        prepared_slots,
        size,
    } = Parts::of(3, 5);
    let types = rules::layout_hash() as usize;
    rules::hash(&[FORMAT_VERSION, types, process_slots, prepared_slots, size])
};
const _: () = assert!(LAYOUT != 0 && LAYOUT != UNTRACKED);

/// Where the arrays behind [`Control`] begin in the segment, in bytes, and the size of it all.
struct Parts {
    process_slots: usize,
    prepared_slots: usize,
    size: usize,
}

impl Parts {
    /// For these numbers of process slots and of prepared slots.
    const fn of(processes: usize, prepared_count: usize) -> Self {
        let process_slots = size_of::<Control>();
        let prepared_slots = process_slots + processes * size_of::<ProcessSlot>();
        let size = prepared_slots + prepared_count * size_of::<PreparedSlot>();
        Self {
            process_slots,
            prepared_slots,
            size,
        }
    }
}

/// In place of [`LAYOUT`] in the header: some process generates ids without entries, or with
/// entries of another layout. It stays until the server starts again, and there is no horizon until
/// then.
const UNTRACKED: u64 = u64::MAX;

/// The header. Never change its size or its fields. All zeros are the first state.
///
/// Every id changes the id clock, and every transaction reads the other fields, so the id clock is
/// on a cache line of its own. `ShmemInitStruct` and the registry align the header to more than
/// that.
#[repr(C, align(8))]
struct Header {
    id_clock: IdClock,
    _own_line: [u64; 7],
    /// [`LAYOUT`] of the process that came first, or [`UNTRACKED`]; zero before.
    layout: AtomicU64,
    /// The dsm_handle of the segment; zero before it is created.
    segment: AtomicU64,
    _unused: [u64; 6],
}

/// The shared memory as the rules of the horizon see it.
pub(crate) type Shared = rules::Shared<'static>;

/// The header, if this process has attached it; otherwise null.
static HEADER: AtomicPtr<Header> = AtomicPtr::new(null_mut());

/// The beginning of the segment, if this process has attached it; otherwise null.
static SEGMENT: AtomicPtr<Control> = AtomicPtr::new(null_mut());

/// The id clock of the server. It is attached at its first use in this process.
///
/// Never call this in the postmaster. Its children would inherit the pointers, also those that it
/// starts after a crash, when the memory is another one.
///
/// If there is no room for it, PostgreSQL's own error passes through.
#[inline(always)]
pub(crate) fn id_clock() -> &'static IdClock {
    &header().id_clock
}

/// The header, attached at its first use in this process.
#[inline(always)]
fn header() -> &'static Header {
    let mut header = HEADER.load(Ordering::Relaxed);
    if header.is_null() {
        header = attach_header(NAME);
        HEADER.store(header, Ordering::Relaxed);
    }
    // SAFETY: it was attached, which lasts as long as the process.
    unsafe { &*header }
}

/// The shared memory, attached at its first use in this process. `None` if libraries of several
/// layouts use the memory, or if the segment cannot be attached: there is no horizon then, until
/// the server starts again.
pub(crate) fn shared() -> Option<Shared> {
    let header = header();
    let layout = &header.layout;
    // A load first: most calls find the layout, and a failing compare_exchange would take the cache
    // line.
    if layout.load(Ordering::Relaxed) == 0 {
        let _ = layout.compare_exchange(0, LAYOUT, Ordering::Relaxed, Ordering::Relaxed);
    }
    if layout.load(Ordering::Relaxed) != LAYOUT || attached_segment(&header.segment).is_null() {
        return None;
    }
    let shared = shared_if_attached()?;
    // SAFETY: a backend may call these.
    unsafe {
        if shared.start_xid().is_none() && !pg_sys::RecoveryInProgress() {
            shared.start(pg_sys::ReadNextFullTransactionId().value);
        }
    }
    Some(shared)
}

/// The shared memory, if this process has attached it. It cannot fail.
pub(super) fn shared_if_attached() -> Option<Shared> {
    let segment = SEGMENT.load(Ordering::Relaxed);
    if segment.is_null() {
        return None;
    }
    let (processes, prepared_count) = slot_counts();
    let parts = Parts::of(processes, prepared_count);
    // SAFETY: what is attached lasts as long as the process, and has these parts.
    unsafe {
        let part = |start| segment.byte_add(start);
        Some(Shared {
            id_clock: id_clock(),
            control: &*segment,
            process_slots: from_raw_parts(part(parts.process_slots).cast(), processes),
            prepared_slots: from_raw_parts(part(parts.prepared_slots).cast(), prepared_count),
        })
    }
}

/// Stores that the entries do not tell all: this process generates ids without them, or has not
/// reset the id clock with them. Then there is no horizon until the server starts again. Call it
/// before the next id.
pub(crate) fn stop_tracking() {
    header().layout.store(UNTRACKED, Ordering::Relaxed);
    // A full barrier, which pairs with that of `Shared::horizon`: a reader whose time is later than
    // the next id sees the store.
    fence(Ordering::SeqCst);
}

/// Whether every process that has generated ids had opened an entry of this layout. Call it after
/// the slots have been read.
pub(crate) fn is_tracked() -> bool {
    header().layout.load(Ordering::Acquire) == LAYOUT
}

/// The number of process slots, and that of prepared slots: max_prepared_transactions, and one more
/// for each process, which may have reserved it.
fn slot_counts() -> (usize, usize) {
    // SAFETY: they are set before the first process of the server starts.
    let (processes, max_prepared) = unsafe { (MaxBackends as usize, max_prepared_xacts as usize) };
    let prepared_count = if max_prepared == 0 {
        0
    } else {
        max_prepared + processes
    };
    (processes, prepared_count)
}

/// The segment whose handle is in the header, attached at its first use in this process. Null if it
/// cannot be attached any more, or is too short.
///
/// The first process that asks for it creates it. If two do, one of them destroys its own.
fn attached_segment(handle: &AtomicU64) -> *mut Control {
    let attached = SEGMENT.load(Ordering::Relaxed);
    if !attached.is_null() {
        return attached;
    }
    let (processes, prepared_count) = slot_counts();
    let Parts { size, .. } = Parts::of(processes, prepared_count);
    // SAFETY: the segment has at least this size. No other process has it before the handle is
    // stored. It is pinned, so it stays until the server stops, and mapped until this process
    // ends.
    unsafe {
        let mut mapped = null_mut();
        if handle.load(Ordering::Relaxed) == 0 {
            mapped = pg_sys::dsm_create(size, 0);
            pg_sys::dsm_segment_address(mapped)
                .cast::<u8>()
                .write_bytes(0, size);
            let own = pg_sys::dsm_segment_handle(mapped);
            pg_sys::dsm_pin_segment(mapped);
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            if handle
                .compare_exchange(0, own.into(), success, failure)
                .is_err()
            {
                pg_sys::dsm_unpin_segment(own);
                pg_sys::dsm_detach(mapped);
                mapped = null_mut();
            }
        }
        if mapped.is_null() {
            mapped = pg_sys::dsm_attach(handle.load(Ordering::Acquire) as u32);
        }
        if mapped.is_null() {
            return null_mut();
        }
        // In min_dynamic_shared_memory a segment is rounded up to whole pages, so it may be longer.
        if pg_sys::dsm_segment_map_length(mapped) < size {
            pg_sys::dsm_detach(mapped);
            return null_mut();
        }
        pg_sys::dsm_pin_mapping(mapped);
        let segment = pg_sys::dsm_segment_address(mapped).cast();
        SEGMENT.store(segment, Ordering::Relaxed);
        segment
    }
}

/// Attaches the header of this name. The first process that asks for it creates it, as zeros,
/// before any other process sees it.
#[cfg(not(feature = "pg19"))]
#[cold]
fn attach_header(name: &CStr) -> *mut Header {
    use pgrx::pg_sys::{LWLockMode, MainLWLockArray};

    /// `AddinShmemInitLock` in `storage/lwlocknames.h` of these versions.
    const ADDIN_SHMEM_INIT_LOCK: usize = 21;
    let mut found = false;
    // SAFETY: the array has this lock in these versions. At an ERROR, LWLockReleaseAll() releases
    // it.
    unsafe {
        let lock = &raw mut (*MainLWLockArray.add(ADDIN_SHMEM_INIT_LOCK)).lock;
        pg_sys::LWLockAcquire(lock, LWLockMode::LW_EXCLUSIVE);
        let memory = pg_sys::ShmemInitStruct(name.as_ptr(), size_of::<Header>(), &mut found);
        let memory = memory.cast::<Header>();
        if !found {
            memory.write_bytes(0, 1);
        }
        pg_sys::LWLockRelease(lock);
        memory
    }
}

/// Attaches the header of this name, in the registry of named segments. The first process that asks
/// for it creates it, as zeros.
#[cfg(feature = "pg19")]
#[cold]
fn attach_header(name: &CStr) -> *mut Header {
    /// Sets the new header to its first state.
    ///
    /// # Safety
    /// The pointer is to memory of this size that nobody else has yet.
    #[pgrx::pg_guard]
    unsafe extern "C-unwind" fn initialize(memory: *mut c_void, _argument: *mut c_void) {
        // SAFETY: the registry calls this once, under its lock, with the memory that it has
        // created.
        unsafe { memory.cast::<Header>().write_bytes(0, 1) };
    }

    let (name, size, mut found) = (name.as_ptr(), size_of::<Header>(), false);
    // SAFETY: the name is short enough. The function initializes the memory before any other
    // process can attach it.
    unsafe {
        pg_sys::GetNamedDSMSegment(name, size, Some(initialize), &mut found, null_mut()).cast()
    }
}

/// For the tests inside a backend, which use headers under other names.
#[cfg(feature = "pg_test")]
pub(crate) mod test_support {
    use super::{
        CStr, Control, HEADER, Header, IdClock, LAYOUT, Ordering, SEGMENT, UNTRACKED, null_mut,
        pg_sys,
    };

    /// The id clock of this name.
    pub(crate) fn attached(name: &CStr) -> &'static IdClock {
        &header(name).id_clock
    }

    /// The header of this name.
    fn header(name: &CStr) -> &'static Header {
        // SAFETY: a header stays until the process ends, and every process uses its fields as
        // atomic ones.
        unsafe { &*super::attach_header(name) }
    }

    /// Lets a test be as if this process had started after one of another layout, and then undoes
    /// it. Returns whether tracking has stopped for both.
    /// No other test may use this header.
    pub(crate) fn beside_another_layout(name: &CStr, test: impl FnOnce()) -> bool {
        beside(name, LAYOUT + 1, 0, test)
    }

    /// The same after one whose segment is shorter.
    pub(crate) fn beside_a_short_segment(name: &CStr, test: impl FnOnce()) -> bool {
        // SAFETY: a backend may create a segment, which is pinned.
        let segment = unsafe {
            let mapped = pg_sys::dsm_create(size_of::<Control>(), 0);
            pg_sys::dsm_pin_segment(mapped);
            let segment = pg_sys::dsm_segment_handle(mapped);
            pg_sys::dsm_detach(mapped);
            segment
        };
        beside(name, LAYOUT, segment.into(), test)
    }

    /// Runs a test with a header that has this layout and this handle of a segment.
    fn beside(name: &CStr, layout: u64, segment: u64, test: impl FnOnce()) -> bool {
        let other = header(name);
        other.layout.store(layout, Ordering::Relaxed);
        other.segment.store(segment, Ordering::Relaxed);
        let own_header = HEADER.swap(std::ptr::from_ref(other).cast_mut(), Ordering::Relaxed);
        let own_segment = SEGMENT.swap(null_mut(), Ordering::Relaxed);
        test();
        HEADER.store(own_header, Ordering::Relaxed);
        SEGMENT.store(own_segment, Ordering::Relaxed);
        other.layout.load(Ordering::Relaxed) == UNTRACKED
    }

    /// Takes all the space that the main segment of shared memory has left.
    #[cfg(not(feature = "pg19"))]
    pub(crate) fn exhaust() {
        use pgrx::pg_sys::ShmemAllocNoError;

        for size in [1 << 16, 1 << 12, 1] {
            // SAFETY: any backend may take what is left; nobody uses what it gets.
            while unsafe { !ShmemAllocNoError(size).is_null() } {}
        }
    }
}
