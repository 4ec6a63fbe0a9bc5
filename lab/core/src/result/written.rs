//! Parts of results that have another shape in JSON: a list with values that are derived from it.
//!
//! For `#[serde(flatten, with = "written::contests")]`.

/// The contests, and how many of their claims ended in each way.
pub(super) mod contests {
    use crate::result::ContestResult;
    use crate::verdict::Verdict;
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::{Serialize, Serializer};
    use std::collections::BTreeMap;

    #[derive(serde::Serialize)]
    struct Written<'a> {
        counts: BTreeMap<String, usize>,
        contests: &'a [ContestResult],
    }

    pub(in crate::result) fn serialize<S: Serializer>(
        contests: &[ContestResult],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let claims = contests.iter().flat_map(|contest| &contest.run.verdicts);
        let counts = Verdict::ALL.map(|verdict| {
            let claims = claims.clone().filter(|claim| claim.verdict == verdict);
            (verdict.name().replace(' ', "_"), claims.count())
        });
        let counts = counts.into();
        Written { counts, contests }.serialize(serializer)
    }

    #[derive(serde::Deserialize)]
    struct Read {
        contests: Vec<ContestResult>,
    }

    pub(in crate::result) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<ContestResult>, D::Error> {
        Read::deserialize(deserializer).map(|read| read.contests)
    }
}

/// The published figures, and the first of them, which stood alone in old results.
pub(super) mod published {
    use crate::result::PublishedFigure;
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::{Serialize, Serializer};

    #[derive(serde::Serialize, serde::Deserialize)]
    struct First {
        table: usize,
        value: f64,
    }

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Written {
        published: Option<First>,
        published_ratio: Option<f64>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        published_figures: Vec<PublishedFigure>,
    }

    pub(in crate::result) fn serialize<S: Serializer>(
        figures: &[PublishedFigure],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let first = figures.first().map(|first| First { table: first.table, value: first.value });
        let written = Written {
            published: first,
            published_ratio: figures.iter().find_map(|figure| figure.ratio),
            published_figures: figures.to_vec(),
        };
        written.serialize(serializer)
    }

    pub(in crate::result) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PublishedFigure>, D::Error> {
        let Written { published, published_ratio, published_figures } =
            Written::deserialize(deserializer)?;
        let alone = published.filter(|_| published_figures.is_empty());
        let alone = alone.map(|First { table, value }| PublishedFigure {
            table,
            value,
            ratio: published_ratio,
        });
        Ok(published_figures.into_iter().chain(alone).collect())
    }
}
