package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.TaskManagementRequestPdu;
import io.modeldisk.protocol.pdu.TaskManagementResponsePdu;

/** Performs task management functions (SAM-5 section 7, RFC 7143 section 11.5). */
final class TaskManagement {
    private TaskManagement() {}

    /** Performs a task management function. Returns the response code. */
    static int perform(
        TaskManagementRequestPdu request, Target target, FullFeaturePhase phase, TaskSet tasks,
        TargetConnection connection) {
        int function = request.function();
        LogicalUnit unit = unit(target, request);
        boolean onUnit = function <= TaskManagementRequestPdu.LOGICAL_UNIT_RESET;
        if (onUnit && unit == null) {
            return TaskManagementResponsePdu.LUN_DOES_NOT_EXIST;
        }
        if (!isAuthorized(function, unit, target, connection.nexus())) {
            return TaskManagementResponsePdu.FUNCTION_AUTHORIZATION_FAILED;
        }
        switch (function) {
            case TaskManagementRequestPdu.ABORT_TASK -> {
                return tasks.abort(request.referencedTaskTag())
                    ? TaskManagementResponsePdu.FUNCTION_COMPLETE
                    : TaskManagementResponsePdu.TASK_DOES_NOT_EXIST;
            }
            case TaskManagementRequestPdu.ABORT_TASK_SET -> tasks.abort(unit);
            case TaskManagementRequestPdu.CLEAR_TASK_SET -> {
                tasks.abort(unit);
                connection.forOtherSessions(other -> other.abortForOther(unit));
            }
            case TaskManagementRequestPdu.LOGICAL_UNIT_RESET -> reset(unit, phase, tasks, connection);
            case TaskManagementRequestPdu.TARGET_WARM_RESET -> reset(null, phase, tasks, connection);
            case TaskManagementRequestPdu.TASK_REASSIGN -> {
                return TaskManagementResponsePdu.REASSIGN_NOT_SUPPORTED;
            }
            default -> {
                // CLEAR ACA is not needed because NORMACA is 0. TARGET COLD RESET is optional and would close all sessions.
                return TaskManagementResponsePdu.FUNCTION_NOT_SUPPORTED;
            }
        }
        return TaskManagementResponsePdu.FUNCTION_COMPLETE;
    }

    /** True if the initiator is allowed to request the function. An initiator needs no permission to end its own tasks. */
    private static boolean isAuthorized(int function, LogicalUnit unit, Target target, Nexus nexus) {
        return switch (function) {
            case TaskManagementRequestPdu.CLEAR_TASK_SET, TaskManagementRequestPdu.LOGICAL_UNIT_RESET ->
                unit.mayReset(nexus);
            case TaskManagementRequestPdu.TARGET_WARM_RESET ->
                target.units().stream().allMatch(each -> each.mayReset(nexus));
            default -> true;
        };
    }

    /**
     * Resets a logical unit, or all logical units if {@code unit} is null (SAM-5 section 6.3.3). Aborts the tasks on the logical
     * unit, and establishes a unit attention for every session.
     */
    private static void reset(
        LogicalUnit unit, FullFeaturePhase phase, TaskSet tasks, TargetConnection connection) {
        tasks.abort(unit);
        phase.tellOfReset(unit);
        connection.forOtherSessions(other -> {
            other.abortForOther(unit);
            other.tellOfReset(unit);
        });
    }

    private static LogicalUnit unit(Target target, TaskManagementRequestPdu request) {
        int lun = Pdu.decodeLun(request.lunField());
        return target.units().stream().filter(unit -> unit.identity().lun() == lun).findFirst().orElse(null);
    }
}
