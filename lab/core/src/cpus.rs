//! Sets of CPUs as text.

/// Writes a sorted list of CPUs as the kernel does: `0-3,7`.
pub fn format_list(cpus: &[usize]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = cpus;
    while let Some(&first) = rest.first() {
        let run = rest.iter().enumerate().take_while(|(i, cpu)| **cpu == first + i).count();
        let last = rest[run - 1];
        parts.push(if run == 1 { first.to_string() } else { format!("{first}-{last}") });
        rest = &rest[run..];
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_short() {
        for (cpus, text) in [(&[0, 1, 2, 3, 7][..], "0-3,7"), (&[1, 2, 5], "1-2,5"), (&[], "")] {
            assert_eq!(format_list(cpus), text);
        }
    }
}
