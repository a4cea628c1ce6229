package real;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;

/** Runs the statements of a file on a database in a folder, prints what they say, then lets threads loose on it. */
public class SqlScript {
    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:h2:" + Path.of(arguments[1]).toAbsolutePath().resolve("database");
        try (Connection connection = DriverManager.getConnection(url)) {
            for (String statement : Files.readString(Path.of(arguments[0])).split(";\\s*\n")) {
                execute(connection, statement.trim());
            }
        }
        // Opened again: what was committed is on the disk.
        try (Connection connection = DriverManager.getConnection(url + ";LOCK_TIMEOUT=20000")) {
            concurrently(url + ";LOCK_TIMEOUT=20000");
            execute(connection, "select count(*), sum(amount), min(amount), max(amount) from booking");
            execute(connection, "select account, count(*), sum(amount) from booking group by account order by account");
            execute(connection, "select sum(balance) from account");
        }
    }

    private static void execute(Connection connection, String sql) {
        if (sql.isEmpty()) {
            return;
        }
        try (Statement statement = connection.createStatement()) {
            if (!statement.execute(sql)) {
                System.out.println(statement.getUpdateCount() + " rows");
                return;
            }
            try (ResultSet rows = statement.getResultSet()) {
                ResultSetMetaData data = rows.getMetaData();
                while (rows.next()) {
                    StringBuilder line = new StringBuilder();
                    for (int column = 1; column <= data.getColumnCount(); column++) {
                        line.append(data.getColumnLabel(column)).append('=').append(rows.getString(column)).append(' ');
                    }
                    System.out.println(line);
                }
            }
        } catch (SQLException exception) {
            System.out.println(exception.getSQLState() + " " + exception.getErrorCode());
        }
    }

    private static void concurrently(String url) throws Exception {
        int threads = 4;
        CountDownLatch done = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            int number = i;
            new Thread(() -> {
                try (Connection connection = DriverManager.getConnection(url);
                        Statement statement = connection.createStatement()) {
                    for (int j = 0; j < 150; j++) {
                        int account = (number + j) % 10;
                        statement.execute("insert into booking values (" + (10_000 + number * 1000 + j) + "," + account + "," + j + ")");
                        statement.execute("update account set balance = balance + 1 where id = " + number);
                        try (ResultSet rows = statement.executeQuery("select count(*) from booking where account = " + account)) {
                            rows.next();
                        }
                    }
                } catch (SQLException exception) {
                    exception.printStackTrace();
                }
                done.countDown();
            }).start();
        }
        done.await();
    }
}
