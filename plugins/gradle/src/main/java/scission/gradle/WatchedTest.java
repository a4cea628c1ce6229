package scission.gradle;

import java.io.File;
import org.gradle.api.Action;
import org.gradle.api.GradleException;
import org.gradle.api.Task;
import org.gradle.api.tasks.testing.Test;
import scission.command.CommandException;
import scission.command.CommandLine;
import scission.command.NativeCommand;
import scission.command.WatchedJvms;

/** A task with tests, in all of whose JVMs the agent is loaded. */
final class WatchedTest implements Action<Task> {
    private final Test test;
    private final WatchedJvms jvms;
    private final NativeCommand scission;
    private final CommandLine flags;

    private WatchedTest(Test test, WatchedJvms jvms, NativeCommand scission, CommandLine flags) {
        this.test = test;
        this.jvms = jvms;
        this.scission = scission;
        this.flags = flags;
    }

    /** The JVMs of each task have a directory of their own, which is an output of that task. */
    static WatchedJvms jvms(Test test, ScissionExtension extension) {
        return new WatchedJvms(new File(extension.outputDirectory(), "results/" + test.getName()).toPath());
    }

    /** Tests that ran unwatched, or watched in another way, are not up to date. */
    static void prepare(Test test, ScissionExtension extension) {
        try {
            NativeCommand scission = extension.command();
            CommandLine flags = extension.forWatching();
            WatchedJvms jvms = jvms(test, extension);
            test.getInputs().property("scission.watched", scission.identity() + " " + flags.words());
            test.getOutputs().dir(jvms.results().toFile());
            test.doFirst(new WatchedTest(test, jvms, scission, flags));
        } catch (CommandException error) {
            throw new GradleException(error.getMessage(), error);
        }
    }

    @Override
    public void execute(Task task) {
        try {
            jvms.forget();
            String failure = "the tests of `" + test.getProject().getName() + "` cannot be watched";
            test.jvmArgs(jvms.agentArgument(scission, flags, failure));
        } catch (CommandException error) {
            throw new GradleException(error.getMessage(), error);
        }
    }
}
