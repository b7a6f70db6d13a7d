//! Expressions of the query that is being planned, and those made for it. [`super`] says what makes
//! the pointers in these types valid.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::ptr::{NonNull, null_mut};

use pg_ulid::Ulid;
use pgrx::pg_sys::{
    self, BOOLOID, CoercionForm, Const, Datum, FuncExpr, List, Node, NodeTag, Oid, OpExpr,
    PlannerInfo, Query, RangeTblEntry, RelabelType, Var,
};

use super::catalog;
use crate::list::list_cells;

/// A pointer to the PlannerInfo, `root` in PostgreSQL, of the query level that is being planned,
/// or of the outer one while a sub-select becomes a join. It is not null.
#[derive(Clone, Copy)]
pub(super) struct Root(NonNull<PlannerInfo>);

impl Root {
    /// `None` if the pointer is null: for an index expression or predicate, there is no root.
    ///
    /// # Safety
    /// The pointer is that of a request of the planner.
    pub(super) unsafe fn from_ptr(root: *mut PlannerInfo) -> Option<Self> {
        NonNull::new(root).map(Self)
    }

    pub(super) fn as_ptr(self) -> *mut PlannerInfo {
        self.0.as_ptr()
    }

    /// The query of this level. The root of expression_planner_with_deps() has none.
    pub(super) fn query(&self) -> Option<&Query> {
        // SAFETY: the planner waits meanwhile, so the root and its query stay.
        unsafe { self.0.as_ref().parse.as_ref() }
    }

    /// Whether the current user may execute a function.
    ///
    /// Record the dependency on the function before deciding. Whatever the answer is, the plan must
    /// be made again when the function or its privileges change. PostgreSQL assumes that built-in
    /// functions do not change.
    ///
    /// Unless PUBLIC may execute the function, set dependsOnRole, whatever the answer is: another
    /// role must not get this plan.
    pub(super) fn may_execute(self, function: Oid) -> bool {
        let may = |role| {
            // SAFETY: only values are passed, and no pointer is returned.
            let result = unsafe {
                #[cfg(feature = "pg15")]
                let result = pg_sys::pg_proc_aclcheck(function, role, pg_sys::ACL_EXECUTE);
                #[cfg(not(feature = "pg15"))]
                let result = pg_sys::object_aclcheck(
                    pg_sys::ProcedureRelationId,
                    function,
                    role,
                    pg_sys::ACL_EXECUTE.into(),
                );
                result
            };
            result == pg_sys::AclResult::ACLCHECK_OK
        };
        // SAFETY: every root has the state that all queries of a statement share, and nobody else
        // changes it meanwhile.
        unsafe {
            pg_sys::record_plan_function_dependency(self.as_ptr(), function);
            may(Oid::from(pg_sys::ACL_ID_PUBLIC)) || {
                (*self.0.as_ref().glob).dependsOnRole = true;
                may(pg_sys::GetUserId())
            }
        }
    }
}

/// A struct that begins with a NodeTag.
///
/// # Safety
/// A node with this tag is this struct.
pub(super) unsafe trait Tagged {
    const TAG: NodeTag;
}

macro_rules! tagged {
    ($($type:ident $tag:ident),*) => {
        // SAFETY: the name of a tag is that of its struct.
        $(unsafe impl Tagged for $type { const TAG: NodeTag = NodeTag::$tag; })*
    };
}
tagged!(Const T_Const, FuncExpr T_FuncExpr, OpExpr T_OpExpr, RelabelType T_RelabelType, Var T_Var);

/// A pointer to an expression, which is not null. A Rust copy of it is the same node: never link it
/// twice, but [`Self::copy`] it.
#[derive(Clone, Copy)]
pub(super) struct Expr(NonNull<Node>);

impl Expr {
    /// `None` if the pointer is null.
    ///
    /// # Safety
    /// The pointer is null, or that of a node in a request of the planner, or was made for its
    /// answer.
    pub(super) unsafe fn from_ptr<T>(node: *mut T) -> Option<Self> {
        NonNull::new(node.cast()).map(Self)
    }

    /// Wraps a freshly made node.
    ///
    /// # Safety
    /// The pointer is to an expression. It is not null.
    unsafe fn from_new_node<T>(node: *mut T) -> Self {
        // SAFETY: the caller passes no null.
        Self(unsafe { NonNull::new_unchecked(node.cast()) })
    }

    pub(super) fn as_ptr<T>(self) -> *mut T {
        self.0.as_ptr().cast()
    }

    /// The node as this struct, if its tag says so.
    pub(super) fn downcast<T: Tagged>(&self) -> Option<&T> {
        // SAFETY: the planner waits meanwhile, so the node stays. Its tag says what the struct is.
        unsafe { (self.0.as_ref().type_ == T::TAG).then(|| self.0.cast().as_ref()) }
    }

    /// The type of its result.
    pub(super) fn typid(self) -> Oid {
        // SAFETY: the node and what it points to stay while the planner waits. It is only read.
        unsafe { pg_sys::exprType(self.as_ptr()) }
    }

    /// The type of its result, or the one that the domain is over.
    pub(super) fn base_type(self) -> Oid {
        catalog::base_type(self.typid())
    }

    /// The arguments of a call of two, written as a function or as an operator.
    pub(super) fn call_arguments(self) -> Option<[Self; 2]> {
        let list = self
            .downcast::<OpExpr>()
            .map(|call| call.args)
            .or(self.downcast::<FuncExpr>().map(|call| call.args))?;
        // SAFETY: the list is that of a call that the planner holds.
        unsafe { two_expressions(list) }
    }

