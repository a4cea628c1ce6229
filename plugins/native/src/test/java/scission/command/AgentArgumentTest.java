package scission.command;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class AgentArgumentTest {
    @Test
    public void aPlainArgumentStaysAsItIs() throws Exception {
        String argument = AgentArgument.parse("JAVA_TOOL_OPTIONS=-agentpath:/opt/a.so=results=/out\n");
        assertEquals("-agentpath:/opt/a.so=results=/out", argument);
        assertEquals(argument, AgentArgument.forArgLine(argument));
    }

    @Test
    public void blanksAreProtectedInEachNotation() throws Exception {
        String argument = AgentArgument.parse("JAVA_TOOL_OPTIONS='\"-agentpath:/my opt/a.so=\"'");
        assertEquals("-agentpath:/my opt/a.so=", argument);
        assertEquals("\"-agentpath:/my opt/a.so=\"", AgentArgument.forArgLine(argument));
    }

    @Test
    public void quotesInPathsAreKept() throws Exception {
        String argument = AgentArgument.parse("JAVA_TOOL_OPTIONS='\"-agentpath:/ada'\\''s/a.so=\"'");
        assertEquals("-agentpath:/ada's/a.so=", argument);
        assertEquals("\"-agentpath:/ada's/a.so=\"", AgentArgument.forArgLine(argument));
        assertThrows(CommandException.class, () -> AgentArgument.forArgLine("a'b\"c"));
    }

    @Test
    public void somethingElseIsRefused() {
        Exception error = assertThrows(CommandException.class, () -> AgentArgument.parse("hello"));
        assertTrue(error.getMessage(), error.getMessage().contains("same release"));
    }

    @Test
    public void platformsHaveOneName() {
        assertEquals("linux-x86_64", NativeArchive.classifier("Linux", "amd64"));
        assertEquals("linux-aarch64", NativeArchive.classifier("Linux", "aarch64"));
    }
}
