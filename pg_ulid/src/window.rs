//! Windows: which ULIDs were created between two moments or lie between two others, and the
//! fraction of a column's values that these are, by its histogram.

use std::ops::Bound::{self, Excluded, Included, Unbounded};

use crate::time::Time;
use crate::value::Ulid;

/// The ULIDs whose timestamp is between two moments, or whose text starts with the same characters
/// ([`Self::starting_with`]), as the smallest and the greatest of them.
///
/// In an empty window the lower bound is above the upper one, so comparing with both is always
/// sufficient.
///
/// ```
/// use std::ops::Bound::{Excluded, Included, Unbounded};
/// use pg_ulid::{Time, Ulid, Window};
///
/// // From one millisecond after the epoch to, but not including, the next.
/// let window = Window::from_unix_us(Included(1_000), Excluded(2_000));
/// let time = Time::from_unix_ms(1)?;
/// assert_eq!(window.lower(), Ulid::lower_bound(time));
/// assert_eq!(window.upper(), Ulid::upper_bound(time));
/// assert!(Window::from_unix_us(Unbounded, Unbounded).contains(Ulid::MAX));
/// assert!(Window::from_unix_us(Included(1), Excluded(1_000)).is_empty());
/// # Ok::<(), pg_ulid::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub(crate) lower: Ulid,
    pub(crate) upper: Ulid,
}

impl Window {
    /// The window that contains no ULID.
    pub const EMPTY: Self = Self {
        lower: Ulid::MAX,
        upper: Ulid::NIL,
    };

    /// The ULIDs whose timestamp is within these bounds, in microseconds since the Unix epoch.
    ///
    /// A bound is a number and no [`Time`], because a window may begin before the first time of a
    /// ULID and end after the last one. It contains no ULID there.
    pub fn from_unix_us(lower: Bound<i128>, upper: Bound<i128>) -> Self {
        // The first millisecond that begins after a time. Far outside the times of ULIDs all are
        // equivalent, and 64 bits are divided faster than 128.
        let after = |us: i128| (us.clamp(-(1 << 62), 1 << 62) as i64).div_euclid(1000) + 1;
        // The milliseconds from `first` to, but not including, `end`.
        let first = match lower {
            Included(us) => after(us.saturating_sub(1)),
            Excluded(us) => after(us),
            Unbounded => 0,
        };
        let end = match upper {
            Included(us) => after(us),
            Excluded(us) => after(us.saturating_sub(1)),
            Unbounded => i64::MAX,
        };
        // The cast makes a negative number, the `last` of an empty window, greater than all that
        // fit.
        let time = |ms: i64| Time::from_unix_ms(ms.cast_unsigned());
        let last = (end - 1).min(Time::MAX.unix_ms() as i64);
        match (time(first.max(0)), time(last)) {
            (Ok(first), Ok(last)) if first <= last => Self {
                lower: Ulid::lower_bound(first),
                upper: Ulid::upper_bound(last),
            },
            _ => Self::EMPTY,
        }
    }

    /// The smallest ULID of the window; [`Ulid::MAX`] if it is empty.
    pub const fn lower(self) -> Ulid {
        self.lower
    }

    /// The greatest ULID of the window; [`Ulid::NIL`] if it is empty.
    pub const fn upper(self) -> Ulid {
        self.upper
    }

    /// Whether the window contains no ULID.
    pub fn is_empty(self) -> bool {
        self.lower > self.upper
    }

    /// Whether the window contains the ULID.
    pub fn contains(self, ulid: Ulid) -> bool {
        self.lower <= ulid && ulid <= self.upper
    }
}

