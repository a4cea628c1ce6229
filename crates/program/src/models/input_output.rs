//! The streams, readers and writers of `java.io` that lock, and calls that block on the outside
//! world.
//!
//! Approximations: the monitors are those of Java 17. Later releases use an internal lock when the
//! class is not subclassed and no client can have taken the monitor, so a client that synchronises
//! on `System.out` is excluded there no longer; the rows then claim a lock that is not the same
//! object, which can hide a race between `println` and a block on the stream. `Reader` and `Writer`
//! lock the object in their field `lock`, which is the wrapped stream or the reader itself. Wrapped
//! streams take their own monitors inside, which is not repeated in the outer row.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, Receiver};

const READS_IN: Effect = Write { of: Argument(0) };

pub(super) const ROWS: &[&[Model]] = models! {
    "java/io/PrintStream" => {
        "print", "println", "printf", "format", "append", "write", "flush", "close" "*" [
            SYNC, WRITE,
        ];
        "checkError" "*" [SYNC, READ];
    }
    "java/io/BufferedInputStream" => {
        "read" "()I" [SYNC, WRITE, BLOCKS_DEAF];
        "read" "([BII)I" [SYNC, WRITE, READS_IN, BLOCKS_DEAF];
        "skip", "mark", "reset" "*" [SYNC, WRITE];
        "available" "*" [SYNC, READ];
    }
    "java/io/BufferedOutputStream" => {
        "write" "(I)V" [SYNC, WRITE];
        "write" "([BII)V" [SYNC, WRITE, Read { of: Argument(0) }];
        "flush" "*" [SYNC, WRITE];
    }
    "java/io/ByteArrayInputStream" => {
        "read" "()I" [SYNC, WRITE];
        "read" "([BII)I" [SYNC, WRITE, READS_IN];
        "readAllBytes" "*" [SYNC, WRITE, FRESH];
        "transferTo", "skip", "reset" "*" [SYNC, WRITE];
        "available" "*" [SYNC, READ];
    }
    "java/io/ByteArrayOutputStream" => {
        "write" "(I)V" [SYNC, WRITE];
        "write" "([BII)V" [SYNC, WRITE, Read { of: Argument(0) }];
        "writeTo" "*" [SYNC, READ];
        "reset" "*" [SYNC, WRITE];
        "size" "*" [SYNC, READ];
        "toByteArray", "toString" "*" [SYNC, READ, FRESH];
    }
    "java/io/PipedInputStream" => {
        "read" "()I" [SYNC, WRITE, RECEIVE, BLOCKS_DEAF];
        "read" "([BII)I" [SYNC, WRITE, READS_IN, RECEIVE, BLOCKS_DEAF];
        "available" "*" [SYNC, READ];
    }
    "java/io/PipedOutputStream" => {
        "write" "*" [PUBLISH, BLOCKS_DEAF];
        "flush" "*" [SYNC];
        "connect" "*" [SYNC, WRITE];
    }
    "java/io/BufferedReader" => {
        "read", "readLine", "skip", "mark", "reset" "*" [SYNC_LOCK, WRITE, BLOCKS_DEAF];
        "ready" "*" [SYNC_LOCK, READ];
        "close" "*" [SYNC_LOCK, WRITE];
        "lines" "*" [VIEW];
    }
    "java/io/BufferedWriter", "java/io/PrintWriter" => {
        "write", "flush", "close" "*" [SYNC_LOCK, WRITE];
    }
    "java/io/BufferedWriter" => {
        "newLine" "*" [SYNC_LOCK, WRITE];
    }
    "java/io/PrintWriter" => {
        "print", "println", "printf", "format", "append" "*" [SYNC_LOCK, WRITE];
    }
    "java/io/StringReader" => {
        "read", "skip", "mark", "reset", "close" "*" [SYNC_LOCK, WRITE];
        "ready" "*" [SYNC_LOCK, READ];
    }
    // A string writer locks the buffer that it collects into.
    "java/io/StringWriter" => {
        "write", "append" "*" [Synchronized { lock: Operand::Field("buf") }, WRITE];
        "toString" "*" [Synchronized { lock: Operand::Field("buf") }, READ, FRESH];
        "getBuffer" "*" [Load { from: Receiver }];
        "flush", "close" "*" [];
    }
    "java/io/CharArrayWriter" => {
        "write", "reset" "*" [SYNC_LOCK, WRITE];
        "size" "*" [];
        "toCharArray", "toString", "writeTo" "*" [SYNC_LOCK, READ];
    }

    "java/net/ServerSocket" => {
        "accept" "*" [FRESH, BLOCKS_DEAF];
    }
    "java/util/logging/StreamHandler" => {
        "publish", "flush", "close", "setEncoding" "*" [SYNC, WRITE];
    }
    "java/util/logging/Handler" => {
        "setFormatter", "setFilter", "setErrorManager" "*" [SYNC, WRITE, KEEPS0];
        "setLevel", "setEncoding" "*" [SYNC, WRITE];
    }
    "java/util/logging/Logger" => {
        // Handlers lock themselves; callbacks that make the message run in the caller.
        "log", "info", "warning", "severe", "fine", "finer", "finest", "config" "*" [];
    }
    "java/net/http/HttpClient" => {
        "send" "*" [BLOCKS];
        "sendAsync" "*" [FRESH];
    }
};
