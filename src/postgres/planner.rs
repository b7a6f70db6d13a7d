//! What the planner learns about windows of time, `ulid <@ tstzrange`, and about `ulid_starts_with`: bounds for an
//! index ([`index_condition`]), plain comparisons if they allow a partitioned table to be pruned ([`simplify`]), and an
//! estimate of the rows ([`selectivity`]).
//!
//! The index and the partitions may also be those of a uuid column, of which the planner sees a relabelling as ulid: both
//! types have the same bytes in the same order. [`comparison`] does the same for `=`, `<`, `<=`, `>=` and `>` between a
//! uuid column and a ulid.
//!
//! This runs inside other people's queries. Every part of it follows these rules:
//! - A node appears in only one place of a tree, because the planner changes trees in place. What is used again is
//!   copied.
//! - What is evaluated twice is stable and contains no sub-select; what is evaluated for each row is cheap as well. A
//!   list of what is allowed decides, in one walk.
//! - Where an index, statistics or a partition key of the table calls the predicate, it stays as it is: these are found
//!   by equality.
//! - The type of an argument is checked before its value is read: any operator can name an estimator.
//! - An operator of another family is used only if it is ours or core's.
//! - What a query calls in place of what was written, its role may call, and its plan is for that role alone.
//! - Every function of the server is called without a wrapper ([`super::server`]). Nothing here has anything to drop or
//!   catches anything.
#![allow(unsafe_code)]

mod comparison;
mod index_condition;
mod selectivity;
mod simplify;

use std::ffi::{CStr, c_int, c_void};

use pgrx::pg_sys::{
    self, Const, Datum, HeapTuple, List, Node, NodeTag, Oid, OpExpr, PlannerInfo,
    SupportRequestIndexCondition, SysCacheIdentifier,
};

use super::datum::{Internal, TextArg};
use super::frame::{Argument, Returned};
use super::range::range_window;
use super::server;
use crate::value::Ulid;
use crate::window::Window;

/// The planner support function of `ulid <@ tstzrange` and its commutator.
pub(super) fn window_support(request: Internal) -> Internal {
    support(request, Some(&WINDOW))
}

/// The planner support function of `ulid_starts_with`.
pub(super) fn starts_with_support(request: Internal) -> Internal {
    support(request, Some(&STARTS_WITH))
}

/// The planner support function of `ulid_eq`, `ulid_lt`, `ulid_le`, `ulid_ge` and `ulid_gt`.
pub(super) fn comparison_support(request: Internal) -> Internal {
    support(request, None)
}

/// Answers a request about a predicate, or, without one, about a comparison.
fn support(request: Internal, predicate: Option<&'static Predicate>) -> Internal {
    use NodeTag::{T_SupportRequestIndexCondition, T_SupportRequestSelectivity, T_SupportRequestSimplify};

    let request = request.0;
    // SAFETY: PostgreSQL calls a support function with a node that says of what kind it is.
    let answer = unsafe {
        match ((*request.cast::<Node>()).type_, predicate) {
            (T_SupportRequestIndexCondition, None) => comparison::answer(&mut *request.cast()),
            (T_SupportRequestIndexCondition, Some(predicate)) => {
                index_condition::answer(&mut *request.cast(), predicate)
            }
            (T_SupportRequestSimplify, Some(predicate)) => simplify::answer(&*request.cast(), predicate),
            (T_SupportRequestSelectivity, Some(predicate)) => {
                selectivity::answer(&mut *request.cast(), predicate)
            }
            _ => None,
        }
    };
    Internal(answer.unwrap_or(std::ptr::null_mut()))
}

/// The estimator of `ulid <@ tstzrange` and its commutator: the fraction of the rows, 0 to 1, that is in the window.
pub(super) fn window_selectivity(root: Internal, operator: Oid, arguments: Internal, relation: i32) -> f64 {
    // SAFETY: the arguments are those of every restriction estimator.
    unsafe {
        let function = server::get_opcode(operator);
        selectivity::of_restriction(root.0.cast(), function, arguments.0.cast(), relation, &WINDOW)
    }
}

/// A predicate that is true for the ulids between two bounds.
struct Predicate {
    /// The type of the argument that determines the bounds.
    argument: Oid,
    /// The functions that compute the bounds from such an argument: their names, which are those of their C symbols
    /// too, in the schema of the predicate.
    lower: &'static CStr,
    upper: &'static CStr,
    /// The bounds for a value of that type that is not null. `None` if the predicate raises an error for it; that is
    /// left to whoever evaluates the predicate.
    bounds: unsafe fn(Datum) -> Option<Window>,
}

/// `ulid <@ tstzrange`
static WINDOW: Predicate = Predicate {
    argument: pg_sys::TSTZRANGEOID,
    lower: c"ulid_range_lower",
    upper: c"ulid_range_upper",
    // SAFETY: the datum is a tstzrange, and planning drops nothing.
    bounds: |datum| Some(unsafe { range_window(datum) }),
};

