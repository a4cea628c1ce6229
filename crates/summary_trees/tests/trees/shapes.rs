use crate::java::*;
use crate::text::*;
use summary_trees::*;
const SOURCE: &str = r#"
class Account { int checking; int saving; Account next; final Object lock = new Object(); final boolean open = true;
  static int total;
  void withdraw(int amount) {
    if (this.checking >= amount) this.checking = this.checking - amount;
    else if (this.saving >= amount) this.saving = this.saving - amount;
    else total++;
  }
  void loop(Account a, int n) { while (n > 0) { a.checking++; a = a.next; n--; } a.saving = 1; }
  void doWhile(int n) { do { checking++; } while (n-- > 0); saving = 2; }
  void select(int n) { switch (n) { case 1: checking = 1; break; case 2: case 3: saving = 1; default: total = 3; } total++; }
  void ternary(boolean b, Account a, Account c) { Account x = b ? a : c; x.checking = 1; Account y = b ? a.next : null; }
  void both(boolean b, boolean c) { if (b && c) checking = 1; else saving = 1; total = 1; }
  void either(boolean b, boolean c) { if (b || c) checking = 1; else saving = 1; total = 1; }
  void tryFinally(boolean b) { try { if (b) checking = 1; } finally { saving = 2; } }
  void locked(boolean b) { if (b) { synchronized (lock) { checking = 1; } } total = 1; }
  int earlyReturn(boolean b) { if (b) return 1; checking = 2; return checking; }
  int returnInLock(boolean b) { synchronized (lock) { if (b) return 1; checking = 2; } return saving; }
  void breaks(int n) { while (n > 0) { checking = 1; if (n == 3) { saving = 1; break; } if (n == 4) continue; total = 4; n--; } total = 5; }
  int search(Account a, int n) { for (Account p = a; p != null; p = p.next) { if (p.checking == n) return 1; } return saving; }
  void nested(int n, int m) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { if (i == j) checking++; } }
  void throwing(Account a) { if (a == null) throw new NullPointerException(); a.checking = 1; }
  void outer(int n) { out: while (n > 0) { while (n > 5) { if (n == 7) break out; checking++; n--; } saving++; n -= 6; } total++; }
  void kinds(Object o) { if (o instanceof Account) { ((Account) o).checking = 3; } if (open) saving = 1; if (lock == null) total = 1; }
}
"#;
#[test]
fn show() {
    let c = Compiled::new("Account.java", SOURCE);
    for m in &c.class("Account").methods {
        println!("=== {}", m.name);
        let b = c.branches("Account", &m.name);
        if m.code.is_some() {
            match summarize_method(c.class("Account"), m, &c, &Config::default()) {
                Ok(Some(s)) => println!("{}", steps_text(&s.steps)),
                o => println!("{o:?}"),
            }
        }
        for x in &b.branches {
            println!(
                "branch {} join {:?} depth {} loop {:?} dropped {:?}",
                x.offset, x.join, x.depth, x.loop_branch, x.dropped
            );
            println!("{}", branch_text(x));
        }
        println!("{:?} {} {:?}", b.gaps, b.without_effect, b.landings);
    }
}
