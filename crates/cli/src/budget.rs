//! What the user grants an analysis: time and memory.

use std::fs;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A limit on one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    Time(Duration),
    /// In bytes, of the whole process.
    Memory(u64),
}

const UNITS: [(&str, u64); 4] =
    [("GiB", 1 << 30), ("MiB", 1 << 20), ("G", 1 << 30), ("M", 1 << 20)];

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Budget, String> {
        let wrong =
            || format!("`{text}` is neither a time such as `20s` nor a size such as `3GiB`");
        let number = |digits: &str| digits.trim().parse::<u64>().map_err(|_| wrong());
        for (unit, bytes) in UNITS {
            if let Some(digits) = text.strip_suffix(unit) {
                return number(digits)?.checked_mul(bytes).map(Budget::Memory).ok_or_else(wrong);
            }
        }
        if let Some(digits) = text.strip_suffix("ms") {
            return Ok(Budget::Time(Duration::from_millis(number(digits)?)));
        }
        let digits = text.strip_suffix('s').ok_or_else(wrong)?;
        Ok(Budget::Time(Duration::from_secs(number(digits)?)))
    }
}

/// Tells when a budget is nearly used up, and when it is. What is used up stays so.
pub(crate) struct BudgetMeter {
    started: Instant,
    most_time: Option<Duration>,
    most_memory: Option<u64>,
    state: AtomicU8,
    calls: AtomicU32,
}

/// Asking the system how much memory is in use costs more than most of the work in between.
const CALLS_PER_MEASUREMENT: u32 = 64;

/// Of a budget, so much is spent on the best work; the rest is for less precise work and for the report.
const PERCENT_FOR_BEST_WORK: u32 = 75;

/// How much of a budget of time work may take to stop once it is used up, in percent, and at most; with memory, work that
/// does not stop at once needs more and more.
const PERCENT_TO_STOP: u32 = 5;
const MOST_TO_STOP: Duration = Duration::from_millis(800);

/// States of a meter.
const NEARLY_USED_UP: u8 = 1;
const USED_UP: u8 = 2;

impl BudgetMeter {
    /// Time counts from now on.
    pub(crate) fn new(budgets: &[Budget]) -> BudgetMeter {
        let times = budgets.iter().filter_map(|budget| match budget {
            Budget::Time(time) => Some(*time),
            Budget::Memory(_) => None,
        });
        let sizes = budgets.iter().filter_map(|budget| match budget {
            Budget::Memory(bytes) => Some(*bytes),
            Budget::Time(_) => None,
        });
        BudgetMeter {
            started: Instant::now(),
            most_time: times.min(),
            most_memory: sizes.min(),
            state: AtomicU8::new(0),
            calls: AtomicU32::new(0),
        }
    }

    /// Whether analyses must go on with less context.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.state() >= NEARLY_USED_UP
    }

    /// Whether analyses must stop.
    pub(crate) fn is_used_up(&self) -> bool {
        self.state() >= USED_UP
    }

    /// How long analyses may take to stop, if they must. Always measures.
    pub(crate) fn grace(&self) -> Option<Duration> {
        let of_time = self.most_time.map_or(MOST_TO_STOP, |most| most / 100 * PERCENT_TO_STOP);
        (self.measure() >= USED_UP).then(|| of_time.min(MOST_TO_STOP))
    }

    fn state(&self) -> u8 {
        if self.most_time.is_none() && self.most_memory.is_none() {
            return 0;
        }
        let known = self.state.load(Ordering::Relaxed);
        let is_asked = self.calls.fetch_add(1, Ordering::Relaxed);
        if known == USED_UP || !is_asked.is_multiple_of(CALLS_PER_MEASUREMENT) {
            return known;
        }
        self.measure()
    }

    fn measure(&self) -> u8 {
        let memory = self.most_memory.and_then(|_| memory_in_use());
        let exceeds = |percent: u32| {
            let of_time = self.most_time.is_some_and(|most| {
                self.started.elapsed().saturating_mul(100) >= most.saturating_mul(percent)
            });
            let of_memory = self.most_memory.zip(memory).is_some_and(|(most, used)| {
                u128::from(used) * 100 > u128::from(most) * u128::from(percent)
            });
            of_time || of_memory
        };
        let now = match (exceeds(100), exceeds(PERCENT_FOR_BEST_WORK)) {
            (true, _) => USED_UP,
            (false, true) => NEARLY_USED_UP,
            (false, false) => 0,
        };
        self.state.fetch_max(now, Ordering::Relaxed).max(now)
    }
}

/// The memory that this process occupies, in bytes; unknown where the system does not tell as Linux does.
fn memory_in_use() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_as_people_write_them() {
        assert_eq!("20s".parse(), Ok(Budget::Time(Duration::from_secs(20))));
        assert_eq!("250ms".parse(), Ok(Budget::Time(Duration::from_millis(250))));
        assert_eq!("3GiB".parse(), Ok(Budget::Memory(3 << 30)));
        assert_eq!("512M".parse(), Ok(Budget::Memory(512 << 20)));
        for wrong in ["", "s", "20", "3 cats", "-1s", "99999999999999999999G"] {
            assert!(wrong.parse::<Budget>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_budget_of_nothing_is_used_up_at_once_and_no_budget_never() {
        assert!(BudgetMeter::new(&[Budget::Time(Duration::ZERO)]).is_exhausted());
        assert!(BudgetMeter::new(&[Budget::Memory(1)]).is_exhausted());
        assert!(BudgetMeter::new(&[Budget::Memory(1)]).is_used_up());
        assert_eq!(BudgetMeter::new(&[Budget::Time(Duration::ZERO)]).grace(), Some(Duration::ZERO));
        assert_eq!(BudgetMeter::new(&[Budget::Memory(1)]).grace(), Some(MOST_TO_STOP));
        assert_eq!(BudgetMeter::new(&[]).grace(), None);
        assert!(!BudgetMeter::new(&[]).is_used_up());
        assert!(!BudgetMeter::new(&[]).is_exhausted());
    }
}
