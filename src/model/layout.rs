//! How the dashboard was left: what is remembered for the next start. Written as JSON; what can't be read counts as not
//! remembered, field by field, since nothing depends on it.

use chrono::NaiveDate;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

/// The remembered layout of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layout {
    /// Columns of the jobs list with the detail at its right.
    #[serde(deserialize_with = "readable")]
    pub columns: Option<u16>,
    /// Rows of the jobs list with the detail below.
    #[serde(deserialize_with = "readable")]
    pub rows: Option<u16>,
    /// Whether the detail is hidden.
    #[serde(deserialize_with = "readable")]
    pub hidden: bool,
    /// The screen that was shown last.
    #[serde(deserialize_with = "readable")]
    pub place: PanePlace,
    #[serde(deserialize_with = "readable")]
    pub jobs: JobsLayout,
    #[serde(deserialize_with = "readable")]
    pub views: ViewsLayout,
}

/// How the jobs were listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobsLayout {
    /// What was typed into the filter.
    #[serde(deserialize_with = "readable")]
    pub filter: String,
    /// The saved filter that held, by its name.
    #[serde(deserialize_with = "readable")]
    pub tab: Option<String>,
    /// The order, where it was not the usual one.
    #[serde(deserialize_with = "readable")]
    pub sort: Option<SortBy>,
    /// Whether dismissed jobs were shown.
    #[serde(deserialize_with = "readable")]
    pub dismissed: bool,
}

/// How the page views were listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewsLayout {
    /// The range, where it was not the usual one.
    #[serde(deserialize_with = "readable")]
    pub range: Option<ShownScreen>,
    /// Rows per page, where it was not the usual number.
    #[serde(deserialize_with = "readable")]
    pub limit: Option<u32>,
    /// The metric of bars and rank, where it was not the usual one.
    #[serde(deserialize_with = "readable")]
    pub metric: Option<String>,
    /// Whether the bars were logarithmic.
    #[serde(deserialize_with = "readable")]
    pub log: bool,
    /// Whether pages were folded into folders.
    #[serde(deserialize_with = "readable")]
    pub folded: bool,
    /// The order of all pages, where it was not the usual one.
    #[serde(deserialize_with = "readable")]
    pub sort: Option<SortBy>,
    /// The filter of all pages.
    #[serde(deserialize_with = "readable")]
    pub filter: String,
}

/// A screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PanePlace {
    #[default]
    Jobs,
    Views,
    Log,
}

/// A range as it was chosen: by a preset's name, which moves with the days, or as days of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShownScreen {
    Preset(String),
    /// First and last day.
    Days(NaiveDate, NaiveDate),
}

/// An order by its name on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SortBy {
    pub by: String,
    pub reversed: bool,
}

/// A field of another version that means nothing here is as one that is not there.
fn readable<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(from: D) -> Result<T, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

impl Layout {
    /// Reads what [`Layout::text`] wrote; the usual layout where it can't be read.
    pub fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// As JSON.
    pub fn text(&self) -> String {
        // Nothing in it can fail to be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let day = |text: &str| text.parse::<NaiveDate>().expect("a day");
        let sort = Some(SortBy { by: "age".to_owned(), reversed: true });
        let layout = Layout {
            columns: Some(70),
            rows: Some(20),
            hidden: true,
            place: PanePlace::Log,
            jobs: JobsLayout {
                filter: "s:failed \"日".to_owned(),
                tab: Some("Mine".to_owned()),
                sort: sort.clone(),
                dismissed: true,
            },
            views: ViewsLayout {
                range: Some(ShownScreen::Days(day("2026-01-02"), day("2026-02-01"))),
                limit: Some(25),
                metric: Some("AI".to_owned()),
                log: true,
                folded: true,
                sort,
                filter: "/guides".to_owned(),
            },
        };
        assert_eq!(Layout::parse(&layout.text()), layout);
        assert_eq!(Layout::parse(&Layout::default().text()), Layout::default());
    }

    #[test]
    fn what_another_version_wrote_is_passed_over_and_the_rest_holds() {
        let odd = "{\"columns\":50,\"rows\":\"all\",\"place\":\"moon\",\"new\":{},\"views\":{\"range\":{\"preset\":\"30d\"},\"log\":3},\"jobs\":[]}";
        let read = Layout::parse(odd);
        assert_eq!((read.columns, read.rows, read.place), (Some(50), None, PanePlace::Jobs));
        assert_eq!(
            read.views,
            ViewsLayout { range: Some(ShownScreen::Preset("30d".to_owned())), ..ViewsLayout::default() }
        );
        assert_eq!(read.jobs, JobsLayout::default());
        for nonsense in ["", "no JSON", "[]", "7", "{\"columns\":"] {
            assert_eq!(Layout::parse(nonsense), Layout::default(), "{nonsense:?}");
        }
    }
}
