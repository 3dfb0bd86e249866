//! The JSON bodies of the service's responses, as the simulated service writes them. The client's decoder also accepts
//! responses that differ from these.

use crate::model::remote_job::RemoteState;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobBody {
    pub id: String,
    pub created_at: String,
    #[serde(flatten)]
    pub state: RemoteState,
}

/// Human, AI and total views.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CountsBody {
    pub human: u64,
    pub ai: u64,
    pub total: u64,
}

/// One page of the site with its views.
#[derive(Debug, Clone, Serialize)]
pub struct PageBody {
    pub path: String,
    #[serde(flatten)]
    pub counts: CountsBody,
}

/// The body of a response with page views.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewsBody {
    pub totals: CountsBody,
    pub views: Vec<PageBody>,
    pub has_more: bool,
}

/// The body of an error response; only the analytics operations send `details`.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorBody {
    pub error: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<ErrorDetailBody>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ErrorDetailBody {
    pub message: String,
}
