//! What all processes of a server share: the time of the last ordered id, and the slots of the transactions that make
//! some.
#![allow(unsafe_code)]

use std::ffi::CStr;
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use pg_ulid::horizon::Slot;
use pgrx::pg_sys::{MyProc, ProcGlobal, max_prepared_xacts};

use super::frame::Plain;
use super::horizon;
use super::report::{Error, Fault};
use crate::server;

/// The name of the memory in the server. It never changes: another name would begin another order.
const NAME: &CStr = c"ulid_ordered_time";

/// Where the slots begin, in bytes: not in the cache line of the word.
const SLOTS: usize = 64;

/// The address of the word, once this process has attached it; the slots are behind it.
static TIME: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

/// The address of this process's slot.
static SLOT: AtomicPtr<Slot> = AtomicPtr::new(std::ptr::null_mut());

/// The word, attached at its first use in this process. The postmaster has none, since it runs no SQL.
///
/// If there is no room for it, PostgreSQL's own error passes through.
#[inline(always)]
pub(crate) fn time(plain: Plain) -> &'static AtomicU64 {
    let mut word = TIME.load(Ordering::Relaxed);
    if word.is_null() {
        word = attach_own(plain);
    }
    // SAFETY: it was attached, which lasts as long as the process.
    unsafe { &*word }
}

#[cold]
fn attach_own(plain: Plain) -> *mut AtomicU64 {
    // SAFETY: a process has a PGPROC, which is in that array at its number, and as many slots as there are PGPROCs are
    // in the memory.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        let number = (*MyProc).pgprocno as usize;
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        let number = pgrx::pg_sys::MyProcNumber as usize;
        // PostgreSQL looks at the major version of a library, which does not tell how large a PGPROC is.
        if number >= horizon::processes() || (*ProcGlobal).allProcs.add(number) != MyProc {
            Error::from(Fault::OtherRelease).raise(plain);
        }
        let word = attach(NAME, plain).cast::<AtomicU64>();
        SLOT.store(word.byte_add(SLOTS).cast::<Slot>().add(number), Ordering::Relaxed);
        TIME.store(word, Ordering::Relaxed);
        word
    }
}

/// The number of the slots: one for each process, and one for each prepared transaction.
fn count() -> usize {
    // SAFETY: it is set when the server starts.
    horizon::processes() + unsafe { max_prepared_xacts } as usize
}

/// The size of the memory in bytes.
pub(crate) fn size() -> usize {
    SLOTS + size_of::<Slot>() * count()
}

/// The slots, those of the processes first; none before this process has attached the word.
pub(crate) fn slots() -> &'static [Slot] {
    let word = TIME.load(Ordering::Relaxed);
    if word.is_null() {
        return &[];
    }
    // SAFETY: they are behind the word.
    unsafe { std::slice::from_raw_parts(word.byte_add(SLOTS).cast(), count()) }
}

/// The slot of this process.
///
/// # Safety
/// This process has attached the word.
#[inline(always)]
pub(crate) unsafe fn slot() -> &'static Slot {
    // SAFETY: it was set with the word.
    unsafe { &*SLOT.load(Ordering::Relaxed) }
}

/// The memory of this name. The first process that asks for it creates it, as zeros, before any other process sees it.
#[cfg(any(feature = "pg15", feature = "pg16"))]
fn attach(name: &CStr, _: Plain) -> *mut u8 {
    use pgrx::pg_sys::{LWLockMode, MainLWLockArray};

    /// `AddinShmemInitLock` in `storage/lwlocknames.h` of these versions.
    const ADDIN_SHMEM_INIT_LOCK: usize = 21;
    let mut found = false;
    // SAFETY: a backend has this lock and what it protects. An error releases the lock as it does every one.
    unsafe {
        let lock = &raw mut (*MainLWLockArray.add(ADDIN_SHMEM_INIT_LOCK)).lock;
        server::LWLockAcquire(lock, LWLockMode::LW_EXCLUSIVE);
        let memory = server::ShmemInitStruct(name.as_ptr(), size(), &mut found).cast::<u8>();
        if !found {
            memory.write_bytes(0, size());
        }
        server::LWLockRelease(lock);
        memory
    }
}

/// The memory of this name. From PostgreSQL 17 there is a registry for it, which needs no reserved space.
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
fn attach(name: &CStr, _: Plain) -> *mut u8 {
    /// # Safety
    /// The pointer is to memory of this size that nobody else has yet.
    unsafe extern "C-unwind" fn initialize(
        memory: *mut c_void,
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
        _argument: *mut c_void,
    ) {
        // SAFETY: the registry of segments calls this once, under its lock, with the memory that it has just made.
        unsafe { memory.cast::<u8>().write_bytes(0, size()) };
    }
    let (name, mut found) = (name.as_ptr(), false);
    // SAFETY: the name is short enough; the function initializes what it is given before anybody else can attach it.
    unsafe {
        #[cfg(any(feature = "pg17", feature = "pg18"))]
        let memory = server::GetNamedDSMSegment(name, size(), Some(initialize), &mut found);
        #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
        let memory =
            server::GetNamedDSMSegment(name, size(), Some(initialize), &mut found, std::ptr::null_mut());
        memory.cast()
    }
}

/// For the tests inside a backend, which use words under other names.
#[cfg(feature = "pg_test")]
pub(crate) mod test_support {
    /// The word of the server.
    pub(crate) fn time() -> &'static super::AtomicU64 {
        // SAFETY: these tests run where there is room for it.
        super::time(unsafe { super::Plain::new() })
    }

    /// The word of this name.
    pub(crate) fn attached(name: &super::CStr) -> &'static super::AtomicU64 {
        // SAFETY: the word is aligned, stays until the process ends, and everybody reaches it as an atomic one. The
        // frames of the one test that finds no room for it are plain.
        unsafe { &*super::attach(name, super::Plain::new()).cast() }
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
