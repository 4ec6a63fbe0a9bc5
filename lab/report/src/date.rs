//! Dates in UTC, to the minute.

/// `2026-11-21 20:45` from milliseconds since 1970, by Howard Hinnant's `civil_from_days` (2013).
pub fn format_unix_ms(unix_ms: u64) -> String {
    let minutes = unix_ms / 60_000;
    let (days, minute_of_day) = ((minutes / 1440) as i64, minutes % 1440);
    // Years begin in March, so that a leap day is the last day of its year.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (minute_of_day / 60, minute_of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (ms, text) in [
            (0, "1970-01-01 00:00"),
            (951_782_400_000, "2000-02-29 00:00"),
            (1_795_293_900_000, "2026-11-21 20:45"),
            (4_102_444_799_000, "2099-12-31 23:59"),
        ] {
            assert_eq!(format_unix_ms(ms), text);
        }
    }
}
