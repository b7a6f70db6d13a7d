//! What touches the server: its own functions, declared here without wrappers; the calling
//! convention ([`frame`]); the SQL types ([`datum`], [`range`]); the classes of BRIN ([`brin`]);
//! error reports ([`report`]); the memory that its processes share ([`shared`]); and what a
//! snapshot sees of the transactions ([`horizon`]).
//!
//! pgrx's bindings wrap each function in a `sigsetjmp`, turn an ERROR into a Rust panic and raise
//! it again. SQLSTATE, context and constraint are lost on the way, and bytes that are not UTF-8 are
//! replaced. So every function that can report an error is declared here, and its error passes as
//! PostgreSQL's `longjmp`. The rule for callers: they have a [`Plain`](frame::Plain).
#![allow(unsafe_code)]

pub(super) mod brin;
pub(super) mod datum;
pub(super) mod frame;
pub(super) mod horizon;
mod messages;
pub(super) mod range;
pub(super) mod report;
pub(super) mod shared;

use std::ffi::{c_char, c_int, c_void};

use pgrx::pg_sys::{
    AttStatsSlot, BoolExprType, CoercionForm, Const, Datum, Expr, FullTransactionId, FuncExpr,
    FunctionCallInfo, HeapTuple, IndexOptInfo, List, ListCell, MemoryContext, Node, Oid, OpExpr,
    PGFunction, PlannerInfo, QualCost, RangeBound, RangeType, Relation, Snapshot, TransactionId,
    TypeCacheEntry, VariableStatData, XactCallback, check_function_callback, dsm_segment,
    oidvector, text, varlena,
};
#[cfg(any(feature = "pg15", feature = "pg16"))]
use pgrx::pg_sys::{LWLock, LWLockMode};

// What pgrx has no binding for: functions with a variable number of arguments, and what bindgen
// leaves out.
unsafe extern "C-unwind" {
    pub(super) fn errstart(level: c_int, domain: *const c_char) -> bool;
    pub(super) fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
    pub(super) fn errcode(sqlstate: c_int) -> c_int;
    pub(super) fn errmsg(format: *const c_char, ...) -> c_int;
    pub(super) fn errdetail(format: *const c_char, ...) -> c_int;
    pub(super) fn errhint(format: *const c_char, ...) -> c_int;
    #[cfg(feature = "pg15")]
    pub(super) fn expression_tree_walker(
        node: *mut Node,
        walker: Walker,
        context: *mut c_void,
    ) -> bool;
}

type Walker = Option<unsafe extern "C-unwind" fn(node: *mut Node, context: *mut c_void) -> bool>;
#[cfg(not(feature = "pg15"))]
pub(super) use expression_tree_walker_impl as expression_tree_walker;

