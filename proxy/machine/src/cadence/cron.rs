//! A cron expression as sets of numbers, and the first civil time that is in all of them. Knows no
//! time zone.

use jiff::civil::{Date, DateTime, Time};
use jiff::{Span, ToSpan};

/// How far a day is looked for, in years: the rarest, the 29th of a February that is a given
/// weekday, comes after 40 years at the latest.
const YEARS_MAX: i64 = 50;
/// Where the search begins that finds out whether such a day comes at all.
const ANY_DAY: Date = jiff::civil::date(2000, 1, 1);

/// Small numbers, one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbers(pub u64);

impl Numbers {
    pub fn has(self, number: i8) -> bool {
        u32::try_from(number).is_ok_and(|number| self.0.checked_shr(number).unwrap_or(0) & 1 == 1)
    }

    pub fn add(&mut self, number: i8) {
        self.0 |= 1 << number;
    }

    /// The first one from `from` on.
    fn from(self, from: i8) -> Option<i8> {
        let rest = self.0.checked_shr(u32::try_from(from).ok()?)?;
        (rest != 0).then(|| from + rest.trailing_zeros() as i8)
    }

    fn first(self) -> i8 {
        self.from(0).expect("a field that was read names a number")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    pub seconds: Numbers,
    pub minutes: Numbers,
    pub hours: Numbers,
    pub months: Numbers,
    pub days: Days,
}

/// Days within a month.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Days {
    pub of_month: Numbers,
    /// The last day of the month as well.
    pub last: bool,
    /// From 0, a Sunday.
    pub weekdays: Numbers,
    /// The nth of a weekday, as `7 * (n - 1) + weekday`.
    pub nth_weekdays: Numbers,
    pub last_weekdays: Numbers,
    /// A day that one of the two fields names is enough.
    pub either: bool,
}

impl Cron {
    /// Whether it names no hours: it then follows time as it passes, whatever clocks show.
    pub fn is_of_every_hour(&self) -> bool {
        (0..24).all(|hour| self.hours.has(hour))
    }

    pub fn ever_comes(&self) -> bool {
        self.day_from(ANY_DAY).is_some()
    }

    /// The first civil time from `from` on, its fraction of a second left out.
    pub fn from(&self, from: DateTime) -> Option<DateTime> {
        let (day, time) = (from.date(), from.time());
        if self.is_day(day)
            && let Some(time) = self.time_from(time)
        {
            return Some(day.to_datetime(time));
        }
        let day = self.day_from(day.tomorrow().ok()?)?;
        Some(day.to_datetime(self.time_from(Time::midnight())?))
    }

    fn time_from(&self, from: Time) -> Option<Time> {
        let (hour, minute, second) = (from.hour(), from.minute(), from.second());
        let at = |hour, minute, second| Time::new(hour, minute, second, 0).ok();
        if self.hours.has(hour) {
            if self.minutes.has(minute)
                && let Some(second) = self.seconds.from(second)
            {
                return at(hour, minute, second);
            }
            if let Some(minute) = self.minutes.from(minute + 1) {
                return at(hour, minute, self.seconds.first());
            }
        }
        at(self.hours.from(hour + 1)?, self.minutes.first(), self.seconds.first())
    }

    fn day_from(&self, from: Date) -> Option<Date> {
        let end = from.checked_add(YEARS_MAX.years()).unwrap_or(Date::MAX);
        let mut day = from;
        while !self.is_day(day) {
            day = self.next_candidate(day).filter(|next| *next <= end)?;
        }
        Some(day)
    }

    /// Tomorrow, or what follows a month that has no such day.
    fn next_candidate(&self, day: Date) -> Option<Date> {
        let step: Span = if self.months.has(day.month()) { 1.day() } else { 1.month() };
        let base = if self.months.has(day.month()) { day } else { day.first_of_month() };
        base.checked_add(step).ok()
    }

    fn is_day(&self, day: Date) -> bool {
        self.months.has(day.month()) && self.days.has(day)
    }
}

impl Days {
    fn has(&self, date: Date) -> bool {
        let (day, days) = (date.day(), date.days_in_month());
        let weekday = date.weekday().to_sunday_zero_offset();
        let by_month = self.of_month.has(day) || (self.last && day == days);
        let by_week = self.weekdays.has(weekday)
            || self.nth_weekdays.has((day - 1) / 7 * 7 + weekday)
            || (self.last_weekdays.has(weekday) && day > days - 7);
        if self.either { by_month || by_week } else { by_month && by_week }
    }
}
