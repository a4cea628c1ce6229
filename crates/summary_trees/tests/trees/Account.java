class Account {
    int checking;
    int saving;
    Account next;
    Account[] others;
    final Object lock = new Object();
    boolean open;
    final int kind;
    static int total;

    Account(int kind) { this.kind = kind; }

    // Figure 3 of the paper.
    void withdraw(int amount) {
        if (this.checking >= amount) {
            this.checking = this.checking - amount;
        } else if (this.saving >= amount) {
            this.saving = this.saving - amount;
        } else {
            total++;
        }
    }

    void whileLoop(Account a, int n) {
        while (n > 0) {
            a.checking++;
            a = a.next;
            n--;
        }
        a.saving = 1;
    }

    void doWhile(int n) {
        do { checking++; } while (n-- > 0);
        saving = 2;
    }

    void select(int n) {
        switch (n) {
            case 1: checking = 1; break;
            case 2: case 3: saving = 1;
            default: total = 3;
        }
        total++;
    }

    void ternary(boolean b, Account a, Account c) {
        Account x = b ? a.next : c;
        x.checking = 1;
    }

    void sameOnBothSides(boolean b, Account a) {
        if (b) a.checking = 1; else a.saving = 1;
        a.next.checking = 2;
    }

    void both(boolean b, boolean c) {
        if (b && c) checking = 1; else saving = 1;
        total = 1;
    }

    void either(boolean b, boolean c) {
        if (b || c) checking = 1;
        total = 1;
    }

    void tryFinally(boolean b) {
        try {
            if (b) checking = 1;
        } finally {
            saving = 2;
        }
    }

    void caught(boolean b) {
        try {
            checking = 1;
        } catch (RuntimeException e) {
            if (b) saving = 1;
        }
    }

    void locked(boolean b) {
        if (b) {
            synchronized (lock) {
                checking = 1;
            }
        }
        total = 1;
    }

    void lockedClass(boolean b) {
        if (b) {
            synchronized (Account.class) { total++; }
        }
    }

    int earlyReturn(boolean b) {
        if (b) return 1;
        checking = 2;
        return 2;
    }

    int returnInLock(boolean b) {
        synchronized (lock) {
            if (b) return 1;
            checking = 2;
        }
        return saving;
    }

    void breakAndContinue(int n) {
        while (n > 0) {
            checking = 1;
            if (n == 3) { saving = 1; break; }
            if (n == 4) continue;
            total = 4;
            n--;
        }
    }

    int search(Account a, int n) {
        for (Account p = a; p != null; p = p.next) {
            if (p.checking == n) return 1;
        }
        return saving;
    }

    void nestedLoops(int n, int m) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < m; j++) checking++;
        }
    }

    void throwing(Account a) {
        if (a == null) throw new RuntimeException();
        a.checking = 1;
    }

    void twoLoops(int n) {
        outer:
        while (n > 0) {
            while (n > 5) {
                if (n == 7) break outer;
                checking++;
                n--;
            }
            n -= 6;
        }
    }

    void guards(Object o) {
        if (o instanceof Account) { total = 1; }
        if (kind > 3) { total = 2; }
        if (lock == o) { total = 3; }
        switch (kind) { case 4: total = 4; }
    }

    void elements(int i, boolean b) {
        if (b) {
            others[i].checking = 1;
            others[2] = this;
            others[i + 1].saving = 2;
        }
    }

    void calls(boolean b, int n) {
        if (b) next.calls(b, n);
    }

    int nothing(boolean b) { return b ? 1 : 2; }

    Account getNext() { return next; }

    Object getLock() { return lock; }

    Account itself() { return this; }

    Account oneOfTwo(boolean b, Account a) {
        if (b) return a;
        return this;
    }
}
