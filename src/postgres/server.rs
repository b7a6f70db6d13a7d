//! The server's own functions, declared without wrappers.
//!
//! pgrx's bindings wrap each function in a `sigsetjmp`, turn an ERROR into a Rust panic and raise it again. SQLSTATE,
//! context and constraint are lost on the way, and bytes that are not UTF-8 are replaced. So every function that can
//! report an error is declared here, and its error passes as PostgreSQL's `longjmp`. The rule for callers: no frame
//! from here up to PostgreSQL has anything to drop while such a function runs.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};

use pgrx::pg_sys::{
    AttStatsSlot, BoolExprType, CoercionForm, Const, Datum, Expr, FuncExpr, FunctionCallInfo, HeapTuple,
    HeapTupleData, IndexOptInfo, List, MemoryContext, Node, Oid, OpExpr, PGFunction, PlannerInfo, QualCost,
    RangeBound, RangeType, Relation, TupleDesc, TypeCacheEntry, VariableStatData, oidvector, varlena,
};
#[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15", feature = "pg16"))]
use pgrx::pg_sys::{LWLock, LWLockMode};

unsafe extern "C-unwind" {
    // Error reports
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
    pub(super) fn errstart(level: c_int, domain: *const c_char) -> bool;
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
    pub(super) fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
    #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
    pub(super) fn errsave_start(context: *mut Node, domain: *const c_char) -> bool;
    #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
    pub(super) fn errsave_finish(
        context: *mut Node,
        file: *const c_char,
        line: c_int,
        function: *const c_char,
    );
    pub(super) fn errcode(sqlstate: c_int) -> c_int;
    pub(super) fn errmsg(format: *const c_char, ...) -> c_int;
    pub(super) fn errdetail(format: *const c_char, ...) -> c_int;
    pub(super) fn errhint(format: *const c_char, ...) -> c_int;
    pub(super) fn pg_encoding_mblen(encoding: c_int, character: *const c_char) -> c_int;
    pub(super) fn GetDatabaseEncoding() -> c_int;

    // Memory and datums
    pub(super) fn palloc(size: usize) -> *mut c_void;
    pub(super) fn MemoryContextAlloc(context: MemoryContext, size: usize) -> *mut c_void;
    pub(super) fn pg_detoast_datum(datum: *mut varlena) -> *mut varlena;
    pub(super) fn pg_detoast_datum_packed(datum: *mut varlena) -> *mut varlena;
    pub(super) fn text_to_cstring(text: *const varlena) -> *mut c_char;
    pub(super) fn lookup_type_cache(kind: Oid, flags: c_int) -> *mut TypeCacheEntry;
    pub(super) fn range_deserialize(
        cache: *mut TypeCacheEntry,
        range: *const RangeType,
        lower: *mut RangeBound,
        upper: *mut RangeBound,
        is_empty: *mut bool,
    );
    pub(super) fn CreateTemplateTupleDesc(columns: c_int) -> TupleDesc;
    pub(super) fn TupleDescInitEntry(
        descriptor: TupleDesc,
        number: i16,
        name: *const c_char,
        kind: Oid,
        typmod: i32,
        dimensions: c_int,
    );
    #[cfg(feature = "pg19")]
    pub(super) fn TupleDescFinalize(descriptor: TupleDesc);
    pub(super) fn BlessTupleDesc(descriptor: TupleDesc) -> TupleDesc;
    pub(super) fn heap_form_tuple(
        descriptor: TupleDesc,
        values: *mut Datum,
        nulls: *mut bool,
    ) -> *mut HeapTupleData;

    // Functions of core with the SQL calling convention
    pub(super) fn DirectFunctionCall1Coll(function: PGFunction, collation: Oid, argument: Datum) -> Datum;
    pub(super) fn timestamp_timestamptz(fcinfo: FunctionCallInfo) -> Datum;
    pub(super) fn timestamptz_timestamp(fcinfo: FunctionCallInfo) -> Datum;

    // Shared memory
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15", feature = "pg16"))]
    pub(super) fn LWLockAcquire(lock: *mut LWLock, mode: LWLockMode::Type) -> bool;
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15", feature = "pg16"))]
    pub(super) fn LWLockRelease(lock: *mut LWLock);
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15", feature = "pg16"))]
    pub(super) fn ShmemInitStruct(name: *const c_char, size: usize, found: *mut bool) -> *mut c_void;
    #[cfg(all(
        feature = "pg_test",
        any(feature = "pg13", feature = "pg14", feature = "pg15", feature = "pg16")
    ))]
    pub(super) fn ShmemAllocNoError(size: usize) -> *mut c_void;
    #[cfg(any(feature = "pg17", feature = "pg18"))]
    pub(super) fn GetNamedDSMSegment(
        name: *const c_char,
        size: usize,
        initialize: Option<unsafe extern "C-unwind" fn(segment: *mut c_void)>,
        found: *mut bool,
    ) -> *mut c_void;
    #[cfg(feature = "pg19")]
    pub(super) fn GetNamedDSMSegment(
        name: *const c_char,
        size: usize,
        initialize: Option<unsafe extern "C-unwind" fn(segment: *mut c_void, argument: *mut c_void)>,
        found: *mut bool,
        argument: *mut c_void,
    ) -> *mut c_void;

    // Catalogs
    pub(super) fn SearchSysCache1(cache: c_int, key: Datum) -> HeapTuple;
    pub(super) fn SysCacheGetAttr(
        cache: c_int,
        tuple: HeapTuple,
        attribute: i16,
        is_null: *mut bool,
    ) -> Datum;
    pub(super) fn ReleaseSysCache(tuple: HeapTuple);
    pub(super) fn GetSysCacheOid(
        cache: c_int,
        column: i16,
        key1: Datum,
        key2: Datum,
        key3: Datum,
        key4: Datum,
    ) -> Oid;
    pub(super) fn buildoidvector(oids: *const Oid, n: c_int) -> *mut oidvector;
    pub(super) fn getBaseType(kind: Oid) -> Oid;
    pub(super) fn get_typlenbyval(kind: Oid, length: *mut i16, by_value: *mut bool);
    pub(super) fn get_func_namespace(function: Oid) -> Oid;
    pub(super) fn get_func_rettype(function: Oid) -> Oid;
    pub(super) fn get_opcode(operator: Oid) -> Oid;
    pub(super) fn get_opclass_family(opclass: Oid) -> Oid;
    pub(super) fn get_opfamily_member(family: Oid, left: Oid, right: Oid, strategy: i16) -> Oid;
    pub(super) fn GetDefaultOpClass(kind: Oid, access_method: Oid) -> Oid;
    pub(super) fn GetUserId() -> Oid;
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
    pub(super) fn pg_proc_aclcheck(function: Oid, role: Oid, mode: u32) -> u32;
    #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
    pub(super) fn object_aclcheck(class: Oid, object: Oid, role: Oid, mode: u64) -> u32;

    // Relations
    pub(super) fn table_open(relation: Oid, lock: c_int) -> Relation;
    pub(super) fn table_close(relation: Relation, lock: c_int);
    pub(super) fn index_open(relation: Oid, lock: c_int) -> Relation;
    pub(super) fn index_close(relation: Relation, lock: c_int);
    pub(super) fn RelationGetIndexList(relation: Relation) -> *mut List;
    pub(super) fn RelationGetIndexPredicate(index: Relation) -> *mut List;
    pub(super) fn RelationGetIndexExpressions(index: Relation) -> *mut List;

    // Nodes
    pub(super) fn copyObjectImpl(node: *const c_void) -> *mut c_void;
    pub(super) fn equal(a: *const c_void, b: *const c_void) -> bool;
    pub(super) fn lappend(list: *mut List, pointer: *mut c_void) -> *mut List;
    pub(super) fn exprType(node: *const Node) -> Oid;
    pub(super) fn makeConst(
        kind: Oid,
        typmod: i32,
        collation: Oid,
        length: c_int,
        value: Datum,
        is_null: bool,
        by_value: bool,
    ) -> *mut Const;
    pub(super) fn makeFuncExpr(
        function: Oid,
        result: Oid,
        arguments: *mut List,
        collation: Oid,
        input_collation: Oid,
        form: CoercionForm::Type,
    ) -> *mut FuncExpr;
    pub(super) fn make_opclause(
        operator: Oid,
        result: Oid,
        returns_set: bool,
        left: *mut Expr,
        right: *mut Expr,
        collation: Oid,
        input_collation: Oid,
    ) -> *mut Expr;
    pub(super) fn set_opfuncid(clause: *mut OpExpr);
    pub(super) fn makeBoolExpr(kind: BoolExprType::Type, arguments: *mut List, location: c_int) -> *mut Expr;

    // The planner
    pub(super) fn contain_var_clause(node: *mut Node) -> bool;
    pub(super) fn contain_agg_clause(node: *mut Node) -> bool;
    pub(super) fn contain_window_function(node: *mut Node) -> bool;
    pub(super) fn contain_volatile_functions(node: *mut Node) -> bool;
    pub(super) fn contain_subplans(node: *mut Node) -> bool;
    pub(super) fn expression_returns_set(node: *mut Node) -> bool;
    pub(super) fn cost_qual_eval_node(cost: *mut QualCost, node: *mut Node, root: *mut PlannerInfo);
    #[cfg(feature = "pg13")]
    pub(super) fn is_pseudo_constant_for_index(node: *mut Node, index: *mut IndexOptInfo) -> bool;
    #[cfg(not(feature = "pg13"))]
    pub(super) fn is_pseudo_constant_for_index(
        root: *mut PlannerInfo,
        node: *mut Node,
        index: *mut IndexOptInfo,
    ) -> bool;
    pub(super) fn get_restriction_variable(
        root: *mut PlannerInfo,
        arguments: *mut List,
        relation: c_int,
        variable: *mut VariableStatData,
        other: *mut *mut Node,
        variable_is_left: *mut bool,
    ) -> bool;
    pub(super) fn statistic_proc_security_check(variable: *mut VariableStatData, function: Oid) -> bool;
    pub(super) fn get_attstatsslot(
        slot: *mut AttStatsSlot,
        tuple: HeapTuple,
        kind: c_int,
        operator: Oid,
        flags: c_int,
    ) -> bool;
    pub(super) fn free_attstatsslot(slot: *mut AttStatsSlot);
}

