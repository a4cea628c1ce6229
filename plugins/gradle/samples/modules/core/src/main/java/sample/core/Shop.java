package sample.core;

/** Sells what there is. */
public class Shop {
    private int amount = 100;

    public synchronized int amount() {
        return amount;
    }

    public synchronized void take(int number) {
        amount -= number;
    }

    /** Another thread may sell between the two. */
    public static void sell(Shop shop, int number) {
        if (shop.amount() >= number) {
            shop.take(number);
        }
    }

    public static void main(String[] arguments) {
        Shop shop = new Shop();
        for (int clerk = 0; clerk < 2; clerk++) {
            new Thread(() -> sell(shop, 60)).start();
        }
    }
}
