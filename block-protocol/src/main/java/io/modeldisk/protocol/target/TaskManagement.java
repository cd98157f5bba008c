package io.modeldisk.protocol.target;

import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.TaskManagementRequestPdu;
import io.modeldisk.protocol.pdu.TaskManagementResponsePdu;

/** Task management functions (SAM-5 7, RFC 7143 section 11.5). */
final class TaskManagement {
    private TaskManagement() {}

    /** Does what is asked for; answers the response code. */
    static int perform(
        TaskManagementRequestPdu request, FullFeaturePhase.Setup setup, TaskRunner runner,
        TargetConnection connection) {
        int function = request.function();
        LogicalUnit unit = unit(setup.target(), request);
        boolean onUnit = function <= TaskManagementRequestPdu.LOGICAL_UNIT_RESET;
        if (onUnit && unit == null) {
            return TaskManagementResponsePdu.LUN_DOES_NOT_EXIST;
        }
        switch (function) {
            case TaskManagementRequestPdu.ABORT_TASK -> {
                return runner.abort(request.referencedTaskTag())
                    ? TaskManagementResponsePdu.FUNCTION_COMPLETE
                    : TaskManagementResponsePdu.TASK_DOES_NOT_EXIST;
            }
            case TaskManagementRequestPdu.ABORT_TASK_SET -> runner.abort(unit);
            case TaskManagementRequestPdu.CLEAR_TASK_SET, TaskManagementRequestPdu.LOGICAL_UNIT_RESET -> {
                runner.abort(unit);
                connection.endTasksOfOthers(unit);
            }
            case TaskManagementRequestPdu.TARGET_WARM_RESET -> {
                runner.abort((LogicalUnit) null);
                connection.endTasksOfOthers(null);
            }
            case TaskManagementRequestPdu.TASK_REASSIGN -> {
                return TaskManagementResponsePdu.REASSIGN_NOT_SUPPORTED;
            }
            default -> {
                return TaskManagementResponsePdu.FUNCTION_NOT_SUPPORTED;
            }
        }
        return TaskManagementResponsePdu.FUNCTION_COMPLETE;
    }

    private static LogicalUnit unit(Target target, TaskManagementRequestPdu request) {
        int lun = Pdu.decodeLun(request.lunField());
        return target.units().stream().filter(unit -> unit.identity().lun() == lun).findFirst().orElse(null);
    }
}
