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
//!   rewritten, nor one whose grouping sets could match what is put in its place. The partitions'
//!   own indexes are not checked: that would lock every partition.
//! - The type of an argument is checked before its value is read: any operator can name an
//!   estimator.
//! - An operator in the opfamily of an index or a partition key is used only if it is also in the
//!   default btree opfamily of ulid or uuid.
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
//! context. Of that module's functions, those that take a pointer are unsafe.
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
use pgrx::pg_sys::{self, Const, Datum, Node, NodeTag, Oid};

use crate::datum::{Internal, TextArg};
use crate::fmgr::Argument;
use crate::range::TstzRange;

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

/// Answers a request about a call of the predicate, or, without one, about a comparison of ulids.
/// The result is a node: the new expression, a List of index conditions, or the request itself with
/// the estimate filled in. Null leaves it to the planner, as if there was no support function.
#[allow(unsafe_code)]
fn support(request: Internal, predicate: Option<&'static Predicate>) -> *mut c_void {
    use NodeTag::{
        T_SupportRequestIndexCondition, T_SupportRequestSelectivity, T_SupportRequestSimplify,
    };

    let request = request.as_ptr::<c_void>();
    // SAFETY: PostgreSQL calls a support function with a node whose tag says which request it is,
    // and which nobody else uses meanwhile.
    let result = unsafe {
        match ((*request.cast::<Node>()).type_, predicate) {
            (T_SupportRequestIndexCondition, None) => {
                comparison::index_condition(&mut *request.cast())
            }
            (T_SupportRequestIndexCondition, Some(predicate)) => {
                index_condition::bounds(&mut *request.cast(), predicate)
            }
            (T_SupportRequestSimplify, None) => comparison::with_explicit_casts(&*request.cast()),
            (T_SupportRequestSimplify, Some(predicate)) => {
                simplify::to_comparisons(&*request.cast(), predicate)
            }
            (T_SupportRequestSelectivity, Some(predicate)) => {
                selectivity::of_function_call(&mut *request.cast(), predicate)
            }
            _ => None,
        }
    };
    result.unwrap_or(std::ptr::null_mut()).cast()
}

/// The restriction estimator (`oprrest`) of `ulid <@ tstzrange` and its commutator: the fraction of
/// the rows, 0 to 1, that is in the time range. `var_relid` is the relation to estimate for, or 0
/// for any. 0 for a null; `DEFAULT_SELECTIVITY` if the range is not known, there are no usable
/// statistics, or the arguments are of other types, since any operator can name an estimator.
#[allow(unsafe_code)]
pub(super) fn range_selectivity(
    root: Internal,
    operator: Oid,
    arguments: Internal,
    var_relid: i32,
) -> f64 {
    let (root, arguments) = (root.as_ptr(), arguments.as_ptr());
    // Only to learn whether it is leakproof: without a function, statistics that the role may not
    // read are not used.
    let function = catalog::function_of_operator(operator);
    // SAFETY: PostgreSQL calls an estimator with the query's root and the arguments of the
    // operator.
    unsafe { selectivity::restriction_selectivity(root, function, arguments, var_relid, &IN_RANGE) }
}

/// An SQL function of a ulid and a time range, or of a ulid and a prefix. It is true for the ulids
/// between two bounds, inclusive. If it is true for none, the lower bound is above the upper one.
///
/// The functions are named by their SQL name, which is that of their C symbol too. They are in the
/// schema of the predicate.
struct Predicate {
    /// The type of the argument that determines the bounds.
    range_or_prefix_type: Oid,
    /// The function that computes the least ulid for which the predicate is true.
    lower_function: &'static CStr,
    /// The function that computes the greatest such ulid.
    upper_function: &'static CStr,
    /// `None` if the predicate raises an error for no argument. Otherwise, for an argument with an
    /// error, the bounds are those of all ulids, and this function of a ulid and the argument
    /// raises the error. For any other argument, it is true.
    argument_check: Option<&'static CStr>,
    /// The bounds for a Datum of that type, which must not be null, or the error that the predicate
    /// raises for it. Do not raise that error here: only the executor may, if there is a row. An
    /// ERROR of reading the Datum, as of detoasting, is a panic, which becomes the ERROR again.
    bounds: unsafe fn(Datum) -> Result<Window, pg_ulid::Error>,
}