/// `ulid_starts_with(ulid, text)`
static STARTS_WITH: Predicate = Predicate {
    argument: pg_sys::TEXTOID,
    lower: c"ulid_prefix_lower",
    upper: c"ulid_prefix_upper",
    // SAFETY: the datum is a text, and planning drops nothing.
    bounds: |datum| Window::starting_with(unsafe { TextArg::from_datum(datum) }.0).ok(),
};

impl Predicate {
    /// Whether an expression is of the type of the argument, or of a domain over it.
    ///
    /// # Safety
    /// The node comes from the planner.
    unsafe fn takes(&self, expression: *mut Node) -> bool {
        // SAFETY: promised by the caller.
        unsafe { server::getBaseType(server::exprType(expression)) == self.argument }
    }

    /// The value of an argument, if it is a constant of the right type that is not null.
    ///
    /// # Safety
    /// The node comes from the planner.
    unsafe fn constant(&self, argument: *mut Node) -> Option<Datum> {
        // SAFETY: promised by the caller.
        unsafe {
            if (*argument).type_ != NodeTag::T_Const || !self.takes(argument) {
                return None;
            }
            let constant = &*argument.cast::<Const>();
            (!constant.constisnull).then_some(constant.constvalue)
        }
    }
}

/// A call of a predicate, as a function or through an operator.
struct Call {
    predicate: &'static Predicate,
    function: Oid,
    /// The index of the ulid among the arguments, from 0.
    ulid_index: c_int,
    ulid: *mut Node,
    argument: *mut Node,
}

impl Call {
    /// The call with these arguments; `None` if they are not of the predicate's types.
    ///
    /// # Safety
    /// The list is that of a call that the planner holds.
    unsafe fn of(predicate: &'static Predicate, function: Oid, arguments: *mut List) -> Option<Self> {
        // SAFETY: promised by the caller.
        unsafe {
            let &[first, second] = server::elements(arguments) else { return None };
            let (first, second) = (first.ptr_value.cast::<Node>(), second.ptr_value.cast::<Node>());
            let (ulid_index, ulid, argument) = match (predicate.takes(first), predicate.takes(second)) {
                (false, true) => (0, first, second),
                (true, false) => (1, second, first),
                _ => return None,
            };
            if !has_sixteen_bytes(server::exprType(ulid)) {
                return None;
            }
            // A range is relabelled as the domain that the operators take.
            let argument = match (*argument).type_ {
                NodeTag::T_RelabelType => {
                    let inner = (*argument.cast::<pg_sys::RelabelType>()).arg.cast();
                    if predicate.takes(inner) { inner } else { argument }
                }
                _ => argument,
            };
            Some(Self { predicate, function, ulid_index, ulid, argument })
        }
    }

    /// `ulid >= lower` and `ulid <= upper`, all of whose nodes are new, by the operators of a family: those of ulid, or
    /// core's of uuid. `None` if the family has neither, if the user may not execute what the comparisons call, or if
    /// the predicate raises an error for the argument.
    ///
    /// # Safety
    /// The call is one that the planner holds, for a query with this root.
    unsafe fn comparisons(&self, root: *mut PlannerInfo, family: Oid) -> Option<*mut List> {
        // SAFETY: promised by the caller. The list is new, and each node in it.
        unsafe {
            let ulid = server::exprType(self.ulid);
            let order = Order::of(ulid, family).or_else(|| Order::of(pg_sys::UUIDOID, family))?;
            let (lower, upper) = match self.predicate.constant(self.argument) {
                Some(value) => {
                    let window = (self.predicate.bounds)(value)?;
                    (constant_node(order.kind, window.lower()), constant_node(order.kind, window.upper()))
                }
                None => (
                    self.bound_call(root, self.predicate.lower, order.kind)?,
                    self.bound_call(root, self.predicate.upper, order.kind)?,
                ),
            };
            if !may_execute(root, self.function)
                || !may_execute(root, server::get_opcode(order.greater_equal))
                || !may_execute(root, server::get_opcode(order.less_equal))
            {
                return None;
            }
            let ulid = relabelled(server::copy(self.ulid), order.kind);
            let lower = comparison(order.greater_equal, ulid, lower);
            let ulid = relabelled(server::copy(self.ulid), order.kind);
            let upper = comparison(order.less_equal, ulid, upper);
            Some(server::lappend(server::lappend(std::ptr::null_mut(), lower.cast()), upper.cast()))
        }
    }

