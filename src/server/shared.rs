//! The one word that all processes of a server share: the time of the last ordered ULID.
#![allow(unsafe_code)]

use std::ffi::CStr;
#[cfg(any(feature = "pg17", feature = "pg18", feature = "pg19"))]
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::server;

/// The name of the word in the server. It never changes: another name would begin another order.
const NAME: &CStr = c"ulid_ordered_time";

/// The address of the word, once this process has attached it.
static TIME: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

/// The word, attached at its first use in this process. The postmaster has none, since it runs no SQL.
///
/// If there is no room for it, PostgreSQL's own error passes through; the caller's frames have nothing to drop.
pub(crate) fn time() -> &'static AtomicU64 {
    let word = TIME.load(Ordering::Relaxed);
    if word.is_null() {
        let word = attached(NAME);
        TIME.store(std::ptr::from_ref(word).cast_mut(), Ordering::Relaxed);
        return word;
    }
    // SAFETY: it was attached, which lasts as long as the process.
    unsafe { &*word }
}

#[cold]
fn attached(name: &CStr) -> &'static AtomicU64 {
    // SAFETY: the word is aligned, stays until the process ends, and everybody reaches it as an atomic one.
    unsafe { AtomicU64::from_ptr(attach(name)) }
}

/// The word of this name. The first process that asks for it creates it, as zero, before any other process sees it.
#[cfg(any(feature = "pg15", feature = "pg16"))]
fn attach(name: &CStr) -> *mut u64 {
    use pgrx::pg_sys::{LWLockMode, MainLWLockArray};

    /// `AddinShmemInitLock` in `storage/lwlocknames.h` of these versions.
    const ADDIN_SHMEM_INIT_LOCK: usize = 21;
    let mut found = false;
    // SAFETY: a backend has this lock and what it protects. An error releases the lock as it does every one.
    unsafe {
        let lock = &raw mut (*MainLWLockArray.add(ADDIN_SHMEM_INIT_LOCK)).lock;
        server::LWLockAcquire(lock, LWLockMode::LW_EXCLUSIVE);
        let word = server::ShmemInitStruct(name.as_ptr(), size_of::<u64>(), &mut found).cast::<u64>();
        if !found {
            word.write(0);
        }
        server::LWLockRelease(lock);
        word
    }
}

/// The same. From PostgreSQL 17 there is a registry for it, which needs no reserved space.
#[cfg(any(feature = "pg17", feature = "pg18", feature = "pg19"))]
fn attach(name: &CStr) -> *mut u64 {
    /// # Safety
    /// The pointer is to an aligned word that nobody else has yet.
    unsafe extern "C-unwind" fn initialize(
        word: *mut c_void,
        #[cfg(feature = "pg19")] _argument: *mut c_void,
    ) {
        // SAFETY: the registry of segments calls this once, under its lock, with the memory that it has just made.
        unsafe { word.cast::<u64>().write(0) };
    }
    let (name, size, mut found) = (name.as_ptr(), size_of::<u64>(), false);
    // SAFETY: the name is short enough; the function initializes what it is given before anybody else can attach it.
    unsafe {
        #[cfg(not(feature = "pg19"))]
        let word = server::GetNamedDSMSegment(name, size, Some(initialize), &mut found);
        #[cfg(feature = "pg19")]
        let word = server::GetNamedDSMSegment(name, size, Some(initialize), &mut found, std::ptr::null_mut());
        word.cast()
    }
}

/// For the tests inside a backend, which use words under other names.
#[cfg(feature = "pg_test")]
pub(crate) mod test_support {
    /// The word of this name.
    pub(crate) fn attached(name: &super::CStr) -> &'static super::AtomicU64 {
        super::attached(name)
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
