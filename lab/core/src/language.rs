//! Languages of contestants, from the table in `languages.toml`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

/// A language in which a contestant is written: a line of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Language(&'static Entry);

/// The table's entry for a language.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The word in study.toml and in tables.
    pub name: String,
    /// Other names: of the language, its programs and its file types.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The compiler or interpreter, unless a study names another.
    pub program: String,
    /// The words that ask the program for its version: `--version` if the table gives none.
    #[serde(default = "ask_for_version")]
    pub version: Vec<String>,
    /// The words that ask an interpreter for its own file, and for what else a script that starts
    /// it may change: version managers have such scripts. None if the language has no way to ask.
    #[serde(default)]
    pub itself: Vec<String>,
    /// An example of a source's name.
    pub example: String,
    /// The advice for a user who names several sources where only one is allowed.
    pub one_source: Option<String>,
    /// Flags, each with the name of the language standard that it asks for.
    #[serde(default)]
    pub standards: Vec<(String, String)>,
    /// The words that optimise, for what sets no level: none where the program has no levels.
    #[serde(default)]
    pub optimised: Vec<String>,
    /// The words for the compiler in the dimensions of a contestant.
    #[serde(default)]
    pub dimensions: Dimensions,
    /// Environment variables of the programs that it runs.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The product that its contestants are built into, and how.
    pub makes: Makes,
}

/// What becomes of an entry of a contestant's lists: words for the compiler, in which `{}` is the
/// entry. A language has no list whose words are empty.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dimensions {
    /// Of a level of optimisation, without its `-O`.
    pub levels: Vec<String>,
    /// Of a standard.
    pub standards: Vec<String>,
    /// Of an instruction set.
    pub march: Vec<String>,
}

/// The product that contestants of a language are built into. Commands have names in braces, as the
/// table explains.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Makes {
    /// Objects that are linked for each placement and run in a worker.
    SharedLibrary {
        /// The way in which sources become objects.
        compile: Compile,
        /// The word for a study whose kernels may be inlined.
        inlined: Option<String>,
        /// The way in which objects become a library.
        link: Link,
    },
    /// A process that follows the runner protocol.
    Runner {
        /// The files that a build folder contains before the build begins, by name.
        #[serde(default)]
        files: BTreeMap<String, String>,
        /// The commands that fill the folder, in order; none for an interpreter.
        #[serde(default)]
        build: Vec<Vec<String>>,
        /// The command of the process.
        run: Vec<String>,
    },
}

/// The way in which sources become objects.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compile {
    /// A command for each source, which makes one object each.
    EachSource(Vec<String>),
    /// A command for all sources, which makes one object.
    AllSources(Vec<String>),
    /// A Rust source, compiled by rustc alone.
    Rustc,
    /// A Cargo package with its own dependencies.
    Cargo,
}

/// The way in which objects become a library.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The program that links, and its first words.
    pub command: Vec<String>,
    /// The words that pass a word, `{word}`, to the linker itself; by default those of `cc`.
    #[serde(default = "pass_as_cc_does")]
    pub pass: Vec<String>,
    /// The word before the name of the output; by default that of `cc`.
    #[serde(default = "name_output_as_cc_does")]
    pub output: String,
    /// The word that selects the linker gold, if the program can.
    pub gold: Option<String>,
    /// The last words of the command.
    #[serde(default)]
    pub libraries: Vec<String>,
}

fn pass_as_cc_does() -> Vec<String> {
    ["-Xlinker", "{word}"].map(str::to_owned).to_vec()
}

fn name_output_as_cc_does() -> String {
    "-o".to_owned()
}

fn ask_for_version() -> Vec<String> {
    vec!["--version".to_owned()]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    language: Vec<Entry>,
    packages: BTreeMap<String, String>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("languages.toml")).expect("a test reads the same table")
});

impl Language {
    /// Returns all languages, in the order of the table.
    pub fn all() -> impl Iterator<Item = Language> {
        TABLE.language.iter().map(Language)
    }

    /// Returns the language with this name in study.toml.
    pub fn named(name: &str) -> Option<Language> {
        Language::all().find(|language| language.name() == name)
    }

