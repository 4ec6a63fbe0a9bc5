//! A new study that works: what `tiebreak study new` writes.

/// The files, with `NAME` in place of the study's name.
const FILES: [(&str, &str); 7] = [
    ("study.toml", include_str!("skeleton/study.toml")),
    ("oracle.c", include_str!("skeleton/oracle.c")),
    ("sum.h", include_str!("skeleton/sum.h")),
    ("plain.c", include_str!("skeleton/plain.c")),
    ("unrolled.c", include_str!("skeleton/unrolled.c")),
    ("README.md", include_str!("skeleton/README.template")),
    ("BIAS.md", include_str!("skeleton/BIAS.template")),
];

/// Returns the files of a new study, each as (path in its folder, content): two contestants in C
/// that add bytes, their oracle, a claim, and the pages that every study has. It can be run as it
/// is, if there is a gcc.
pub fn skeleton(name: &str) -> Vec<(String, String)> {
    let file = |(path, content): (&str, &str)| (path.to_owned(), content.replace("NAME", name));
    FILES.into_iter().map(file).collect()
}