    /// A call of the function that computes a bound from the argument, as the type `kind`. `None` if there is something
    /// else under its name, or the user may not execute it.
    ///
    /// # Safety
    /// As for `comparisons`.
    unsafe fn bound_call(&self, root: *mut PlannerInfo, name: &CStr, kind: Oid) -> Option<*mut Node> {
        // SAFETY: promised by the caller.
        unsafe {
            let result = server::exprType(self.ulid);
            let function = self.bound_function(name, result)?;
            if !may_execute(root, function) {
                return None;
            }
            let arguments = server::lappend(std::ptr::null_mut(), server::copy(self.argument).cast());
            let form = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
            let call = server::makeFuncExpr(function, result, arguments, Oid::INVALID, Oid::INVALID, form);
            Some(relabelled(call.cast(), kind))
        }
    }

    /// The function of this name in the schema of the predicate, if a call of it runs our symbol in the predicate's own
    /// library, and nothing before or after it.
    ///
    /// # Safety
    /// As for `comparisons`.
    unsafe fn bound_function(&self, name: &CStr, result: Oid) -> Option<Oid> {
        let by_signature = SysCacheIdentifier::PROCNAMEARGSNSP as c_int;
        let by_oid = SysCacheIdentifier::PROCOID as c_int;
        // SAFETY: promised by the caller; the keys are of the types of these caches, and the attributes read as texts
        // are texts.
        unsafe {
            let types = server::buildoidvector(&self.predicate.argument, 1);
            let schema = server::get_func_namespace(self.function);
            let (name_key, types) = (Datum::from(name.as_ptr()), Datum::from(types));
            let tuple = server::SearchSysCache3(by_signature, name_key, types, Datum::from(schema));
            if tuple.is_null() {
                return None;
            }
            let predicate = server::SearchSysCache1(by_oid, Datum::from(self.function));
            let text =
                |tuple, number| attribute(by_oid, tuple, number).map(|datum| TextArg::from_datum(datum).0);
            let function = &*form::<pg_sys::FormData_pg_proc>(tuple);
            let is_ours = function.prolang == Oid::from(pg_sys::ClanguageId)
                && function.prorettype == result
                && !function.prosecdef
                && attribute(by_oid, tuple, pg_sys::Anum_pg_proc_proconfig).is_none()
                && text(tuple, pg_sys::Anum_pg_proc_prosrc) == Some(name.to_bytes())
                && text(tuple, pg_sys::Anum_pg_proc_probin) == text(predicate, pg_sys::Anum_pg_proc_probin);
            let function = function.oid;
            server::ReleaseSysCache(predicate);
            server::ReleaseSysCache(tuple);
            is_ours.then_some(function)
        }
    }
}

/// The type in which values are compared, and its operators.
struct Order {
    kind: Oid,
    greater_equal: Oid,
    less_equal: Oid,
}

impl Order {
    /// The order of a type, if its operators belong to a family.
    ///
    /// They are those of the type's own btree class. What a family that somebody else made has as its strategies says
    /// nothing.
    ///
    /// # Safety
    /// The type exists.
    unsafe fn of(kind: Oid, family: Oid) -> Option<Self> {
        // SAFETY: promised by the caller.
        unsafe {
            let own = default_family(kind)?;
            Some(Self {
                kind,
                greater_equal: operator(own, kind, GREATER_EQUAL, family)?,
                less_equal: operator(own, kind, LESS_EQUAL, family)?,
            })
        }
    }
}

// The strategies of btree.
const LESS_EQUAL: i16 = 2;
const GREATER_EQUAL: i16 = 4;

/// The operator that is a strategy of a type's own btree family, if it belongs to another family, too.
///
/// # Safety
/// Called within a transaction.
unsafe fn operator(own: Oid, kind: Oid, strategy: i16, family: Oid) -> Option<Oid> {
    // SAFETY: promised by the caller.
    unsafe {
        let operator = server::get_opfamily_member(own, kind, kind, strategy);
        (operator != Oid::INVALID && server::op_in_opfamily(operator, family)).then_some(operator)
    }
}

/// The btree operator family that defines the order of a type.
///
/// # Safety
/// The type exists.
unsafe fn default_family(kind: Oid) -> Option<Oid> {
    // SAFETY: promised by the caller. An entry is never freed.
    let family =
        unsafe { (*server::lookup_type_cache(kind, pg_sys::TYPECACHE_BTREE_OPFAMILY as c_int)).btree_opf };
    (family != Oid::INVALID).then_some(family)
}

/// A comparison of two nodes, which become part of it.
///
/// # Safety
/// The operator takes their types.
unsafe fn comparison(operator: Oid, left: *mut Node, right: *mut Node) -> *mut Node {
    // SAFETY: promised by the caller.
    unsafe {
        let (left, right) = (left.cast(), right.cast());
        let comparison =
            server::make_opclause(operator, pg_sys::BOOLOID, false, left, right, Oid::INVALID, Oid::INVALID);
        server::set_opfuncid(comparison.cast::<OpExpr>());
        comparison.cast()
    }
}

