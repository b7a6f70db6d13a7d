//! Planner support for `ulid <@ tstzrange` and for `ulid_starts_with`: bounds for an index
//! ([`index_condition`]), comparisons that allow partition pruning ([`simplify`]), and an estimate
//! of the rows ([`selectivity`]).
//!
//! The index and the partitions may also be those of a uuid column, of which the planner sees a
//! RelabelType to ulid. Both types have the same bytes in the same order.
//!
//! [`comparison`] does the same for `=`, `<`, `<=`, `>=` and `>` between a uuid column and a ulid.
//! It also makes the cast of a uuid explicit, because postgres_fdw omits implicit casts.
//!
//! This runs inside other people's queries. Every part of it follows these rules:
//! - Never link one node twice, because the planner changes trees in place. Use copyObject().
//! - An expression that is evaluated twice must be stable and contain no sub-select. One that is
//!   evaluated for each row must be cheap as well, and `may_vary_by_row()` decides which nodes it
//!   may have.
//! - equal() matches a call in a query with those in index expressions and predicates, extended
//!   statistics, partition keys and grouping sets. So a query that uses such a call is not
//!   rewritten. The partitions' own indexes are not checked: that would lock every partition.
//! - The type of an argument is checked before its value is read: any operator can name an
//!   estimator.
//! - An operator of another family is used only if it is ours or a built-in one.
//! - A bound function raises no ERROR. It is evaluated if there is no row, and by
//!   estimate_expression_value(). If the predicate can raise one, the rows between the bounds are
//!   checked as well.
//! - Execute privilege is checked at plan time. The rewritten query calls only functions that the
//!   role may execute, and only if it may execute the original. A plan for which that was asked
//!   depends on the functions (invalItems), except built-in ones. It depends on the role
//!   (dependsOnRole) unless PUBLIC may execute them.
//!
//! # What makes the pointers valid
//! PostgreSQL calls a support function or an estimator with nodes that it holds, and waits for the
//! answer. Until then, those nodes and what they point to stay where they are. Every pointer in the
//! types of [`node`] comes from the request, or was palloc'd during it in the planner's memory
//! context. The functions that make such a type from a pointer are unsafe. Only these, and
//! [`elements`], are.
//!
//! The planner runs within a transaction, so each type, operator and function that a node names can
//! be looked up. One that is dropped meanwhile is an ERROR, or not found.

mod catalog;
mod comparison;
mod index_condition;
mod node;
mod selectivity;
mod simplify;

use std::ffi::{CStr, c_void};

use node::{Expr, Root};
use pg_ulid::Window;
use pgrx::pg_sys::{self, Const, Datum, NodeTag, Oid};

use crate::datum::{Internal, TextArg};
use crate::fmgr::Argument;
use crate::range::TstzRange;

pub(crate) use node::elements;

/// The planner support function of `ulid <@ tstzrange` and its commutator.
pub(super) fn range_support(request: Internal) -> *mut c_void {
    support(request, Some(&IN_RANGE))
}

/// The planner support function of `ulid_starts_with`.
pub(super) fn starts_with_support(request: Internal) -> *mut c_void {
    support(request, Some(&STARTS_WITH))
}

/// The planner support function of `ulid_eq`, `ulid_ne`, `ulid_lt`, `ulid_le`, `ulid_ge` and
/// `ulid_gt`.
pub(super) fn comparison_support(request: Internal) -> *mut c_void {
    support(request, None)
}

/// What a support function returns: a node, or the request itself.
type Reply = Option<*mut c_void>;

/// Answers a request about a predicate, or, without one, about a comparison.
#[allow(unsafe_code)]
fn support(request: Internal, predicate: Option<&'static Predicate>) -> *mut c_void {
    use NodeTag::{
        T_SupportRequestIndexCondition, T_SupportRequestSelectivity, T_SupportRequestSimplify,
    };

    let request: *mut c_void = request.as_ptr();
    // SAFETY: PostgreSQL calls a support function with a node whose tag says which request it is,
    // and which nobody else uses meanwhile.
    let reply = unsafe {
        match ((*request.cast::<pg_sys::Node>()).type_, predicate) {
            (T_SupportRequestIndexCondition, None) => {
                comparison::index_condition(&mut *request.cast())
            }
            (T_SupportRequestIndexCondition, Some(predicate)) => {
                index_condition::of_predicate(&mut *request.cast(), predicate)
            }
            (T_SupportRequestSimplify, None) => comparison::with_explicit_casts(&*request.cast()),
            (T_SupportRequestSimplify, Some(predicate)) => {
                simplify::to_comparisons(&*request.cast(), predicate)
            }
            (T_SupportRequestSelectivity, Some(predicate)) => {
                selectivity::of_predicate(&mut *request.cast(), predicate)
            }
            _ => None,
        }
    };
    reply.unwrap_or(std::ptr::null_mut())
}

