//! The errors of the team's database.

use crate::api::RootsError;
use crate::model::text::CleanText;
use crate::store::StoreError;

/// An error of the team's database, worded for the user. Never contains the URL or the password.
#[derive(Debug, thiserror::Error)]
pub enum TeamError {
    #[error(
        "The URL of the team's database can't be used: {0}. It must be like postgres://USER:PASSWORD@HOST:5432/DATABASE, with special characters in the password percent-encoded."
    )]
    Url(&'static str),
    #[error(
        "The URL of the team's database turns TLS off, which is allowed only for a database on this computer. Remove sslmode from the URL."
    )]
    TlsRequired,
    #[error(transparent)]
    Roots(#[from] RootsError),
    #[error(
        "The team's database at {host} can't be reached: {why}. docdeck works without it meanwhile; try again later."
    )]
    Unreachable { host: CleanText, why: CleanText },
    #[error(
        "The team's database at {host} has a temporary problem: {why}. docdeck works without it meanwhile; if this goes on, tell the database's administrator."
    )]
    Unavailable { host: CleanText, why: CleanText },
    #[error("The team's database at {host} refused the login: {why}. Check user, password and database in the URL.")]
    LoginRefused { host: CleanText, why: CleanText },
    #[error("The database at {host} has no docdeck schema. Ask its administrator to run `docdeck team init`.")]
    NoSchema { host: CleanText },
    #[error(
        "The team's database was set up by a newer docdeck (schema {found}, this one supports up to {supported}). Update docdeck to share changes again; until then it works without the team."
    )]
    NewerSchema { found: i32, supported: i32 },
    #[error(
        "The team's database was set up by an older docdeck (schema {found}, this one needs {supported}). Ask its administrator to run `docdeck team init`."
    )]
    OlderSchema { found: i32, supported: i32 },
    #[error(
        "This login belongs to no organization in the database. Ask its administrator to give the login a role: GRANT docdeck_NAME TO LOGIN."
    )]
    NoOrganization,
    #[error("This login belongs to several organizations: {names}. Choose one with --organization.")]
    SeveralOrganizations { names: CleanText },
    #[error(
        "This login doesn't belong to the organization {name}, or there is no such organization. Ask the database's administrator, or choose another one with --organization."
    )]
    NotAMember { name: CleanText },
    #[error(
        "Members may not remove jobs from the team's database. Set DOCDECK_TEAM_URL to the URL of its administrator for this command."
    )]
    NotAdministrator,
    #[error("The team's database refused the request: {why}.")]
    Refused { why: CleanText },
    #[error("The team's database sent something that docdeck can't read: {what}. Update docdeck.")]
    Malformed { what: &'static str },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TeamError {
    /// Whether trying again later may help, without any change by the user.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Unavailable { .. })
    }
}
