//! PAX extended header records (POSIX pax, `LEN KEY=VALUE\n`).
//!
//! Own code, because the `tar` crate splits records at line ends: extended attributes contain arbitrary bytes, and the
//! length delimits a record.

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Keyword, such as `path` or `GNU.sparse.realsize`.
    pub key: &'a [u8],
    /// Value, any bytes.
    pub value: &'a [u8],
}

/// The records of one header, in order. A malformed record is `Err` with its offset and ends the list.
pub struct Records<'a> {
    bytes: &'a [u8],
    offset: usize,
}

/// The records in the body of an extension header.
pub fn records(bytes: &[u8]) -> Records<'_> {
    Records { bytes, offset: 0 }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.offset..)?;
        // Some writers pad the body with zeros.
        if rest.iter().all(|byte| *byte == 0) {
            return None;
        }
        let at = self.offset;
        let Some((record, length)) = first(rest) else {
            self.offset = self.bytes.len() + 1;
            return Some(Err(at));
        };
        self.offset += length;
        Some(Ok(record))
    }
}

fn first(bytes: &[u8]) -> Option<(Record<'_>, usize)> {
    let space = bytes.iter().take(20).position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(&bytes[..space]).ok()?.parse().ok()?;
    let record = bytes.get(space + 1..length)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((Record { key: &record[..equals], value: &record[equals + 1..] }, length))
}

/// A value that is a plain decimal number.
fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// A time value, seconds with an optional fraction, rounded down.
fn seconds(value: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(value).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = whole.parse().ok()?;
    let below = whole.starts_with('-') && fraction.bytes().any(|byte| byte != b'0');
    if below { seconds.checked_sub(1) } else { Some(seconds) }
}

/// Overrides of extension headers for the member that follows, GNU long names included.
#[derive(Default)]
pub(super) struct Extensions {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) gnu_path: Option<Vec<u8>>,
    pub(super) gnu_link: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) uid: Option<u64>,
    pub(super) gid: Option<u64>,
    pub(super) mtime: Option<i64>,
    pub(super) sparse_name: Option<Vec<u8>>,
    pub(super) sparse_size: Option<u64>,
}

impl Extensions {
    /// Applies the records of one header; the error describes the fault.
    pub(super) fn apply(&mut self, body: &[u8]) -> Result<(), String> {
        for record in records(body) {
            let Record { key, value } =
                record.map_err(|offset| format!("PAX record at +{offset} is malformed"))?;
            let checked = || {
                let key = crate::base::text::escape(key);
                number(value).ok_or_else(|| format!("PAX record {key} is not a number"))
            };
            match key {
                // An empty value removes the record: the field of the header applies again.
                b"path" => self.path = Some(value.to_vec()).filter(|value| !value.is_empty()),
                b"linkpath" => self.link = Some(value.to_vec()).filter(|value| !value.is_empty()),
                b"size" if !value.is_empty() => self.size = Some(checked()?),
                b"uid" => self.uid = number(value),
                b"gid" => self.gid = number(value),
                b"mtime" => self.mtime = seconds(value),
                b"GNU.sparse.name" if !value.is_empty() => self.sparse_name = Some(value.to_vec()),
                b"GNU.sparse.size" | b"GNU.sparse.realsize" => self.sparse_size = Some(checked()?),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Record, records, seconds};

    #[test]
    fn records_go_by_length() {
        let body = b"11 path=ab\n23 SCHILY.xattr.a=x\ny=\n\0\0";
        let all: Vec<_> = records(body).collect();
        assert_eq!(all[0], Ok(Record { key: b"path", value: b"ab" }));
        assert_eq!(all[1], Ok(Record { key: b"SCHILY.xattr.a", value: b"x\ny=" }));
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn a_lying_length_ends_the_list() {
        for body in [&b"99 path=ab\n"[..], b"x", b"3 a", b"18446744073709551615 a=b\n", b"0 a=b\n", b"2 a=\n"]
        {
            let all: Vec<_> = records(body).collect();
            assert_eq!(all, [Err(0)], "{body:?}");
        }
    }

    #[test]
    fn times_round_down() {
        assert_eq!(seconds(b"1700000000.9"), Some(1_700_000_000));
        assert_eq!(seconds(b"-1.5"), Some(-2));
        assert_eq!(seconds(b"soon"), None);
    }
}
