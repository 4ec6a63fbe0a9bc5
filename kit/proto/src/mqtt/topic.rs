//! Names of topics, filters of subscriptions, and which match (5.0 and 3.1.1 section 4.7).

use super::{Error, Text};
use crate::writer::Writer;

/// What a shared subscription's filter begins with (5.0 section 4.8.2).
const SHARE: &str = "$share/";

/// The name of a topic: a text of at least one character, without `+` and `#`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TopicName<'a>(Text<'a>);

impl<'a> TopicName<'a> {
    /// Checks a name. Cost: linear.
    ///
    /// # Errors
    /// Fails if it is empty, too long, or has a wildcard or U+0000.
    pub fn new(name: &'a str) -> Result<Self, Error> {
        TopicName::from_text(Text::checked(name, "topic name")?, "topic name")
    }

    pub(super) fn from_text(text: Text<'a>, what: &'static str) -> Result<Self, Error> {
        if text.as_str().is_empty() {
            return Err(Error::Empty { what });
        }
        if text.as_str().bytes().any(|byte| matches!(byte, b'+' | b'#')) {
            return Err(Error::TopicWildcard { what });
        }
        Ok(TopicName(text))
    }

    /// Returns the name.
    pub fn as_str(self) -> &'a str {
        self.0.as_str()
    }

    pub(super) fn write(self, writer: &mut Writer<'_>) {
        self.0.write(writer);
    }
}

/// The filter of a subscription: a text of at least one character, in which `+` stands for a whole
/// level and `#`, as the last level, for it and all below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TopicFilter<'a>(Text<'a>);

/// A shared subscription, `$share/NAME/FILTER` (5.0 section 4.8.2): each message goes to one of the
/// clients that share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared<'a> {
    /// The name of the group.
    pub name: &'a str,
    /// What its messages match.
    pub filter: TopicFilter<'a>,
}

impl<'a> TopicFilter<'a> {
    /// Checks a filter. Cost: linear.
    ///
    /// # Errors
    /// Fails if it is empty or too long, has U+0000, or has a wildcard where none can be.
    pub fn new(filter: &'a str) -> Result<Self, Error> {
        TopicFilter::from_text(Text::checked(filter, "topic filter")?)
    }

    pub(super) fn from_text(text: Text<'a>) -> Result<Self, Error> {
        if text.as_str().is_empty() {
            return Err(Error::Empty { what: "topic filter" });
        }
        let mut levels = text.as_str().split('/');
        while let Some(level) = levels.next() {
            let is_last = levels.clone().next().is_none();
            let is_wildcard = level == "+" || (level == "#" && is_last);
            if !is_wildcard && level.contains(['+', '#']) {
                return Err(Error::FilterWildcard);
            }
        }
        Ok(TopicFilter(text))
    }

    /// Returns the filter.
    pub fn as_str(self) -> &'a str {
        self.0.as_str()
    }

    /// Returns the parts of a filter that begins with `$share/`, and nothing for others. Only
    /// version 5 has shared subscriptions; before, this was a filter like any other.
    ///
    /// # Errors
    /// Fails if no name of a group follows, or no filter after it.
    pub fn shared(self) -> Result<Option<Shared<'a>>, Error> {
        let Some(rest) = self.as_str().strip_prefix(SHARE) else { return Ok(None) };
        let (name, filter) = rest.split_once('/').ok_or(Error::Share)?;
        if name.is_empty() || name.contains(['+', '#']) || filter.is_empty() {
            return Err(Error::Share);
        }
        // The end of a filter is one: its wildcards stand where they stood.
        Ok(Some(Shared { name, filter: TopicFilter::new(filter)? }))
    }

    /// Returns whether messages of this topic match the filter. A wildcard in the first level
    /// matches no topic that begins with `$` (section 4.7.2). A shared subscription matches by the
    /// filter within it: see [`TopicFilter::shared`]. Cost: linear.
    ///
    /// ```
    /// use tiebreak_proto::mqtt::{TopicFilter, TopicName};
    ///
    /// let filter = TopicFilter::new("sport/+/score/#")?;
    /// assert!(filter.matches(TopicName::new("sport/tennis/score")?));
    /// assert!(!filter.matches(TopicName::new("sport/tennis")?));
    /// # Ok::<(), tiebreak_proto::mqtt::Error>(())
    /// ```
    pub fn matches(self, topic: TopicName<'_>) -> bool {
        let (filter, topic) = (self.as_str(), topic.as_str());
        if topic.starts_with('$') && filter.starts_with(['+', '#']) {
            return false;
        }
        let mut topic_levels = topic.split('/');
        for level in filter.split('/') {
            match (level, topic_levels.next()) {
                // It stands for the level above, too: `a/#` matches `a`.
                ("#", _) => return true,
                ("+", Some(_)) => {}
                (level, Some(topic_level)) if level == topic_level => {}
                _ => return false,
            }
        }
        topic_levels.next().is_none()
    }

    pub(super) fn write(self, writer: &mut Writer<'_>) {
        self.0.write(writer);
    }
}
