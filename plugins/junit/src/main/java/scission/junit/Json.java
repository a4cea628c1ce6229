package scission.junit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * As much of JSON as it takes to pick parts out of a report that {@code scission} wrote. Values stay as they are written, so that
 * they can be put together again.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** The members of an object. */
    static Map<String, String> members(String object) {
        Json json = new Json(object);
        Map<String, String> members = new LinkedHashMap<>();
        json.expect('{');
        while (!json.isAt('}')) {
            String name = text(json.value());
            json.expect(':');
            members.put(name, json.value());
            json.skipComma();
        }
        return members;
    }

    /** The elements of an array. */
    static List<String> elements(String array) {
        Json json = new Json(array);
        List<String> elements = new ArrayList<>();
        json.expect('[');
        while (!json.isAt(']')) {
            elements.add(json.value());
            json.skipComma();
        }
        return elements;
    }

    /** The text that a string means; empty for null. */
    static String text(String value) {
        if (value == null || !value.startsWith("\"")) {
            return "";
        }
        StringBuilder plain = new StringBuilder();
        for (int index = 1; index < value.length() - 1; index++) {
            char letter = value.charAt(index);
            if (letter != '\\') {
                plain.append(letter);
                continue;
            }
            index++;
            switch (value.charAt(index)) {
                case 'n':
                    plain.append('\n');
                    break;
                case 't':
                    plain.append('\t');
                    break;
                case 'r':
                    plain.append('\r');
                    break;
                case 'b':
                    plain.append('\b');
                    break;
                case 'f':
                    plain.append('\f');
                    break;
                case 'u':
                    plain.append((char) Integer.parseInt(value.substring(index + 1, index + 5), 16));
                    index += 4;
                    break;
                default:
                    plain.append(value.charAt(index));
            }
        }
        return plain.toString();
    }

    /** The next value as it is written. */
    private String value() {
        skipBlanks();
        int start = at;
        int depth = 0;
        do {
            char letter = letter();
            if (letter == '"') {
                skipString();
                continue;
            }
            if (letter == '{' || letter == '[') {
                depth++;
            } else if (letter == '}' || letter == ']') {
                depth--;
            } else if (depth == 0) {
                // A number or a word ends where something else begins.
                while (at < text.length() && ",:}] \n\r\t".indexOf(text.charAt(at)) < 0) {
                    at++;
                }
                break;
            }
            at++;
        } while (depth > 0);
        return text.substring(start, at);
    }

    private void skipString() {
        at++;
        while (letter() != '"') {
            at += letter() == '\\' ? 2 : 1;
        }
        at++;
    }

    private char letter() {
        if (at >= text.length()) {
            throw new IllegalArgumentException("the report ends in the middle");
        }
        return text.charAt(at);
    }

    private void skipBlanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private boolean isAt(char wanted) {
        skipBlanks();
        return letter() == wanted;
    }

    private void expect(char wanted) {
        if (!isAt(wanted)) {
            throw new IllegalArgumentException("the report has `" + letter() + "` where `" + wanted + "` should be");
        }
        at++;
    }

    private void skipComma() {
        skipBlanks();
        if (letter() == ',') {
            at++;
        }
    }
}