    /// Returns the language that a user means by this name, in upper or lower case.
    pub fn meant(name: &str) -> Option<Language> {
        let name = name.to_lowercase();
        Language::all().find(|language| language.0.aliases.contains(&name))
    }

    /// Returns the language of a source with this name, by the ending: that of the table's example,
    /// or another name of the language.
    pub fn of_file(name: &str) -> Option<Language> {
        let (_, ending) = name.rsplit_once('.')?;
        Language::all().find(|Language(entry)| {
            let example = entry.example.rsplit_once('.').map(|(_, ending)| ending);
            example == Some(ending) || entry.aliases.iter().any(|alias| alias == ending)
        })
    }

    /// Returns the word in study.toml and in tables.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// Returns the table's entry for it.
    pub fn entry(self) -> &'static Entry {
        self.0
    }

    /// Returns the language whose compiler or interpreter this is, if a study names no other.
    pub fn of_program(program: &str) -> Option<Language> {
        Language::all().find(|language| language.0.program == program)
    }

    /// Returns the command that asks a program of this language for its version.
    pub fn version_command(self, program: &str) -> Vec<String> {
        [&[program.to_owned()], self.0.version.as_slice()].concat()
    }

    /// Returns whether contestants run in a process of their own that keeps running, not in a
    /// worker.
    pub fn is_runner(self) -> bool {
        matches!(self.0.makes, Makes::Runner { .. })
    }

    /// Returns whether its one source is the folder of a Cargo package.
    pub fn is_package(self) -> bool {
        matches!(self.0.makes, Makes::SharedLibrary { compile: Compile::Cargo, .. })
    }

    /// Returns the package that provides a program, without a version: its name in Debian 12, a
    /// command, or an address. Returns `None` if the package has the program's name.
    pub fn package_of(program: &str) -> Option<&'static str> {
        TABLE.packages.get(program).map(String::as_str)
    }
}

/// The first language of the table.
impl Default for Language {
    fn default() -> Language {
        Language(&TABLE.language[0])
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Language {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Language {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Language::named(&name).ok_or_else(|| {
            de::Error::custom(format!("this tiebreak knows no language called '{name}'"))
        })
    }
}

/// A compiler or an interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The name: `gcc`.
    pub name: String,
    /// The first line of its version output; absent if it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The reason why it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// All names that may stand in braces in the table.
    const PLACES: [&str; 13] = [
        "program", "flags", "sources", "source", "stem", "folder", "out", "sdk", "object", "kit",
        "standard", "inlined", "word",
    ];

    #[test]
    fn names_are_unique_and_places_are_known() {
        let mut names = BTreeSet::new();
        for language in Language::all() {
            let entry = language.entry();
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert!(names.insert(name.clone()), "{name} stands twice");
                assert_eq!(name.to_lowercase(), *name);
            }
            for place in places(&format!("{:?}", entry.makes)) {
                assert!(PLACES.contains(&place.as_str()), "{language:?}: {{{place}}}");
            }
        }
    }

    /// Returns the words in braces of a text. Braces around anything else are part of the text.
    fn places(text: &str) -> Vec<String> {
        let ends = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
        fn is_word(word: &&str) -> bool {
            !word.is_empty() && word.chars().all(char::is_alphanumeric)
        }
        ends.map(|(word, _)| word).filter(is_word).map(str::to_owned).collect()
    }

    #[test]
    fn languages_are_found_by_name_and_by_what_is_meant() {
        assert_eq!(Language::named("c++").map(Language::name), Some("c++"));
        assert_eq!(Language::named("C++"), None);
        assert_eq!(Language::meant("NodeJS"), Language::named("javascript"));
        assert_eq!(Language::package_of("clang++"), Some("clang"));
        assert!(Language::named("go").is_some_and(Language::is_runner));
        assert!(Language::named("cargo").is_some_and(Language::is_package));
    }

    #[test]
    fn json_has_the_name() {
        let go = Language::named("go");
        assert_eq!(serde_json::to_string(&go).unwrap(), "\"go\"");
        assert_eq!(serde_json::from_str::<Option<Language>>("\"go\"").unwrap(), go);
        let error = serde_json::from_str::<Language>("\"cobol\"").unwrap_err().to_string();
        assert!(error.starts_with("this tiebreak knows no language called 'cobol'"), "{error}");
    }
}
