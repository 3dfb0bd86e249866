//! The dashboard's layout, saved as JSON for the next start. A field that can't be read gets its default value instead
//! of an error, because a lost layout does no harm.

use chrono::NaiveDate;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

/// The saved layout of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layout {
    /// The width of the jobs list if the job details are on its right; `None` for the default width.
    #[serde(rename = "columns", deserialize_with = "or_default")]
    pub list_width: Option<u16>,
    /// The height of the jobs list if the job details are below it; `None` for the default height.
    #[serde(rename = "rows", deserialize_with = "or_default")]
    pub list_height: Option<u16>,
    /// Whether the job details are hidden.
    #[serde(rename = "hidden", deserialize_with = "or_default")]
    pub details_hidden: bool,
    /// The screen that was open last.
    #[serde(rename = "place", deserialize_with = "or_default")]
    pub screen: SavedScreen,
    #[serde(deserialize_with = "or_default")]
    pub jobs: JobsLayout,
    #[serde(deserialize_with = "or_default")]
    pub views: ViewsLayout,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobsLayout {
    /// The text in the filter of the jobs list.
    #[serde(deserialize_with = "or_default")]
    pub filter: String,
    /// The name of the active saved filter; `None` if there is none.
    #[serde(deserialize_with = "or_default")]
    pub tab: Option<String>,
    /// The sort order of the jobs list, if it is not the default.
    #[serde(deserialize_with = "or_default")]
    pub sort: Option<SortBy>,
    /// Whether dismissed jobs are shown.
    #[serde(deserialize_with = "or_default")]
    pub dismissed: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewsLayout {
    /// The selected date range, if it is not the default.
    #[serde(deserialize_with = "or_default")]
    pub range: Option<SavedRange>,
    /// The number of rows per page, if it is not the default.
    #[serde(deserialize_with = "or_default")]
    pub limit: Option<u32>,
    /// The name of the metric for bars and ranks, if it is not the default.
    #[serde(deserialize_with = "or_default")]
    pub metric: Option<String>,
    /// Whether bars use a logarithmic scale.
    #[serde(rename = "log", deserialize_with = "or_default")]
    pub log_scale: bool,
    /// Whether pages are grouped into folders.
    #[serde(deserialize_with = "or_default")]
    pub folded: bool,
    /// The sort order of the list of all pages, if it is not the default.
    #[serde(deserialize_with = "or_default")]
    pub sort: Option<SortBy>,
    /// The text in the filter of the list of all pages.
    #[serde(deserialize_with = "or_default")]
    pub filter: String,
}

/// A main screen of the dashboard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SavedScreen {
    #[default]
    Jobs,
    Views,
    Log,
}

/// A selected date range: a preset, whose days move with the current day, or fixed days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SavedRange {
    /// The name of a preset.
    Preset(String),
    /// The first and the last day, both inclusive.
    Days(NaiveDate, NaiveDate),
}

/// A sort order: its name on the screen, and whether it is reversed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SortBy {
    pub by: String,
    pub reversed: bool,
}

/// Deserializes a value. Returns the default if the value can't be read, for example because another version wrote it.
fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(from: D) -> Result<T, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

impl Layout {
    /// Parses a layout from JSON. Returns the default layout if `text` can't be read.
    pub fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Serializes the layout as JSON.
    pub fn to_json(&self) -> String {
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
            list_width: Some(70),
            list_height: Some(20),
            details_hidden: true,
            screen: SavedScreen::Log,
            jobs: JobsLayout {
                filter: "s:failed \"日".to_owned(),
                tab: Some("Mine".to_owned()),
                sort: sort.clone(),
                dismissed: true,
            },
            views: ViewsLayout {
                range: Some(SavedRange::Days(day("2026-01-02"), day("2026-02-01"))),
                limit: Some(25),
                metric: Some("AI".to_owned()),
                log_scale: true,
                folded: true,
                sort,
                filter: "/guides".to_owned(),
            },
        };
        assert_eq!(Layout::parse(&layout.to_json()), layout);
        assert_eq!(Layout::parse(&Layout::default().to_json()), Layout::default());
    }

    #[test]
    fn unreadable_fields_are_ignored_and_the_others_are_used() {
        let odd = "{\"columns\":50,\"rows\":\"all\",\"place\":\"moon\",\"new\":{},\"views\":{\"range\":{\"preset\":\"30d\"},\"log\":3},\"jobs\":[]}";
        let read = Layout::parse(odd);
        assert_eq!((read.list_width, read.list_height, read.screen), (Some(50), None, SavedScreen::Jobs));
        assert_eq!(
            read.views,
            ViewsLayout { range: Some(SavedRange::Preset("30d".to_owned())), ..ViewsLayout::default() }
        );
        assert_eq!(read.jobs, JobsLayout::default());
        for nonsense in ["", "no JSON", "[]", "7", "{\"columns\":"] {
            assert_eq!(Layout::parse(nonsense), Layout::default(), "{nonsense:?}");
        }
    }
}