/// The estimator of `ulid <@ tstzrange` and its commutator: the fraction of the rows, 0 to 1, that
/// is in the time range.
#[allow(unsafe_code)]
pub(super) fn range_selectivity(
    root: Internal,
    operator: Oid,
    arguments: Internal,
    var_relid: i32,
) -> f64 {
    let (root, arguments) = (root.as_ptr(), arguments.as_ptr());
    let function = catalog::function_of(operator);
    // SAFETY: PostgreSQL calls an estimator with the query's root and the arguments of the
    // operator.
    unsafe { selectivity::of_restriction(root, function, arguments, var_relid, &IN_RANGE) }
}

/// A predicate that is true for the ulids between two bounds.
struct Predicate {
    /// The type of the argument that determines the bounds.
    argument: Oid,
    /// The functions that compute the bounds from such an argument: their names, which are those of
    /// their C symbols too, in the schema of the predicate.
    lower: &'static CStr,
    upper: &'static CStr,
    /// If the predicate can raise an error for its argument: the function that raises it for a
    /// ulid between the bounds, which are those of all ulids then. Otherwise, it is true.
    check: Option<&'static CStr>,
    /// The bounds for a value of that type that is not null, or the error that the predicate would
    /// raise for it. Only the executor may raise that one.
    bounds: unsafe fn(Datum) -> Result<Window, pg_ulid::Error>,
}

#[allow(unsafe_code)]
static IN_RANGE: Predicate = Predicate {
    argument: pg_sys::TSTZRANGEOID,
    lower: c"ulid_range_lower",
    upper: c"ulid_range_upper",
    check: None,
    // SAFETY: called with a tstzrange.
    bounds: |datum| Ok(unsafe { TstzRange::from_datum_guarded(datum) }.0),
};

#[allow(unsafe_code)]
static STARTS_WITH: Predicate = Predicate {
    argument: pg_sys::TEXTOID,
    lower: c"ulid_starts_with_lower",
    upper: c"ulid_starts_with_upper",
    check: Some(c"ulid_starts_with_check"),
    bounds: |datum| {
        // SAFETY: called with a text.
        let prefix = unsafe { TextArg::from_datum_guarded(datum) };
        Window::starting_with(prefix.0)
    },
};

impl Predicate {
    /// Whether an expression is of the type of the argument, or of a domain over it.
    fn takes(&self, expression: Expr) -> bool {
        expression.base_type() == self.argument
    }

