//! The dashboard's layout, saved as JSON for the next start. A field that can't be read falls back to its default,
//! because nothing depends on it.

use chrono::NaiveDate;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

/// The saved layout of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layout {
    /// Columns of the jobs list when the details are on the right.
    #[serde(deserialize_with = "readable")]
    pub columns: Option<u16>,
    /// Rows of the jobs list when the details are below.
    #[serde(deserialize_with = "readable")]
    pub rows: Option<u16>,
    /// Whether the details are hidden.
    #[serde(deserialize_with = "readable")]
    pub hidden: bool,
    /// The last screen.
    #[serde(deserialize_with = "readable")]
    pub place: PanePlace,
    #[serde(deserialize_with = "readable")]
    pub jobs: JobsLayout,
    #[serde(deserialize_with = "readable")]
    pub views: ViewsLayout,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobsLayout {
    /// The text in the filter.
    #[serde(deserialize_with = "readable")]
    pub filter: String,
    /// The name of the active saved filter.
    #[serde(deserialize_with = "readable")]
    pub tab: Option<String>,
    /// The sort order, if it is not the default.
    #[serde(deserialize_with = "readable")]
    pub sort: Option<SortBy>,
    /// Whether dismissed jobs are shown.
    #[serde(deserialize_with = "readable")]
    pub dismissed: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewsLayout {
    /// The range, if it is not the default.
    #[serde(deserialize_with = "readable")]
    pub range: Option<ShownScreen>,
    /// Rows per page, if not the default.
    #[serde(deserialize_with = "readable")]
    pub limit: Option<u32>,
    /// The metric of bars and rank, if not the default.
    #[serde(deserialize_with = "readable")]
    pub metric: Option<String>,
    /// Whether bars use a logarithmic scale.
    #[serde(deserialize_with = "readable")]
    pub log: bool,
    /// Whether pages are grouped into folders.
    #[serde(deserialize_with = "readable")]
    pub folded: bool,
    /// The sort order of all pages, if not the default.
    #[serde(deserialize_with = "readable")]
    pub sort: Option<SortBy>,
    /// The filter of all pages.
    #[serde(deserialize_with = "readable")]
    pub filter: String,
}

/// A screen of the dashboard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PanePlace {
    #[default]
    Jobs,
    Views,
    Log,
}

/// A selected range: a preset's name, which moves with the current day, or fixed days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShownScreen {
    Preset(String),
    /// First and last day.
    Days(NaiveDate, NaiveDate),
}

/// A sort order, by its name on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SortBy {
    pub by: String,
    pub reversed: bool,
}

/// A value that this version can't read (written by another version) becomes the default.
fn readable<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(from: D) -> Result<T, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

impl Layout {
    /// Parses the output of [`Layout::text`]; returns the default layout if it can't be read.
    pub fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Serializes the layout as JSON.
    pub fn text(&self) -> String {
        // Serializing these types can't fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_layout_is_read_back() {
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
    fn unreadable_fields_are_ignored_and_the_others_are_used() {
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
