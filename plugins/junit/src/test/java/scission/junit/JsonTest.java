package scission.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void partsStayAsTheyAreWritten() {
        Map<String, String> members = Json.members("{ \"a\": [1, {\"b\": \"]}\"}], \"c\" : null, \"d\": -1.5e3 }");
        assertEquals(Map.of("a", "[1, {\"b\": \"]}\"}]", "c", "null", "d", "-1.5e3"), members);
        assertEquals(List.of("1", "{\"b\": \"]}\"}"), Json.elements(members.get("a")));
        assertEquals(List.of(), Json.elements("[ ]"));
    }

    @Test
    void escapesMeanLetters() {
        assertEquals("a\"b\\\nä", Json.text("\"a\\\"b\\\\\\n\\u00e4\""));
        assertEquals("", Json.text("null"));
    }

    @Test
    void aReportThatWasCutIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Json.members("{\"a\": [1"));
        assertThrows(IllegalArgumentException.class, () -> Json.members("[]"));
    }

    @Test
    void aTestThatIsNotWatchedIsNotGreen() {
        System.clearProperty("scission.unwatched");
        AssertionError error = assertThrows(AssertionError.class, TestWatch::begin);
        assertEquals(true, error.getMessage().contains("not watched"), error.getMessage());
        System.setProperty("scission.unwatched", "skip");
        try {
            assertEquals(false, TestWatch.begin());
        } finally {
            System.clearProperty("scission.unwatched");
        }
    }
}
