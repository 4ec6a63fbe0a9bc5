//! The three tasks that read a part of the document, as types: `json.h` has their checksums and how
//! their answers are written.

use serde::Deserialize;
use std::borrow::Cow;
use std::fmt::Write;
use tiebreak_abi::Sink;

fn write(sink: Option<&mut Sink<'_>>, lines: impl FnOnce(&mut String)) {
    if let Some(sink) = sink {
        let mut text = String::new();
        lines(&mut text);
        sink.bytes(text.as_bytes());
    }
}

#[derive(Deserialize)]
pub struct Tweets<'d> {
    #[serde(borrow)]
    statuses: Vec<Tweet<'d>>,
}

#[derive(Deserialize)]
struct Tweet<'d> {
    #[serde(borrow)]
    created_at: Text<'d>,
    id: u64,
    #[serde(borrow)]
    text: Text<'d>,
    in_reply_to_status_id: Option<u64>,
    #[serde(borrow)]
    user: User<'d>,
    retweet_count: u64,
    favorite_count: u64,
}

#[derive(Deserialize)]
struct User<'d> {
    id: u64,
    #[serde(borrow)]
    screen_name: Text<'d>,
}

/// A string, borrowed from the document where it has no escape.
#[derive(Deserialize)]
struct Text<'d>(#[serde(borrow)] Cow<'d, str>);

impl Text<'_> {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }
    fn hexadecimal(&self, text: &mut String) {
        for byte in self.0.bytes() {
            let _ = write!(text, "{byte:02x}");
        }
        text.push(' ');
    }
}

impl Tweets<'_> {
    pub fn answered(&self, sink: Option<&mut Sink<'_>>) -> u64 {
        write(sink, |text| {
            for tweet in &self.statuses {
                tweet.created_at.hexadecimal(text);
                let _ = write!(text, "{} ", tweet.id);
                tweet.text.hexadecimal(text);
                let reply = tweet.in_reply_to_status_id.unwrap_or(0);
                let _ = write!(text, "{reply} {} ", tweet.user.id);
                tweet.user.screen_name.hexadecimal(text);
                let _ = writeln!(text, "{} {}", tweet.retweet_count, tweet.favorite_count);
            }
        });
        let sums = self.statuses.iter().map(|tweet| {
            let strings = [&tweet.created_at, &tweet.text, &tweet.user.screen_name];
            let numbers = [tweet.id, tweet.user.id, tweet.retweet_count, tweet.favorite_count];
            strings
                .map(Text::bytes)
                .into_iter()
                .chain(numbers)
                .fold(tweet.in_reply_to_status_id.unwrap_or(0), u64::wrapping_add)
        });
        sums.fold(0, u64::wrapping_add)
    }
}

/// The identities of the users, as they come.
#[derive(Deserialize)]
pub struct Ids {
    statuses: Vec<Status>,
}

#[derive(Deserialize)]
struct Status {
    user: Id,
    retweeted_status: Option<Original>,
}

#[derive(Deserialize)]
struct Original {
    user: Id,
}

#[derive(Deserialize)]
struct Id {
    id: u64,
}

impl Ids {
    pub fn answered(&self, sink: Option<&mut Sink<'_>>) -> u64 {
        let mut ids = Vec::new();
        for status in &self.statuses {
            ids.push(status.user.id);
            ids.extend(status.retweeted_status.iter().map(|original| original.user.id));
        }
        let sum = ids.iter().copied().fold(0, u64::wrapping_add);
        write(sink, |text| {
            ids.sort_unstable();
            ids.dedup();
            for id in &ids {
                let _ = writeln!(text, "{id}");
            }
        });
        sum
    }
}

#[derive(Deserialize)]
pub struct Coordinates {
    coordinates: Vec<Point>,
}

#[derive(Deserialize)]
struct Point {
    x: f64,
    y: f64,
    z: f64,
}

impl Coordinates {
    pub fn answered(&self, sink: Option<&mut Sink<'_>>) -> u64 {
        let bits = |point: &Point| [point.x.to_bits(), point.y.to_bits(), point.z.to_bits()];
        write(sink, |text| {
            for [x, y, z] in self.coordinates.iter().map(bits) {
                let _ = writeln!(text, "{x:016x} {y:016x} {z:016x}");
            }
        });
        self.coordinates.iter().flat_map(bits).fold(0, u64::wrapping_add)
    }
}