#[allow(unsafe_code)]
static IN_RANGE: Predicate = Predicate {
    range_or_prefix_type: pg_sys::TSTZRANGEOID,
    lower_function: c"ulid_range_lower",
    upper_function: c"ulid_range_upper",
    argument_check: None,
    // SAFETY: called with a tstzrange.
    bounds: |datum| Ok(unsafe { TstzRange::from_datum_guarded(datum) }.0),
};

#[allow(unsafe_code)]
static STARTS_WITH: Predicate = Predicate {
    range_or_prefix_type: pg_sys::TEXTOID,
    lower_function: c"ulid_starts_with_lower",
    upper_function: c"ulid_starts_with_upper",
    argument_check: Some(c"ulid_starts_with_check"),
    bounds: |datum| {
        // SAFETY: called with a text.
        let prefix = unsafe { TextArg::from_datum_guarded(datum) };
        Window::starting_with(prefix.0)
    },
};

impl Predicate {
    /// Whether an expression is of the type of the range or the prefix, or of a domain over it.
    fn is_range_or_prefix(&self, expression: Expr) -> bool {
        expression.base_type() == self.range_or_prefix_type
    }

    /// The bounds, if the expression is a Const of the right type and not null. `Ok(None)` if it is
    /// not, and `Err` if the predicate raises an error for its value.
    #[allow(unsafe_code)]
    fn bounds_of_const(&self, expression: Expr) -> Result<Option<Window>, pg_ulid::Error> {
        match expression.downcast::<Const>() {
            Some(constant) if self.is_range_or_prefix(expression) && !constant.constisnull => {
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
    /// The function of the predicate, which is that of the operator.
    function: Oid,
    /// The argument that is a ulid, or is relabelled as one: usually a column. It may be of any
    /// type of 16 bytes by reference, which can be read as a ulid.
    ulid_operand: Expr,
    /// The other argument.
    range_or_prefix: Expr,
}

impl PredicateCall {
    /// The call with these arguments, in either order; `None` unless one is of the range's or the
    /// prefix's type, and the other has 16 bytes by reference.
    ///
    /// Functions with this support function take ulid, so the operators are those of ulid and of
    /// uuid, in the order of the bytes. Only a superuser can give it to a function of another type.
    fn of(
        predicate: &'static Predicate,
        function: Oid,
        [first, second]: [Expr; 2],
    ) -> Option<Self> {
        let (ulid_operand, argument) = match (
            predicate.is_range_or_prefix(first),
            predicate.is_range_or_prefix(second),
        ) {
            (false, true) => (first, second),
            (true, false) => (second, first),
            _ => return None,
        };
        if !catalog::is_sixteen_bytes_by_reference(ulid_operand.typid()) {
            return None;
        }
        // A tstzrange is relabelled as `ulid_window`, the domain that the operators take. The bound
        // functions take what is below.
        let inner = argument
            .below_relabel()
            .filter(|inner| predicate.is_range_or_prefix(*inner));
        Some(Self {
            predicate,
            function,
            ulid_operand,
            range_or_prefix: inner.unwrap_or(argument),
        })
    }

    /// `ulid >= lower` and `ulid <= upper`, in new nodes, by operators that belong to the btree
    /// opfamily: those of ulid, or the built-in ones of uuid.
    ///
    /// The second result is whether they are lossy, as in SupportRequestIndexCondition: the rows
    /// between the bounds must be checked by the predicate or by its `argument_check`, which may
    /// raise an error.
    ///
    /// `None` if the opfamily has neither, if a bound function is not found, if the role may not
    /// execute the functions, or if the range or prefix is a Const for which the predicate raises
    /// an error.
    fn comparisons(&self, root: Root, opfamily: Oid) -> Option<([Expr; 2], bool)> {
        let operators = BoundOperators::of(self.ulid_operand.typid(), opfamily)
            .or_else(|| BoundOperators::of(pg_sys::UUIDOID, opfamily))?;
        let window = self.predicate.bounds_of_const(self.range_or_prefix).ok()?;
        let (lower, upper) = match window {
            Some(window) => (
                Expr::constant(operators.typid, window.lower()),
                Expr::constant(operators.typid, window.upper()),
            ),
            None => (
                self.bound_function_call(root, self.predicate.lower_function, operators.typid)?,
                self.bound_function_call(root, self.predicate.upper_function, operators.typid)?,
            ),
        };
        let called = [
            self.function,
            catalog::function_of_operator(operators.greater_equal),
            catalog::function_of_operator(operators.less_equal),
        ];
        if !called
            .into_iter()
            .all(|function| root.may_execute(function))
        {
            return None;
        }
        let ulid = || self.ulid_operand.copy().relabel(operators.typid);
        let comparisons = [
            Expr::op_clause(operators.greater_equal, ulid(), lower),
            Expr::op_clause(operators.less_equal, ulid(), upper),
        ];
        let lossy = window.is_none() && self.predicate.argument_check.is_some();
        Some((comparisons, lossy))
    }

    /// A call of the function that computes a bound from the range or the prefix, relabelled as the
    /// type `typid`. `None` if there is something else under its name, or the user may not execute
    /// it.
    fn bound_function_call(&self, root: Root, name: &CStr, typid: Oid) -> Option<Expr> {
        let result = self.ulid_operand.typid();
        let function = catalog::function_of_same_library(
            self.function,
            name,
            &[self.predicate.range_or_prefix_type],
            result,
        )?;
        root.may_execute(function).then(|| {
            Expr::func_expr(function, result, [self.range_or_prefix.copy()]).relabel(typid)
        })
    }

    /// A call of the predicate's `argument_check`, for lossy comparisons. `None` as for a bound,
    /// and if the predicate has no such function.
    ///
    /// It is not a call of the predicate, which the planner would simplify to these comparisons
    /// again.
    fn argument_check_call(&self, root: Root) -> Option<Expr> {
        let arguments = [self.ulid_operand, self.range_or_prefix];
        let types = [
            self.ulid_operand.typid(),
            self.predicate.range_or_prefix_type,
        ];
        let name = self.predicate.argument_check?;
        let function =
            catalog::function_of_same_library(self.function, name, &types, pg_sys::BOOLOID)?;
        root.may_execute(function)
            .then(|| Expr::func_expr(function, pg_sys::BOOLOID, arguments.map(Expr::copy)))
    }
}

/// The operators that compare the ulid with its bounds, `>=` and `<=`, and the type of their
/// operands.
struct BoundOperators {
    typid: Oid,
    greater_equal: Oid,
    less_equal: Oid,
}

impl BoundOperators {
    /// The operators of a type, if both belong to an opfamily.
    ///
    /// Only operators of the type's default btree opfamily are trusted. The strategy numbers of an
    /// opfamily that somebody else made say nothing about its operators.
    fn of(typid: Oid, opfamily: Oid) -> Option<Self> {
        let operator = |strategy: u32| catalog::default_btree_operator(typid, strategy, opfamily);
        Some(Self {
            typid,
            greater_equal: operator(pg_sys::BTGreaterEqualStrategyNumber)?,
            less_equal: operator(pg_sys::BTLessEqualStrategyNumber)?,
        })
    }
}

/// Panics in the planner's hooks, which only the tests inside a backend cause.
#[cfg(feature = "pg_test")]
pub(crate) mod test_support {
    thread_local! {
        /// The place of the hook that panics; empty for none.
        pub(crate) static PANIC: std::cell::Cell<&'static str> = const { std::cell::Cell::new("") };
    }

    /// Panics if the test has chosen this place.
    #[allow(clippy::panic)]
    pub(crate) fn may_panic(place: &str) {
        if PANIC.get() == place {
            panic!("in the {place}");
        }
    }
}