/// The fraction of a column's values that are in a window, from 0 to 1. `None` if `histogram` has
/// fewer than two bounds.
///
/// `histogram` is what PostgreSQL's statistics have as `histogram_bounds`: the bounds of buckets
/// with the same number of values each, in ascending order. `read` converts a bound to a ULID.
/// Values are assumed to be evenly distributed within a bucket, as ULIDs of a steady load are. If
/// the bounds are in another order, the result is unspecified, so a caller that does not know the
/// order must clamp it.
///
/// Rows that have come since the statistics were gathered may be beyond the bounds. So the fraction
/// of a window that reaches there is at least a hundredth of a bucket, the limit of PostgreSQL's
/// own `ineq_histogram_selectivity()`.
pub fn histogram_fraction<T>(
    window: Window,
    histogram: &[T],
    read: impl Fn(&T) -> Ulid,
) -> Option<f64> {
    let [first, .., last] = histogram else {
        return None;
    };
    if window.is_empty() {
        return Some(0.0);
    }
    let below = |value| fraction_below(histogram, &read, value);
    let fraction = below(window.upper) - below(window.lower);
    let is_within = read(first) <= window.lower && window.upper <= read(last);
    let buckets = (histogram.len() - 1) as f64;
    let least = if is_within { 0.0 } else { 0.01 / buckets };
    Some(fraction.max(least))
}

/// The fraction of the column's values below this one, by the histogram.
fn fraction_below<T>(histogram: &[T], read: impl Fn(&T) -> Ulid, value: Ulid) -> f64 {
    let buckets = (histogram.len() - 1) as f64;
    // The number of bounds at or below the value.
    match histogram.partition_point(|bound| read(bound) <= value) {
        0 => 0.0,
        n if n == histogram.len() => 1.0,
        n => {
            let [low, high, value] =
                [read(&histogram[n - 1]), read(&histogram[n]), value].map(|ulid| ulid.0);
            // low <= value < high. If the bounds are not in ascending order, the standard library
            // does not specify the result of partition_point().
            //
            // 128 bits are more than a float holds, so only the differences are converted.
            let within = (value - low) as f64 / (high - low) as f64;
            ((n - 1) as f64 + within) / buckets
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_469_918_176_385;
    const US: i128 = MS as i128 * 1000;

    #[test]
    fn a_fraction_is_interpolated_within_the_histogram() {
        // Ten buckets of a second each.
        let histogram: Vec<_> = (0..=10)
            .map(|i| Ulid::lower_bound(Time::from_unix_ms(MS + i * 1000).unwrap()))
            .collect();
        let fraction_of = |from: i128, to: i128| {
            let window = Window::from_unix_us(Included(US + from * 1000), Excluded(US + to * 1000));
            histogram_fraction(window, &histogram, |bound| *bound).unwrap()
        };
        for (from, to, expected) in [
            (0, 10_000, 1.0),
            (0, 1000, 0.1),
            (500, 1500, 0.1),
            (2500, 2510, 0.001),
            (-5000, 5000, 0.5),
            (9000, 99_000, 0.1),
            (2500, 2500, 0.0),
            (-5000, -1000, 0.001),
            (20_000, 30_000, 0.001),
            (9_999, 10_001, 0.001),
        ] {
            assert!(
                (fraction_of(from, to) - expected).abs() < 1e-6,
                "{from} {to} {}",
                fraction_of(from, to)
            );
        }
        assert_eq!(
            histogram_fraction(Window::EMPTY, &histogram, |bound| *bound),
            Some(0.0)
        );
        let all = Window::from_unix_us(Unbounded, Unbounded);
        assert_eq!(
            [0, 1, 2].map(|n| histogram_fraction(all, &histogram[..n], |bound| *bound)),
            [None, None, Some(1.0)]
        );
        // In any order.
        let histogram: Vec<_> = (0..11).map(|i| histogram[i * 7 % 11]).collect();
        for window in (-1..11)
            .map(|i| Window::from_unix_us(Included(US + i * 900_000), Excluded(US + 5_000_000)))
        {
            let fraction = histogram_fraction(window, &histogram, |bound| *bound).unwrap();
            assert!((0.0..=1.0).contains(&fraction), "{window:?} {fraction}");
        }
    }
}