    /// The bounds for an argument that is a constant of the right type and not null. `Ok(None)` if
    /// it is none, and `Err` if the predicate raises an error for it.
    #[allow(unsafe_code)]
    fn window(&self, argument: Expr) -> Result<Option<Window>, pg_ulid::Error> {
        match argument.downcast::<Const>() {
            Some(constant) if self.takes(argument) && !constant.constisnull => {
                // SAFETY: the type of the constant was checked.
                unsafe { (self.bounds)(constant.constvalue) }.map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// A call of a predicate, as a function or through an operator.
struct PredicateCall {
    predicate: &'static Predicate,
    function: Oid,
    ulid: Expr,
    argument: Expr,
}

impl PredicateCall {
    /// The call with these arguments; `None` if they are not of the predicate's types.
    fn of(
        predicate: &'static Predicate,
        function: Oid,
        [first, second]: [Expr; 2],
    ) -> Option<Self> {
        let (ulid, argument) = match (predicate.takes(first), predicate.takes(second)) {
            (false, true) => (first, second),
            (true, false) => (second, first),
            _ => return None,
        };
        if !catalog::has_sixteen_bytes(ulid.typid()) {
            return None;
        }
        // A range is relabelled as the domain that the operators take.
        let inner = argument
            .below_relabel()
            .filter(|inner| predicate.takes(*inner));
        Some(Self {
            predicate,
            function,
            ulid,
            argument: inner.unwrap_or(argument),
        })
    }

    /// `ulid >= lower` and `ulid <= upper`, in new nodes, by the operators of a family: those of
    /// ulid, or the built-in ones of uuid. Whether they are enough; otherwise the predicate can
    /// raise an error for a ulid between the bounds.
    ///
    /// `None` if the family has neither, if the role may not execute the functions, or if the
    /// argument is a constant for which the predicate raises an error.
    fn comparisons(&self, root: Root, family: Oid) -> Option<([Expr; 2], bool)> {
        let operators = BoundOperators::of(self.ulid.typid(), family)
            .or_else(|| BoundOperators::of(pg_sys::UUIDOID, family))?;
        let window = self.predicate.window(self.argument).ok()?;
        let (lower, upper) = match window {
            Some(window) => (
                Expr::constant(operators.typid, window.lower()),
                Expr::constant(operators.typid, window.upper()),
            ),
            None => (
                self.bound_call(root, self.predicate.lower, operators.typid)?,
                self.bound_call(root, self.predicate.upper, operators.typid)?,
            ),
        };
        let called = [
            self.function,
            catalog::function_of(operators.greater_equal),
            catalog::function_of(operators.less_equal),
        ];
        if !called
            .into_iter()
            .all(|function| root.may_execute(function))
        {
            return None;
        }
        let ulid = || self.ulid.copy().relabel(operators.typid);
        let comparisons = [
            Expr::op_clause(operators.greater_equal, ulid(), lower),
            Expr::op_clause(operators.less_equal, ulid(), upper),
        ];
        let is_exact = window.is_some() || self.predicate.check.is_none();
        Some((comparisons, is_exact))
    }

    /// A call of the function that computes a bound from the argument, as this type. `None` if
    /// there is something else under its name, or the user may not execute it.
    fn bound_call(&self, root: Root, name: &CStr, typid: Oid) -> Option<Expr> {
        let result = self.ulid.typid();
        let function = catalog::function_of_same_library(
            self.function,
            name,
            &[self.predicate.argument],
            result,
        )?;
        root.may_execute(function)
            .then(|| Expr::func_expr(function, result, [self.argument.copy()]).relabel(typid))
    }

    /// A call of the function that checks a ulid between the bounds. `None` as for a bound.
    ///
    /// It is not the predicate, which would get these bounds again.
    fn check_call(&self, root: Root) -> Option<Expr> {
        let arguments = [self.ulid, self.argument];
        let types = [self.ulid.typid(), self.predicate.argument];
        let name = self.predicate.check?;
        let function =
            catalog::function_of_same_library(self.function, name, &types, pg_sys::BOOLOID)?;
        root.may_execute(function)
            .then(|| Expr::func_expr(function, pg_sys::BOOLOID, arguments.map(Expr::copy)))
    }
}

/// The type by whose operators values are compared, and these operators.
struct BoundOperators {
    typid: Oid,
    greater_equal: Oid,
    less_equal: Oid,
}

impl BoundOperators {
    /// The operators of a type, if they belong to a family.
    ///
    /// Only operators of the type's default btree opfamily are trusted. The strategy numbers of an
    /// opfamily that somebody else made say nothing about its operators.
    fn of(typid: Oid, family: Oid) -> Option<Self> {
        let operator = |strategy: u32| catalog::operator(typid, strategy, family);
        Some(Self {
            typid,
            greater_equal: operator(pg_sys::BTGreaterEqualStrategyNumber)?,
            less_equal: operator(pg_sys::BTLessEqualStrategyNumber)?,
        })
    }
}

/// Panics that only the tests inside a backend cause.
#[cfg(feature = "pg_test")]
pub(crate) mod test_support {
    thread_local! {
        /// Where the next panic happens.
        pub(crate) static PANIC: std::cell::Cell<&'static str> = const { std::cell::Cell::new("") };
    }

    #[allow(clippy::panic)]
    pub(crate) fn may_panic(place: &str) {
        if PANIC.get() == place {
            panic!("in the {place}");
        }
    }
}