/// Declares functions, and lets the compiler compare each with pgrx's binding, which is made from
/// the header.
macro_rules! declare {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        unsafe extern "C-unwind" {
            $($(#[$attribute])* pub(super) fn $name($($argument: $type),*) $(-> $result)?;)*
        }
        $($(#[$attribute])* const _: unsafe fn($($type),*) $(-> $result)? = pgrx::pg_sys::$name;)*
    };
}

declare! {
    // Error reports
    #[cfg(not(feature = "pg15"))]
    fn errsave_start(context: *mut Node, domain: *const c_char) -> bool;
    #[cfg(not(feature = "pg15"))]
    fn errsave_finish(context: *mut Node, file: *const c_char, line: c_int, function: *const c_char);
    fn pg_encoding_mblen(encoding: c_int, character: *const c_char) -> c_int;
    fn GetDatabaseEncoding() -> c_int;

    // Memory and datums
    fn palloc(size: usize) -> *mut c_void;
    fn MemoryContextAlloc(context: MemoryContext, size: usize) -> *mut c_void;
    fn AllocSetContextCreateInternal(
        parent: MemoryContext,
        name: *const c_char,
        minimum: usize,
        initial: usize,
        maximum: usize,
    ) -> MemoryContext;
    fn MemoryContextDelete(context: MemoryContext);
    fn ProcessInterrupts();
    fn text_to_cstring(text: *const text) -> *mut c_char;
    fn pg_detoast_datum(datum: *mut varlena) -> *mut varlena;
    fn pg_detoast_datum_packed(datum: *mut varlena) -> *mut varlena;
    fn lookup_type_cache(typid: Oid, flags: c_int) -> *mut TypeCacheEntry;
    fn range_deserialize(
        cache: *mut TypeCacheEntry,
        range: *const RangeType,
        lower: *mut RangeBound,
        upper: *mut RangeBound,
        is_empty: *mut bool,
    );

    // Functions of core with the SQL calling convention
    fn DirectFunctionCall1Coll(function: PGFunction, collation: Oid, argument: Datum) -> Datum;
    fn timestamp_timestamptz(fcinfo: FunctionCallInfo) -> Datum;
    fn timestamptz_timestamp(fcinfo: FunctionCallInfo) -> Datum;
    fn brin_minmax_opcinfo(fcinfo: FunctionCallInfo) -> Datum;
    fn brin_minmax_multi_opcinfo(fcinfo: FunctionCallInfo) -> Datum;

    // Shared memory
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    fn LWLockAcquire(lock: *mut LWLock, mode: LWLockMode::Type) -> bool;
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    fn LWLockRelease(lock: *mut LWLock);
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    fn ShmemInitStruct(name: *const c_char, size: usize, found: *mut bool) -> *mut c_void;
    #[cfg(all(feature = "pg_test", any(feature = "pg15", feature = "pg16")))]
    fn ShmemAllocNoError(size: usize) -> *mut c_void;
    #[cfg(any(feature = "pg17", feature = "pg18"))]
    fn GetNamedDSMSegment(
        name: *const c_char,
        size: usize,
        initialize: Option<unsafe extern "C-unwind" fn(segment: *mut c_void)>,
        found: *mut bool,
    ) -> *mut c_void;
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
    fn GetNamedDSMSegment(
        name: *const c_char,
        size: usize,
        initialize: Option<unsafe extern "C-unwind" fn(segment: *mut c_void, argument: *mut c_void)>,
        found: *mut bool,
        argument: *mut c_void,
    ) -> *mut c_void;

    fn dsm_create(size: usize, flags: c_int) -> *mut dsm_segment;
    fn dsm_attach(handle: u32) -> *mut dsm_segment;
    fn dsm_detach(segment: *mut dsm_segment);
    fn dsm_pin_mapping(segment: *mut dsm_segment);
    fn dsm_pin_segment(segment: *mut dsm_segment);
    fn dsm_unpin_segment(handle: u32);
    fn dsm_segment_address(segment: *mut dsm_segment) -> *mut c_void;
    fn dsm_segment_handle(segment: *mut dsm_segment) -> u32;

    // Transactions
    fn RecoveryInProgress() -> bool;
    fn ReadNextFullTransactionId() -> FullTransactionId;
    fn TransactionIdIsInProgress(transaction: TransactionId) -> bool;
    fn RegisterXactCallback(callback: XactCallback, argument: *mut c_void);
    fn GetTopFullTransactionIdIfAny() -> FullTransactionId;
    fn ActiveSnapshotSet() -> bool;
    fn GetActiveSnapshot() -> Snapshot;
    fn GetTransactionSnapshot() -> Snapshot;
    fn XidInMVCCSnapshot(transaction: TransactionId, snapshot: Snapshot) -> bool;
    fn BackendXidGetPid(transaction: TransactionId) -> c_int;

    // Catalogs
    fn SearchSysCache1(cache: c_int, key: Datum) -> HeapTuple;
    fn SearchSysCache3(cache: c_int, key1: Datum, key2: Datum, key3: Datum) -> HeapTuple;
    fn SysCacheGetAttr(cache: c_int, tuple: HeapTuple, attribute: i16, is_null: *mut bool) -> Datum;
    fn ReleaseSysCache(tuple: HeapTuple);
    fn buildoidvector(oids: *const Oid, n: c_int) -> *mut oidvector;
    fn getBaseType(typid: Oid) -> Oid;
    fn format_type_be(typid: Oid) -> *mut c_char;
    fn get_typlenbyval(typid: Oid, length: *mut i16, by_value: *mut bool);
    fn get_func_namespace(function: Oid) -> Oid;
    fn func_volatile(function: Oid) -> c_char;
    fn get_opcode(operator: Oid) -> Oid;
    fn get_negator(operator: Oid) -> Oid;
    fn get_opclass_family(opclass: Oid) -> Oid;
    fn op_in_opfamily(operator: Oid, family: Oid) -> bool;
    fn get_op_opfamily_strategy(operator: Oid, family: Oid) -> c_int;
    fn get_opfamily_member(family: Oid, left: Oid, right: Oid, strategy: i16) -> Oid;
    fn GetUserId() -> Oid;
    #[cfg(feature = "pg15")]
    fn pg_proc_aclcheck(function: Oid, role: Oid, mode: u32) -> u32;
    #[cfg(not(feature = "pg15"))]
    fn object_aclcheck(class: Oid, object: Oid, role: Oid, mode: u64) -> u32;

    // Relations
    fn table_open(relation: Oid, lock: c_int) -> Relation;
    fn table_close(relation: Relation, lock: c_int);
    fn index_open(relation: Oid, lock: c_int) -> Relation;
    fn index_close(relation: Relation, lock: c_int);
    fn RelationGetIndexList(relation: Relation) -> *mut List;
    fn RelationGetStatExtList(relation: Relation) -> *mut List;
    fn RelationGetIndexPredicate(index: Relation) -> *mut List;
    fn RelationGetIndexExpressions(index: Relation) -> *mut List;

    // Nodes
    fn copyObjectImpl(node: *const c_void) -> *mut c_void;
    fn applyRelabelType(
        node: *mut Node,
        typid: Oid,
        typmod: i32,
        collation: Oid,
        form: CoercionForm::Type,
        location: c_int,
        overwrite: bool,
    ) -> *mut Node;
    fn stringToNode(string: *const c_char) -> *mut c_void;
    fn check_functions_in_node(node: *mut Node, checker: check_function_callback, context: *mut c_void) -> bool;
    #[cfg(not(feature = "pg15"))]
    fn expression_tree_walker_impl(node: *mut Node, walker: Walker, context: *mut c_void) -> bool;
    fn lappend(list: *mut List, pointer: *mut c_void) -> *mut List;
    fn exprType(node: *const Node) -> Oid;
    fn makeConst(
        typid: Oid,
        typmod: i32,
        collation: Oid,
        length: c_int,
        value: Datum,
        is_null: bool,
        by_value: bool,
    ) -> *mut Const;
    fn makeFuncExpr(
        function: Oid,
        result: Oid,
        arguments: *mut List,
        collation: Oid,
        input_collation: Oid,
        form: CoercionForm::Type,
    ) -> *mut FuncExpr;
    fn make_opclause(
        operator: Oid,
        result: Oid,
        returns_set: bool,
        left: *mut Expr,
        right: *mut Expr,
        collation: Oid,
        input_collation: Oid,
    ) -> *mut Expr;
    fn set_opfuncid(clause: *mut OpExpr);
    fn makeBoolExpr(kind: BoolExprType::Type, arguments: *mut List, location: c_int) -> *mut Expr;

    // The planner
    fn record_plan_function_dependency(root: *mut PlannerInfo, function: Oid);
    fn eval_const_expressions(root: *mut PlannerInfo, node: *mut Node) -> *mut Node;
    fn contain_subplans(node: *mut Node) -> bool;
    fn contain_mutable_functions(node: *mut Node) -> bool;
    fn cost_qual_eval_node(cost: *mut QualCost, node: *mut Node, root: *mut PlannerInfo);
    fn is_pseudo_constant_for_index(
        root: *mut PlannerInfo,
        node: *mut Node,
        index: *mut IndexOptInfo,
    ) -> bool;
    fn get_restriction_variable(
        root: *mut PlannerInfo,
        arguments: *mut List,
        relation: c_int,
        variable: *mut VariableStatData,
        other: *mut *mut Node,
        variable_is_left: *mut bool,
    ) -> bool;
    fn statistic_proc_security_check(variable: *mut VariableStatData, function: Oid) -> bool;
    fn get_attstatsslot(
        slot: *mut AttStatsSlot,
        tuple: HeapTuple,
        kind: c_int,
        operator: Oid,
        flags: c_int,
    ) -> bool;
    fn free_attstatsslot(slot: *mut AttStatsSlot);
}

/// The elements of a list. The server has this only as inline functions.
///
/// # Safety
/// The list is a valid one, or null for the empty list, and does not change while they are used.
pub(super) unsafe fn elements<'list>(list: *const List) -> &'list [ListCell] {
    if list.is_null() {
        return &[];
    }
    // SAFETY: a list that is not null has as many elements as its length says.
    unsafe { std::slice::from_raw_parts((*list).elements, (*list).length as usize) }
}
