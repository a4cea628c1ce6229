package programs;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Customers order and pay in a database in memory; every thread has a connection and customers of its own. */
public final class Database {
    private static final String URL = "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1";
    private static final int CUSTOMERS = 400;

    public static void main(String[] arguments) throws SQLException, InterruptedException {
        int orders = Measurement.size(arguments, 14_000);
        int threads = Measurement.threads(arguments);
        Measurement measurement = Measurement.begin();
        try (Connection connection = DriverManager.getConnection(URL)) {
            createTables(connection);
            Runnable[] clerks = new Runnable[threads];
            for (int i = 0; i < threads; i++) {
                clerks[i] = new Clerk(i, threads, orders / threads);
            }
            Measurement.runAll(clerks);
            measurement.end(checksum(connection));
        }
    }

    private static void createTables(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table customer (id int primary key, name varchar(40), balance bigint)");
            statement.execute("create table purchase (customer int, number int, amount int, paid boolean,"
                    + " primary key (customer, number), foreign key (customer) references customer (id))");
            statement.execute("create index purchase_by_amount on purchase (amount)");
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into customer values (?, ?, 0)")) {
            for (int i = 0; i < CUSTOMERS; i++) {
                insert.setInt(1, i);
                insert.setString(2, "customer " + i);
                insert.executeUpdate();
            }
        }
    }

    private static long checksum(Connection connection) throws SQLException {
        long checksum = 0;
        try (Statement statement = connection.createStatement()) {
            String query = "select c.name, c.balance, count(*), sum(p.amount) from customer c"
                    + " join purchase p on p.customer = c.id where p.paid group by c.id order by c.id";
            try (ResultSet rows = statement.executeQuery(query)) {
                while (rows.next()) {
                    checksum = Measurement.mix(checksum, rows.getString(1).hashCode());
                    checksum = Measurement.mix(checksum, rows.getLong(2));
                    checksum = Measurement.mix(checksum, rows.getLong(3));
                    checksum = Measurement.mix(checksum, rows.getLong(4));
                }
            }
        }
        return checksum;
    }

    private static final class Clerk implements Runnable {
        private final int number;
        private final int clerks;
        private final int orders;

        Clerk(int number, int clerks, int orders) {
            this.number = number;
            this.clerks = clerks;
            this.orders = orders;
        }

        @Override
        public void run() {
            RandomStream random = new RandomStream(number + 1);
            try (Connection connection = DriverManager.getConnection(URL)) {
                connection.setAutoCommit(false);
                try (PreparedStatement buy = connection.prepareStatement("insert into purchase values (?, ?, ?, false)");
                        PreparedStatement pay = connection.prepareStatement(
                                "update purchase set paid = true where customer = ? and not paid and amount < ?");
                        PreparedStatement charge = connection.prepareStatement(
                                "update customer set balance = balance + ? where id = ?");
                        PreparedStatement look = connection.prepareStatement(
                                "select sum(amount) from purchase where customer = ? and amount between ? and ?")) {
                    for (int i = 0; i < orders; i++) {
                        // The remainder chooses the clerk, so no two of them ever wait for one row.
                        int customer = random.nextInt(CUSTOMERS / clerks) * clerks + number;
                        int amount = 1 + random.nextInt(500);
                        buy.setInt(1, customer);
                        buy.setInt(2, i);
                        buy.setInt(3, amount);
                        buy.executeUpdate();
                        pay.setInt(1, customer);
                        pay.setInt(2, amount);
                        int paid = pay.executeUpdate();
                        look.setInt(1, customer);
                        look.setInt(2, amount / 2);
                        look.setInt(3, amount);
                        try (ResultSet sum = look.executeQuery()) {
                            sum.next();
                            charge.setLong(1, sum.getLong(1) + paid);
                        }
                        charge.setInt(2, customer);
                        charge.executeUpdate();
                        connection.commit();
                    }
                }
            } catch (SQLException exception) {
                throw new IllegalStateException(exception);
            }
        }
    }
}