/// An expression as another type with the same bytes: itself, changed in place, or a relabelling of it. A ulid becomes a
/// uuid by an explicit cast, which postgres_fdw sends to another server: there is no implicit one.
///
/// # Safety
/// The node is a new one, and its type and `kind` are ulid, uuid or domains over them.
unsafe fn relabelled(node: *mut Node, kind: Oid) -> *mut Node {
    // SAFETY: promised by the caller.
    unsafe {
        let form = if server::getBaseType(server::exprType(node)) == kind {
            pg_sys::CoercionForm::COERCE_IMPLICIT_CAST
        } else {
            pg_sys::CoercionForm::COERCE_EXPLICIT_CAST
        };
        server::applyRelabelType(node, kind, -1, Oid::INVALID, form, -1, true)
    }
}

/// # Safety
/// The type is one of 16 bytes, passed by reference.
unsafe fn constant_node(kind: Oid, value: Ulid) -> *mut Node {
    let length = size_of::<Ulid>() as c_int;
    // SAFETY: promised by the caller.
    unsafe { server::makeConst(kind, -1, Oid::INVALID, length, value.into_datum(), false, false).cast() }
}

/// Whether the current user may execute a function. If not everybody may, a plan that is made with this answer is for
/// this user alone.
///
/// # Safety
/// The function exists, and the root is that of the query that is being planned.
unsafe fn may_execute(root: *mut PlannerInfo, function: Oid) -> bool {
    // SAFETY: promised by the caller; a function that does not exist is an ERROR.
    unsafe {
        let may = |role| {
            #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
            let result = server::pg_proc_aclcheck(function, role, pg_sys::ACL_EXECUTE);
            #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
            let result = server::object_aclcheck(
                pg_sys::ProcedureRelationId,
                function,
                role,
                pg_sys::ACL_EXECUTE.into(),
            );
            result == pg_sys::AclResult::ACLCHECK_OK
        };
        if !may(server::GetUserId()) {
            return false;
        }
        // What everybody may do is what the role zero may, in has_function_privilege() too.
        if !may(Oid::INVALID) {
            (*(*root).glob).dependsOnRole = true;
        }
        true
    }
}

/// An attribute of a tuple that a system cache has found; `None` if it is null.
///
/// # Safety
/// The tuple is of this cache, and the number is one of the `Anum_` constants of its catalogue.
unsafe fn attribute(cache: c_int, tuple: HeapTuple, number: u32) -> Option<Datum> {
    let mut is_null = false;
    // SAFETY: promised by the caller.
    let datum = unsafe { server::SysCacheGetAttr(cache, tuple, number as i16, &mut is_null) };
    (!is_null).then_some(datum)
}

/// The attributes of a tuple of a catalogue that are never null and of fixed length.
///
/// # Safety
/// The tuple is of the catalogue of this structure.
unsafe fn form<T>(tuple: HeapTuple) -> *const T {
    // SAFETY: promised by the caller; the attributes begin behind the header, whose length stands in it.
    unsafe {
        let header = (*tuple).t_data;
        header.cast::<u8>().add((*header).t_hoff.into()).cast()
    }
}

/// Whether values of a type can be read as ulids: 16 bytes, passed by reference.
///
/// # Safety
/// The type exists.
unsafe fn has_sixteen_bytes(kind: Oid) -> bool {
    let (mut length, mut by_value) = (0, true);
    // SAFETY: promised by the caller.
    unsafe { server::get_typlenbyval(kind, &mut length, &mut by_value) };
    usize::try_from(length) == Ok(size_of::<Ulid>()) && !by_value
}

/// The arguments of a call, as a function or through an operator.
///
/// # Safety
/// The node is a valid one.
unsafe fn arguments(node: *mut Node) -> Option<*mut List> {
    // SAFETY: promised by the caller; a node says of what kind it is.
    unsafe {
        match (*node).type_ {
            NodeTag::T_OpExpr => Some((*node.cast::<OpExpr>()).args),
            NodeTag::T_FuncExpr => Some((*node.cast::<pg_sys::FuncExpr>()).args),
            _ => None,
        }
    }
}

/// Whether an expression is the same for all rows of one scan of the index.
///
/// # Safety
/// The node and the request come from the planner.
unsafe fn is_constant_in_scan(request: &SupportRequestIndexCondition, node: *mut Node) -> bool {
    // SAFETY: promised by the caller.
    unsafe {
        #[cfg(feature = "pg13")]
        return server::is_pseudo_constant_for_index(node, request.index);
        #[cfg(not(feature = "pg13"))]
        return server::is_pseudo_constant_for_index(request.root, node, request.index);
    }
}

/// The answer of a support function: a node, or the request itself.
type Answer = Option<*mut c_void>;
