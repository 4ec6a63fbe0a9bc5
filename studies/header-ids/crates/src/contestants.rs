//! What finds a name, one a feature.

use crate::Text;

impl Text<'_> {
    fn name(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns the name in lower case in room for the longest, or `None` if it is longer.
    #[cfg(any(feature = "hashmap", feature = "match", feature = "ptr_hash"))]
    fn lowered<'room>(&self, room: &'room mut [u8; 64]) -> Option<&'room [u8]> {
        let lowered = room.get_mut(..self.length)?;
        for (to, byte) in lowered.iter_mut().zip(self.name()) {
            *to = byte.to_ascii_lowercase();
        }
        Some(lowered)
    }
}

/// Returns the names in lower case, in the order of the list.
#[cfg(any(feature = "hashmap", feature = "ptr_hash"))]
fn names() -> impl Iterator<Item = Vec<u8>> {
    let lines = include_str!("../../names.inc").lines();
    let names = lines.filter_map(|line| line.split('"').nth(1));
    names.map(|name| name.to_ascii_lowercase().into_bytes())
}

#[cfg(any(feature = "kit", feature = "kit-padded"))]
pub struct List;

#[cfg(any(feature = "kit", feature = "kit-padded"))]
impl List {
    pub fn new() -> List {
        List
    }

    pub fn id(&self, text: &Text<'_>) -> Option<usize> {
        use tiebreak_simd::names::HTTP;
        match text.bytes.first_chunk() {
            Some(bytes) if cfg!(feature = "kit-padded") => HTTP.find_padded(bytes, text.length),
            _ => HTTP.find(text.name()),
        }
    }
}

#[cfg(feature = "phf")]
pub struct List;

#[cfg(feature = "phf")]
impl List {
    pub fn new() -> List {
        List
    }

    pub fn id(&self, text: &Text<'_>) -> Option<usize> {
        use uncased::UncasedStr;
        static MAP: phf::Map<&'static UncasedStr, usize> =
            include!(concat!(env!("OUT_DIR"), "/phf.rs"));
        // Its map asks for text: names of headers are, but for one that is wrong.
        let text = std::str::from_utf8(text.name()).ok()?;
        MAP.get(UncasedStr::new(text)).copied()
    }
}

#[cfg(feature = "match")]
pub struct List;

#[cfg(feature = "match")]
impl List {
    pub fn new() -> List {
        List
    }

    pub fn id(&self, text: &Text<'_>) -> Option<usize> {
        let mut room = [0; 64];
        let text = text.lowered(&mut room)?;
        include!(concat!(env!("OUT_DIR"), "/match.rs"))
    }
}

#[cfg(feature = "hashmap")]
pub struct List(std::collections::HashMap<Vec<u8>, usize>);

#[cfg(feature = "hashmap")]
impl List {
    pub fn new() -> List {
        List(names().enumerate().map(|(id, name)| (name, id)).collect())
    }

    pub fn id(&self, text: &Text<'_>) -> Option<usize> {
        self.0.get(text.lowered(&mut [0; 64])?).copied()
    }
}

#[cfg(feature = "ptr_hash")]
pub struct List {
    hash: ptr_hash::DefaultPtrHash<ptr_hash::hash::Xxh3, &'static [u8]>,
    /// The name of each place of the hash, and its id.
    names: Vec<(&'static [u8], usize)>,
}

#[cfg(feature = "ptr_hash")]
impl List {
    pub fn new() -> List {
        let keys: Vec<&'static [u8]> = names().map(|name| &*name.leak()).collect();
        let hash = ptr_hash::PtrHash::new(&keys, ptr_hash::PtrHashParams::default());
        let mut names = vec![(&b""[..], 0); keys.len()];
        for (id, name) in keys.into_iter().enumerate() {
            names[hash.index(&name)] = (name, id);
        }
        List { hash, names }
    }

    pub fn id(&self, text: &Text<'_>) -> Option<usize> {
        fn place<'k>(
            hash: &ptr_hash::DefaultPtrHash<ptr_hash::hash::Xxh3, &'k [u8]>,
            text: &'k [u8],
        ) -> usize {
            hash.index(&text)
        }
        let mut room = [0; 64];
        let text = text.lowered(&mut room)?;
        let (name, id) = self.names[place(&self.hash, text)];
        (name == text).then_some(id)
    }
}
