//! Reads and writes times in JSON as RFC 3339 in UTC with milliseconds. That is the service's format, and the store has
//! the same precision. Fields name this module in `#[serde(with = "…")]`.

use super::{Time, checked_rfc3339_time};
use chrono::{DateTime, SecondsFormat, SubsecRound as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// Formats a time as RFC 3339 in UTC with milliseconds.
pub fn json_time(time: Time) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A time that is written to JSON as [`json_time`] formats it.
#[derive(Debug, Clone, Copy)]
pub(super) struct JsonTime(pub(super) Time);

impl Serialize for JsonTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&json_time(self.0))
    }
}

impl<'de> Deserialize<'de> for JsonTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let time = DateTime::parse_from_rfc3339(&text).ok().and_then(|time| checked_rfc3339_time(time.to_utc()));
        match time {
            Some(time) => Ok(Self(time.trunc_subsecs(3))),
            None => Err(serde::de::Error::custom(format!("\"{text}\" is not a time like 2026-11-20T14:02:30Z"))),
        }
    }
}

pub(super) fn serialize<S: Serializer>(time: &Option<Time>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(JsonTime).serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Time>, D::Error> {
    Ok(Option::<JsonTime>::deserialize(deserializer)?.map(|JsonTime(time)| time))
}

/// Like [`serialize`] and [`deserialize`], but for a time that is not optional.
pub(super) mod required {
    use super::{JsonTime, Time};
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(in crate::model) fn serialize<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
        JsonTime(*time).serialize(serializer)
    }

    pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        JsonTime::deserialize(deserializer).map(|JsonTime(time)| time)
    }
}
