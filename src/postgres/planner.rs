//! What the planner learns about windows of time, `ulid <@ tstzrange`, and about `ulid_starts_with`: bounds for an
//! index ([`index_condition`]), plain comparisons if they allow a partitioned table to be pruned ([`simplify`]), and an
//! estimate of the rows ([`selectivity`]).
//!
//! This runs inside other people's queries. Every part of it follows these rules:
//! - A node appears in only one place of a tree, because the planner changes trees in place. What is used again is
//!   copied.
//! - What is evaluated twice is stable and contains no sub-select; what is evaluated for each row is cheap as well.
//! - The type of an argument is checked before its value is read: any operator can name an estimator.
//! - An operator of another family is used only if it is ours.
//! - Every function of the server is called without a wrapper ([`super::server`]), and nothing here has anything to
//!   drop.
#![allow(unsafe_code)]

mod index_condition;
mod selectivity;
mod simplify;

use std::ffi::{CStr, c_int, c_void};

use pgrx::pg_sys::{self, Const, Datum, List, Node, NodeTag, Oid, OpExpr};

use super::datum::{Internal, TextArg};
use super::frame::{Argument, Returned};
use super::range::range_window;
use super::server;
use crate::value::Ulid;
use crate::window::Window;

/// The planner support function of `ulid <@ tstzrange` and its commutator.
pub(super) fn window_support(request: Internal) -> Internal {
    support(request, &WINDOW)
}

/// The planner support function of `ulid_starts_with`.
pub(super) fn starts_with_support(request: Internal) -> Internal {
    support(request, &STARTS_WITH)
}

fn support(request: Internal, predicate: &'static Predicate) -> Internal {
    // SAFETY: PostgreSQL calls a support function with a node that says of what kind it is.
    let answer = unsafe {
        match (*request.0.cast::<Node>()).type_ {
            NodeTag::T_SupportRequestIndexCondition => {
                index_condition::answer(&mut *request.0.cast(), predicate)
            }
            NodeTag::T_SupportRequestSimplify => simplify::answer(&*request.0.cast(), predicate),
            NodeTag::T_SupportRequestSelectivity => selectivity::answer(&mut *request.0.cast(), predicate),
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
    /// The names of the functions that compute the bounds from such an argument, in the schema of the predicate.
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
            if server::list_length(arguments) != 2 {
                return None;
            }
            let [first, second] = [0, 1].map(|n| server::list_nth::<Node>(arguments, n));
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

    /// `ulid >= lower` and `ulid <= upper`, all of whose nodes are new. `None` if a family has operators other than
    /// ours, if the user may not execute what the comparisons call, or if the predicate raises an error for the
    /// argument.
    ///
    /// # Safety
    /// The call is one that the planner holds.
    unsafe fn comparisons(&self, family: Oid) -> Option<*mut List> {
        // SAFETY: promised by the caller. Each list is new, and each node in it.
        unsafe {
            let kind = server::exprType(self.ulid);
            let bounds = match self.predicate.constant(self.argument) {
                Some(value) => {
                    let window = (self.predicate.bounds)(value)?;
                    [window.lower(), window.upper()].map(|bound| constant_node(kind, bound))
                }
                None => [self.bound_call(self.predicate.lower)?, self.bound_call(self.predicate.upper)?],
            };
            if !server::may_execute(self.function) {
                return None;
            }
            let mut list = std::ptr::null_mut();
            for (operator, bound) in comparison_operators(kind, family)?.into_iter().zip(bounds) {
                let ulid = server::copy(self.ulid).cast();
                let comparison = server::make_opclause(
                    operator,
                    pg_sys::BOOLOID,
                    false,
                    ulid,
                    bound.cast(),
                    Oid::INVALID,
                    Oid::INVALID,
                );
                server::set_opfuncid(comparison.cast::<OpExpr>());
                list = server::lappend(list, comparison.cast());
            }
            Some(list)
        }
    }

    /// A call of the function of this name, which computes a bound from the argument.
    ///
    /// # Safety
    /// The call is one that the planner holds.
    unsafe fn bound_call(&self, name: &CStr) -> Option<*mut Node> {
        // The column oid of pg_proc.
        const OID: i16 = 1;
        // SAFETY: promised by the caller; the keys are of the types of that cache.
        unsafe {
            let types = server::buildoidvector(&self.predicate.argument, 1);
            let schema = server::get_func_namespace(self.function);
            let function = server::GetSysCacheOid(
                pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as c_int,
                OID,
                Datum::from(name.as_ptr()),
                Datum::from(types),
                Datum::from(schema),
                Datum::null(),
            );
            let kind = server::exprType(self.ulid);
            if function == Oid::INVALID
                || server::get_func_rettype(function) != kind
                || !server::may_execute(function)
            {
                return None;
            }
            let arguments = server::lappend(std::ptr::null_mut(), server::copy(self.argument).cast());
            let form = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
            let call = server::makeFuncExpr(function, kind, arguments, Oid::INVALID, Oid::INVALID, form);
            Some(call.cast())
        }
    }
}

/// # Safety
/// The type is one of 16 bytes, passed by reference.
unsafe fn constant_node(kind: Oid, value: Ulid) -> *mut Node {
    let length = size_of::<Ulid>() as c_int;
    // SAFETY: promised by the caller.
    unsafe { server::makeConst(kind, -1, Oid::INVALID, length, value.into_datum(), false, false).cast() }
}

/// `>=` and `<=` of a type, if an operator family has them as its strategies with those names.
///
/// A strategy number says nothing about the operator that another family has for it, so it must be the operator of the
/// type's own btree class. BRIN's families have the same strategies.
///
/// # Safety
/// Called within a transaction.
unsafe fn comparison_operators(kind: Oid, family: Oid) -> Option<[Oid; 2]> {
    const LESS_EQUAL: i16 = 2;
    const GREATER_EQUAL: i16 = 4;
    let own = default_family(kind)?;
    let [ge, le] = [GREATER_EQUAL, LESS_EQUAL].map(|strategy| {
        // SAFETY: promised by the caller.
        let [ours, theirs] =
            [own, family].map(|family| unsafe { server::get_opfamily_member(family, kind, kind, strategy) });
        (ours != Oid::INVALID && ours == theirs).then_some(ours)
    });
    Some([ge?, le?])
}

/// The btree operator family that defines the order of a type.
fn default_family(kind: Oid) -> Option<Oid> {
    // SAFETY: a planner's hook runs within a transaction.
    unsafe {
        let opclass = server::GetDefaultOpClass(kind, pg_sys::BTREE_AM_OID);
        (opclass != Oid::INVALID).then(|| server::get_opclass_family(opclass))
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

/// The answer of a support function: a node, or the request itself.
type Answer = Option<*mut c_void>;
