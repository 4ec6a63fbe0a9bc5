//! Parameters: `{NAME}` in a command or an option stands for a value.

/// Returns a text with the values in the places of their names. What a value holds is not filled
/// in turn. From where it gets longer than `most_bytes` on, the text stays as it is.
pub fn fill(text: &str, values: &[(String, String)], most_bytes: usize) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{').filter(|_| filled.len() <= most_bytes) {
        filled += &rest[..start];
        rest = &rest[start..];
        let here = values.iter().find_map(|(name, value)| {
            Some((value, rest[1..].strip_prefix(name.as_str())?.strip_prefix('}')?))
        });
        let (value, after) = here.map_or(("{", &rest[1..]), |(value, after)| (value, after));
        filled += value;
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_gets_the_value_of_its_name() {
        let values = [("n", "5"), ("name", "{n}")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        let check = |text: &str, expected: &str| {
            assert_eq!(fill(text, &values, usize::MAX), expected);
        };
        check("head -{n} {n}{name}", "head -5 5{n}");
        check("awk '{ print } {m} {{n}} {", "awk '{ print } {m} {5} {");
        check("", "");
        assert_eq!(fill("{n}{n}{n}{n}", &values, 1), "55{n}{n}");
    }
}