/// The number of elements of a list. The server has this only as an inline function.
///
/// # Safety
/// The list is a valid one, or null for the empty list.
pub(super) unsafe fn list_length(list: *const List) -> usize {
    // SAFETY: promised by the caller.
    if list.is_null() { 0 } else { unsafe { (*list).length as usize } }
}

/// The element at this index, from 0, of a list of pointers.
///
/// # Safety
/// The list holds pointers, more than `n` of them.
pub(super) unsafe fn list_nth<T>(list: *const List, n: usize) -> *mut T {
    // SAFETY: promised by the caller.
    unsafe { (*(*list).elements.add(n)).ptr_value.cast() }
}

/// A copy of a node and everything below it.
///
/// # Safety
/// The node is a valid one.
pub(super) unsafe fn copy<T>(node: *const T) -> *mut T {
    // SAFETY: promised by the caller.
    unsafe { copyObjectImpl(node.cast()).cast() }
}

/// Whether the current user may execute a function.
///
/// # Safety
/// Called within a transaction.
pub(super) unsafe fn may_execute(function: Oid) -> bool {
    let mode = pgrx::pg_sys::ACL_EXECUTE;
    // SAFETY: promised by the caller; a function that does not exist is an ERROR.
    unsafe {
        #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
        let result = pg_proc_aclcheck(function, GetUserId(), mode);
        #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
        let result = object_aclcheck(pgrx::pg_sys::ProcedureRelationId, function, GetUserId(), mode.into());
        result == pgrx::pg_sys::AclResult::ACLCHECK_OK
    }
}
