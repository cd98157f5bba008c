package io.modeldisk.doctor;

import io.modeldisk.doctor.Finding.Area;
import io.modeldisk.doctor.Finding.State;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/** The findings of the doctor, in the order of the checks. Not thread-safe. */
public final class Report {
    private final List<Finding> findings = new ArrayList<>();

    void ok(Area area, String subject, String message) {
        findings.add(new Finding(State.OK, area, subject, message));
    }

    void warning(Area area, String subject, String message) {
        findings.add(new Finding(State.WARNING, area, subject, message));
    }

    void missing(Area area, String subject, String message) {
        findings.add(new Finding(State.MISSING, area, subject, message));
    }

    /**
     * Adds the message {@code good} if {@code met}. Otherwise adds {@code missing}, which says what is missing and what to do.
     */
    void check(Area area, String subject, boolean met, String good, String missing) {
        findings.add(new Finding(met ? State.OK : State.MISSING, area, subject, met ? good : missing));
    }

    /** Adds the message {@code good} if {@code met}. Otherwise adds {@code warning}, which says what to do. */
    void advise(Area area, String subject, boolean met, String good, String warning) {
        findings.add(new Finding(met ? State.OK : State.WARNING, area, subject, met ? good : warning));
    }

    /** Returns all findings. */
    public List<Finding> findings() {
        return Collections.unmodifiableList(findings);
    }

    /** Returns whether the doctor found everything that these areas need. */
    public boolean isWell(Set<Area> needed) {
        return findings.stream()
            .noneMatch(finding -> finding.state() == State.MISSING && needed.contains(finding.area()));
    }
}
