//! Options whose values are names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// The names that an option takes, each with its help and its value.
pub type Names<T> = &'static [(&'static str, &'static str, T)];

/// Returns a parser of these names.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    names: Names<T>,
) -> impl TypedValueParser<Value = T> {
    let possible = names.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(possible).try_map(|text| {
        let found = names.iter().find(|(name, ..)| *name == text);
        found.map(|(.., value)| *value).ok_or("not one of the names")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};

    #[test]
    fn a_name_stands_for_its_value() {
        let parser = one_of(&[("one", "The first", 1), ("two", "The second", 2)]);
        let command = Command::new("test").arg(Arg::new("number").value_parser(parser));
        let number = |word| {
            let matches = command.clone().try_get_matches_from(["test", word]).ok()?;
            matches.get_one::<i32>("number").copied()
        };
        assert_eq!((number("one"), number("two"), number("three")), (Some(1), Some(2), None));
    }
}
