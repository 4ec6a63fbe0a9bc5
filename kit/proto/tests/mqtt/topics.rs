//! Filters and topics: the examples of the standards (section 4.7), and all short ones compared
//! with the definition.

use tiebreak_proto::mqtt::{Error, TopicFilter, TopicName};

#[track_caller]
fn check(filter: &str, matching: &[&str], others: &[&str]) {
    let filter = TopicFilter::new(filter).unwrap();
    for (topics, expected) in [(matching, true), (others, false)] {
        for topic in topics {
            let found = filter.matches(TopicName::new(topic).unwrap());
            assert_eq!(found, expected, "{filter:?} and {topic}");
        }
    }
}

#[test]
fn examples_of_the_standards() {
    let player = "sport/tennis/player1";
    let below = ["sport/tennis/player1/ranking", "sport/tennis/player1/score/wimbledon"];
    check("sport/tennis/player1/#", &[player, below[0], below[1]], &["sport/tennis", "sport"]);
    check("sport/#", &["sport", player], &["sports", "a/sport"]);
    check("#", &["sport", "/finance", player], &["$SYS/monitor"]);
    check("sport/tennis/+", &[player, "sport/tennis/player2"], &[below[0], "sport/tennis"]);
    check("sport/+", &["sport/"], &["sport"]);
    check("+/+", &["/finance"], &["finance"]);
    check("/+", &["/finance"], &["finance"]);
    check("+", &["finance"], &["/finance", "$SYS"]);
    check("+/tennis/#", &["sport/tennis", player], &["a/b/tennis"]);
    check("+/monitor/Clients", &["a/monitor/Clients"], &["$SYS/monitor/Clients"]);
    check("$SYS/#", &["$SYS", "$SYS/monitor"], &["SYS", "a/$SYS"]);
    check("$SYS/monitor/+", &["$SYS/monitor/Clients"], &["$SYS/monitor"]);
    check("ACCOUNTS", &["ACCOUNTS"], &["Accounts"]);
    check("Accounts payable", &["Accounts payable"], &["Accounts"]);
    check("+/$a", &["b/$a"], &[]);
}

#[test]
fn filters_with_a_misplaced_wildcard_are_refused() {
    let refused =
        ["sport/tennis#", "sport/tennis/#/ranking", "sport+", "+a", "a/+b/c", "##", "#/", "+#"];
    for filter in refused {
        assert_eq!(TopicFilter::new(filter), Err(Error::FilterWildcard), "{filter}");
    }
    for filter in ["+", "#", "/", "+/tennis/#", "sport/+/player1", "//", "+/+", "/#", "a b"] {
        assert!(TopicFilter::new(filter).is_ok(), "{filter}");
    }
    assert_eq!(TopicFilter::new(""), Err(Error::Empty { what: "topic filter" }));
}

#[test]
fn shared_subscriptions_have_a_name_and_a_filter() {
    for filter in ["a", "$share", "$shared/g/a", "$SHARE/g/a", "a/$share/g"] {
        assert_eq!(TopicFilter::new(filter).unwrap().shared(), Ok(None), "{filter}");
    }
    for filter in ["$share/", "$share/g", "$share/g/", "$share//a", "$share/+/a", "$share/#"] {
        assert_eq!(TopicFilter::new(filter).unwrap().shared(), Err(Error::Share), "{filter}");
    }
    for (filter, name, inner) in [
        ("$share/consumer1/sport/tennis/+", "consumer1", "sport/tennis/+"),
        ("$share/g//finance", "g", "/finance"),
        ("$share/g/#", "g", "#"),
    ] {
        let shared = TopicFilter::new(filter).unwrap().shared().unwrap().unwrap();
        assert_eq!((shared.name, shared.filter.as_str()), (name, inner));
    }
}

/// The definition, level by level.
fn matches(filter: &[&str], topic: &[&str]) -> bool {
    match (filter, topic) {
        (["#"], _) => true,
        (["+", filter @ ..], [_, topic @ ..]) => matches(filter, topic),
        ([a, filter @ ..], [b, topic @ ..]) => a == b && matches(filter, topic),
        (filter, topic) => filter.is_empty() && topic.is_empty(),
    }
}

/// All texts of at most five of these characters.
fn texts(characters: &[char]) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut from = 0;
    for _ in 0..5 {
        let longer = texts[from..].to_vec();
        from = texts.len();
        for text in longer {
            texts.extend(characters.iter().map(|c| format!("{text}{c}")));
        }
    }
    texts
}

#[test]
fn all_short_filters_match_by_the_definition() {
    let topics = texts(&['a', '$', '/']);
    let topics: Vec<_> = topics.iter().filter_map(|text| TopicName::new(text).ok()).collect();
    let mut counts = [0, 0];
    for text in texts(&['a', '$', '/', '+', '#']) {
        let levels: Vec<&str> = text.split('/').collect();
        let is_wrong = |level: &&str| level.len() > 1 && level.contains(['+', '#']);
        let valid = !text.is_empty()
            && !levels.iter().any(is_wrong)
            && !levels[..levels.len() - 1].contains(&"#");
        let filter = TopicFilter::new(&text);
        assert_eq!(filter.is_ok(), valid, "{text}");
        let Ok(filter) = filter else { continue };
        for topic in &topics {
            let parts: Vec<&str> = topic.as_str().split('/').collect();
            let hidden = topic.as_str().starts_with('$') && ["+", "#"].contains(&levels[0]);
            let expected = !hidden && matches(&levels, &parts);
            assert_eq!(filter.matches(*topic), expected, "{text} {topic:?}");
            counts[usize::from(expected)] += 1;
        }
    }
    assert!(counts[0] > 10_000 && counts[1] > 1000, "{counts:?}");
}
