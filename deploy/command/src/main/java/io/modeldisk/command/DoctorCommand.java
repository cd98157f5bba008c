package io.modeldisk.command;

import io.modeldisk.command.address.LearnerLabel;
import io.modeldisk.command.options.LoginSecrets;
import io.modeldisk.doctor.Doctor;
import io.modeldisk.doctor.Finding;
import io.modeldisk.doctor.Finding.Area;
import io.modeldisk.doctor.LoginTrial;
import io.modeldisk.doctor.Report;
import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.striping.ModelAddress;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code modeldisk doctor}. */
@Command(name = "doctor", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:This machine meets all requirements of mounts over the datamovers in --datamover, and the logins succeed.",
        "1:A requirement is not met, a shard of the model cannot be reached, or a login fails.",
        ExitStatus.WRONG},
    description = {
        "Checks that this machine has what modeldisk needs: Java, FUSE, shared memory, RDMA, GPUs and limits. "
            + "Prints what to do if something is missing.",
        "With --secrets, also logs in to each shard and reports what this secret allows there: to read the status, to train, to "
            + "overwrite the weights. The logins change nothing."},
    footer = {"", "Examples:", "  modeldisk doctor",
        "  modeldisk doctor --datamover iser modeldisk://10.0.0.1:3260/digits",
        "  modeldisk doctor --secrets learner.secrets --learner seven modeldisk://10.0.0.1:3260/digits"})
final class DoctorCommand implements Callable<Integer> {
    @Parameters(arity = "0..1", paramLabel = "modeldisk://HOST:PORT[,HOST:PORT...]/NAME",
        description = "A model whose shards the doctor tries to reach, over each --datamover.")
    private String address;

    @Option(names = "--datamover", paramLabel = "NAME", split = ",", defaultValue = "tcp",
        description = "The datamovers that must work, one or more of tcp, iser and shm.")
    private List<String> datamovers;

    @Mixin
    private LoginSecrets secrets;

    @Option(names = "--learner", paramLabel = "LABEL",
        description = "The name of the learner as which the doctor logs in with --secrets, as in `modeldisk mount --learner`. "
            + "Default: a name that begins with the name of this host.")
    private String learner;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        List<Route.Preference> wishes = datamovers.stream().distinct()
            .map(name -> EnumNames.parse(Route.Preference.class, "datamover", name)).toList();
        Report report = Doctor.ofThisMachine().examine(address == null ? null : ModelAddress.parse(address), wishes,
            login());
        Set<Area> needed = Doctor.needs(wishes);
        boolean well = report.isWell(needed);
        print(report, needed, well);
        return well ? 0 : ExitStatus.FAILED;
    }

    /** Returns the login to try; null without --secrets. */
    private LoginTrial login() throws IOException {
        ChapSecrets read = secrets.read();
        if (read != null && address == null) {
            throw new ParameterException(spec.commandLine(),
                "--secrets needs the address of a model, because the doctor logs in to its shards");
        }
        if (read == null && learner != null) {
            throw new ParameterException(spec.commandLine(),
                "--learner is the name for the logins of --secrets; give --secrets");
        }
        return read == null
            ? null
            : new LoginTrial(read, learner == null ? LearnerLabel.ofThisHost() : learner,
                LearnerLabel.unique("status"));
    }

    private void print(Report report, Set<Area> needed, boolean well) {
        int width = report.findings().stream().mapToInt(finding -> finding.subject().length()).max().orElse(0);
        for (Finding finding : report.findings()) {
            System.out.printf(Locale.ROOT, "%-8s %-7s %-" + width + "s  %s%n", EnumNames.of(finding.state()),
                EnumNames.of(finding.area()),
                finding.subject(), finding.message());
        }
        String mounts = "mounts over " + String.join(" and ", datamovers);
        long missing = report.findings().stream()
            .filter(finding -> finding.state() == Finding.State.MISSING && needed.contains(finding.area())).count();
        System.out.printf(Locale.ROOT, "%n%s%n", well
            ? "this machine meets all requirements of " + mounts
            : "this machine does not meet " + Plural.counted(missing, "requirement") + " of " + mounts
                + "; the lines above that begin with 'missing' state what to do");
    }
}
