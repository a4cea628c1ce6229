// Promise: BlockingQueue: actions before placing an object happen-before actions after its removal by another
// thread.
// Way: a mailbox of one's own hides the queue.
// Bad twin: the mailbox reuses one letter for all messages.
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

class QueueWrapper {
    static class Cell {
        int value;
    }

    static class Mailbox {
        private final BlockingQueue<Cell> letters = new ArrayBlockingQueue<>(8);
        private final Cell reused = new Cell();
        private final boolean reuses;

        Mailbox(boolean reuses) {
            this.reuses = reuses;
        }

        void send(int text) throws InterruptedException {
            Cell letter = reuses ? reused : new Cell();
            letter.value = text;
            letters.put(letter);
        }

        Cell receive() throws InterruptedException {
            return letters.take();
        }
    }

    static int good() throws Exception {
        Mailbox mailbox = new Mailbox(false);
        return Pair.together(() -> {
            mailbox.send(40);
            mailbox.send(2);
        }, () -> mailbox.receive().value + mailbox.receive().value);
    }

    static int bad() throws Exception {
        Mailbox mailbox = new Mailbox(true);
        return Pair.together(() -> Pair.repeat(() -> mailbox.send(42)), () -> {
            Cell letter = mailbox.receive();
            return Pair.repeatRead(() -> letter.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, QueueWrapper::good, QueueWrapper::bad);
    }
}
