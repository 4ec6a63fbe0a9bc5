//! Bytes in JSON: as hexadecimal text.

/// The form of a list of byte strings, for `#[serde(with = "crate::hex::list")]`.
pub mod list {
    use crate::quantity::hexadecimal;
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    /// Writes a list of texts.
    ///
    /// # Errors
    /// Fails if the serializer fails.
    pub fn serialize<S: Serializer>(list: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(|bytes| hexadecimal(bytes)))
    }

    /// Reads a list of texts.
    ///
    /// # Errors
    /// Fails if one is not hexadecimal.
    pub fn deserialize<'de, D: Deserializer<'de>, L: From<Vec<Vec<u8>>>>(
        deserializer: D,
    ) -> Result<L, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        let bytes = texts.iter().map(|text| {
            bytes(text).ok_or_else(|| D::Error::custom("bytes must be pairs of hexadecimal digits"))
        });
        bytes.collect::<Result<Vec<_>, _>>().map(L::from)
    }

    fn bytes(text: &str) -> Option<Vec<u8>> {
        let digits = text.bytes().map(|digit| char::from(digit).to_digit(16));
        let digits = digits.collect::<Option<Vec<u32>>>()?;
        let pairs = digits.chunks(2).map(|pair| match pair {
            [high, low] => u8::try_from(high << 4 | low).ok(),
            _ => None,
        });
        pairs.collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn bytes_come_back() {
            let list = vec![vec![], vec![0, 1, 0x7f, 0xff]];
            let written = serialize(&list, serde_json::value::Serializer).unwrap();
            assert_eq!(written, serde_json::json!(["", "00017fff"]));
            assert_eq!(deserialize::<_, Vec<Vec<u8>>>(written).unwrap(), list);
            for wrong in ["0", "zz", "\u{e9}\u{e9}"] {
                let read = deserialize::<_, Vec<Vec<u8>>>(serde_json::json!([wrong]));
                assert!(read.is_err(), "{wrong}");
            }
        }
    }
}
