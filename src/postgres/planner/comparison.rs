//! The bound for an index on a uuid column, in place of a comparison with a ulid.
#![allow(unsafe_code)]

use pgrx::pg_sys::{NodeTag, OpExpr, SupportRequestIndexCondition, UUIDOID};

use super::{Answer, comparison, default_family, is_constant_in_scan, may_execute, operator, relabelled};
use crate::postgres::server;

/// The comparison by core's operator of uuid, which is exact. The planner asks only where the operator of ulid does not
/// belong to the index.
///
/// # Safety
/// The request comes from the planner.
pub(super) unsafe fn answer(request: &mut SupportRequestIndexCondition) -> Answer {
    // SAFETY: the request holds a comparison that the planner has matched to the index.
    unsafe {
        if (*request.node).type_ != NodeTag::T_OpExpr {
            return None;
        }
        let clause = &*request.node.cast::<OpExpr>();
        let &[left, right] = server::elements(clause.args) else { return None };
        let column_is_left = request.indexarg == 0;
        let (column, other) = if column_is_left { (left, right) } else { (right, left) };
        let (column, other) = (column.ptr_value.cast(), other.ptr_value.cast());
        let kind = server::exprType(column);
        if server::exprType(other) != kind || !is_constant_in_scan(request, other) {
            return None;
        }
        // What the operator means, its own family says: 1 to 5 for `<` to `>`.
        let strategy = match server::get_op_opfamily_strategy(clause.opno, default_family(kind)?) {
            0 => return None,
            strategy if column_is_left => strategy,
            strategy => 6 - strategy,
        };
        let operator = operator(default_family(UUIDOID)?, UUIDOID, strategy as i16, request.opfamily)?;
        if !may_execute(request.root, server::get_opcode(operator)) {
            return None;
        }
        let column = relabelled(server::copy(column), UUIDOID);
        let other = relabelled(server::copy(other), UUIDOID);
        request.lossy = false;
        Some(server::lappend(std::ptr::null_mut(), comparison(operator, column, other).cast()).cast())
    }
}