    /// A deep copy, by copyObject().
    pub(super) fn copy(self) -> Self {
        // SAFETY: the node and what it points to stay while the planner waits.
        unsafe { Self::from_new_node(pg_sys::copyObjectImpl(self.as_ptr())) }
    }

    /// The node as another type with the same bytes. It must be freshly copied or made, because
    /// applyRelabelType() overwrites it.
    ///
    /// A cast that changes the base type is explicit. A ulid has no implicit cast to uuid, and
    /// postgres_fdw sends only explicit casts to the other server.
    pub(super) fn relabel(self, typid: Oid) -> Self {
        let form = if self.base_type() == typid {
            CoercionForm::COERCE_IMPLICIT_CAST
        } else {
            CoercionForm::COERCE_EXPLICIT_CAST
        };
        // SAFETY: the node is new, so it may change; the types have the same bytes, as the callers
        // have checked.
        unsafe {
            let relabelled =
                pg_sys::applyRelabelType(self.as_ptr(), typid, -1, Oid::INVALID, form, -1, true);
            Self::from_new_node(relabelled)
        }
    }

    /// The argument, if it is a RelabelType.
    pub(super) fn below_relabel(self) -> Option<Self> {
        // SAFETY: a node of the planner points to nodes of the planner.
        unsafe { Self::from_ptr(self.downcast::<RelabelType>()?.arg) }
    }

    /// Whether it is an implicit RelabelType that changes the base type, as from uuid to ulid.
    /// postgres_fdw leaves it out of the text that it sends.
    pub(super) fn is_implicit_cast(self) -> bool {
        self.downcast::<RelabelType>()
            .is_some_and(|cast| cast.relabelformat == CoercionForm::COERCE_IMPLICIT_CAST)
            && self
                .below_relabel()
                .is_some_and(|inner| inner.base_type() != self.typid())
    }

    /// A Const of a type of 16 bytes that is passed by reference: ulid or uuid.
    pub(super) fn constant(typid: Oid, value: Ulid) -> Self {
        let length = size_of::<Ulid>() as c_int;
        // SAFETY: the value is one of such a type, in the planner's memory context.
        unsafe {
            let bytes = pg_sys::palloc(size_of::<Ulid>()).cast::<[u8; 16]>();
            bytes.write(value.to_bytes());
            let value = Datum::from(bytes);
            Self::from_new_node(pg_sys::makeConst(
                typid,
                -1,
                Oid::INVALID,
                length,
                value,
                false,
                false,
            ))
        }
    }

    /// A new FuncExpr, as written `function(arguments)`, of the type `result`. Links the arguments
    /// into it.
    pub(super) fn func_expr<const N: usize>(
        function: Oid,
        result: Oid,
        arguments: [Self; N],
    ) -> Self {
        let form = CoercionForm::COERCE_EXPLICIT_CALL;
        // SAFETY: the new nodes point to nodes that stay while the planner waits.
        unsafe {
            let arguments = list(arguments);
            let call = pg_sys::makeFuncExpr(
                function,
                result,
                arguments,
                Oid::INVALID,
                Oid::INVALID,
                form,
            );
            Self::from_new_node(call)
        }
    }

    /// A new OpExpr of an operator whose result is boolean. Links both expressions into it.
    pub(super) fn op_clause(operator: Oid, left: Self, right: Self) -> Self {
        let (left, right) = (left.as_ptr(), right.as_ptr());
        // SAFETY: the new OpExpr, which set_opfuncid() changes, points to nodes that stay while the
        // planner waits.
        unsafe {
            let clause = pg_sys::make_opclause(
                operator,
                BOOLOID,
                false,
                left,
                right,
                Oid::INVALID,
                Oid::INVALID,
            );
            pg_sys::set_opfuncid(clause.cast());
            Self::from_new_node(clause)
        }
    }

    /// A new AND. Links the expressions into it.
    pub(super) fn and<const N: usize>(expressions: [Self; N]) -> Self {
        let and = pg_sys::BoolExprType::AND_EXPR;
        // SAFETY: the new nodes point to nodes that stay while the planner waits.
        unsafe { Self::from_new_node(pg_sys::makeBoolExpr(and, list(expressions), -1)) }
    }
}

/// The range table entry of the relation, of any relkind, that a Var belongs to. `None` if that is
/// an outer query's, or not a relation, such as a sub-select.
pub(super) fn relation_rte<'query>(
    query: &'query Query,
    var: &Var,
) -> Option<&'query RangeTblEntry> {
    if var.varlevelsup != 0 {
        return None;
    }
    // SAFETY: the list is the query's, and has entries of this kind.
    let rte = unsafe {
        let cell = list_cells(query.rtable).get((var.varno as usize).checked_sub(1)?)?;
        &*cell.ptr_value.cast::<RangeTblEntry>()
    };
    (rte.rtekind == pg_sys::RTEKind::RTE_RELATION).then_some(rte)
}

/// A new List. Links the expressions into it.
pub(super) fn list<const N: usize>(expressions: [Expr; N]) -> *mut List {
    expressions.into_iter().fold(null_mut(), |list, next| {
        // SAFETY: the list is new at first, then the one that the function has returned.
        unsafe { pg_sys::lappend(list, next.as_ptr()) }
    })
}

/// The expressions in a list of two; `None` if it has not two.
///
/// # Safety
/// The list is one of expressions in a request of the planner.
pub(super) unsafe fn two_expressions(list: *const List) -> Option<[Expr; 2]> {
    // SAFETY: each element of a list of expressions points to one.
    unsafe {
        let &[first, second] = list_cells(list) else {
            return None;
        };
        Some([
            Expr::from_ptr(first.ptr_value)?,
            Expr::from_ptr(second.ptr_value)?,
        ])
    }
}
