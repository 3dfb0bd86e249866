//! The schema in PostgreSQL: its version, its migrations and the roles of organizations.

use super::connection::{TeamConnection, malformed_row};
use super::error::TeamError;
use tokio_postgres::error::SqlState;

/// All migrations, oldest first. The first one creates schema version 1.
const MIGRATIONS: [&str; 6] = [
    include_str!("../../assets/team/0001_begin.sql"),
    include_str!("../../assets/team/0002_one_budget.sql"),
    include_str!("../../assets/team/0003_reports.sql"),
    include_str!("../../assets/team/0004_reader_texts.sql"),
    include_str!("../../assets/team/0005_rate_limit_blocks.sql"),
    include_str!("../../assets/team/0006_report_loads.sql"),
];

/// The number of the advisory lock that lets only one migration run at a time.
const MIGRATION_LOCK_ID: i64 = 0x646f_6364_6563_6b00;

/// Returns the schema version that this docdeck needs.
pub fn supported_version() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

/// The name of an organization. It is part of the name of a role, so it has only lower-case letters, digits and
/// underscores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganizationName(String);

impl OrganizationName {
    /// Returns `None` if the name is empty, is longer than 40 characters, or contains anything but lower-case letters,
    /// digits and underscores.
    pub fn new(name: &str) -> Option<Self> {
        let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        ((1..=40).contains(&name.len()) && name.bytes().all(is_allowed)).then(|| Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the role whose members belong to the organization.
    pub fn role(&self) -> String {
        format!("docdeck_{}", self.0)
    }
}

/// Returns the statements that create the schema or update it from version `from`, and that add the organization. If
/// the schema is up to date and has the organization, they change nothing.
fn setup_sql(organization: &OrganizationName, from: i32) -> String {
    let applied_count = usize::try_from(from).unwrap_or_default();
    let mut sql = MIGRATIONS.get(applied_count..).unwrap_or_default().join("\n");
    let (name, role, version) = (organization.as_str(), organization.role(), supported_version());
    sql.push_str(&format!(
        "
INSERT INTO docdeck.schema_version (version) VALUES ({version})
ON CONFLICT (only_row) DO UPDATE SET version = EXCLUDED.version;

-- The organization {name}: members are the logins that have its role.
DO $$ BEGIN
    IF to_regrole('{role}') IS NULL THEN
        CREATE ROLE {role} NOLOGIN;
    END IF;
    -- The policies hold for the administrator, too.
    IF NOT pg_has_role('{role}', 'MEMBER') THEN
        GRANT {role} TO CURRENT_USER;
    END IF;
END $$;
GRANT docdeck_member TO {role};
INSERT INTO docdeck.organization (name, role) VALUES ('{name}', '{role}') ON CONFLICT (name) DO NOTHING;
"
    ));
    sql
}

/// Returns the statements that [`set_up_schema`] would run in an empty database, for an administrator who runs them.
pub fn setup_sql_for_administrator(organization: &OrganizationName) -> String {
    format!("BEGIN;\nSELECT pg_advisory_xact_lock({MIGRATION_LOCK_ID});\n\n{}COMMIT;\n", setup_sql(organization, 0))
}

/// Creates or updates the schema and adds the organization, in one transaction. If several administrators do this at
/// the same time, the first one does the work, and the others change nothing. Returns the previous version of the
/// schema; 0 if there was no schema.
///
/// # Errors
/// The login may not create schemas or roles, or the schema is newer than this docdeck.
pub async fn set_up_schema(connection: &TeamConnection, organization: &OrganizationName) -> Result<i32, TeamError> {
    // The transaction must not time out while it waits for another migration.
    let timeouts = "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = '60s'";
    connection.run_statements("BEGIN").await?;
    connection.run_statements(timeouts).await?;
    connection.run_statements(&format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK_ID})")).await?;
    let exists =
        "SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = 'docdeck' AND tablename = 'schema_version')";
    let exists: bool = connection.query_one(exists, &[]).await?.try_get(0).map_err(|_| malformed_row())?;
    let found = if exists { read_version(connection).await? } else { 0 };
    if found > supported_version() {
        return Err(TeamError::NewerSchema { found, supported: supported_version() });
    }
    connection.run_statements(&setup_sql(organization, found)).await?;
    connection.run_statements("COMMIT").await?;
    Ok(found)
}

async fn read_version(connection: &TeamConnection) -> Result<i32, TeamError> {
    let sql = "SELECT version FROM docdeck.schema_version";
    match connection.query(sql, &[]).await?.first() {
        Some(row) => row.try_get(0).map_err(|_| malformed_row()),
        None => Ok(0),
    }
}

/// Checks that the schema has the version that this docdeck needs.
///
/// # Errors
/// The schema is missing, older or newer, or the login has no right to use it.
pub(super) async fn check_version(connection: &TeamConnection) -> Result<(), TeamError> {
    let sql = "SELECT version FROM docdeck.schema_version";
    let supported = supported_version();
    let missing = || TeamError::NoSchema { host: connection.host() };
    match connection.try_query(sql).await? {
        Ok(rows) => match rows.first().map(|row| row.try_get(0)) {
            Some(Ok(found)) if found > supported => Err(TeamError::NewerSchema { found, supported }),
            Some(Ok(found)) if found < supported => Err(TeamError::OlderSchema { found, supported }),
            Some(Ok(_)) => Ok(()),
            Some(Err(_)) => Err(malformed_row()),
            None => Err(missing()),
        },
        Err(error) => match error.code() {
            Some(&SqlState::INVALID_SCHEMA_NAME | &SqlState::UNDEFINED_TABLE) => Err(missing()),
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Err(TeamError::NoOrganization),
            _ => Err(connection.to_team_error(&error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_contains_sql_is_rejected() {
        for name in ["", "Acme", "a b", "a'; DROP ROLE x", "a-b", "ä", &"a".repeat(41)] {
            assert_eq!(OrganizationName::new(name), None, "{name}");
        }
        assert_eq!(OrganizationName::new("acme_1").map(|name| name.role()), Some("docdeck_acme_1".to_owned()));
    }

    #[test]
    fn an_update_contains_only_the_missing_migrations() {
        let name = OrganizationName::new("acme").expect("a name");
        assert!(setup_sql(&name, 0).contains("CREATE SCHEMA docdeck"));
        assert!(!setup_sql(&name, 1).contains("CREATE SCHEMA docdeck"));
        let sql = setup_sql_for_administrator(&name);
        assert!(sql.starts_with("BEGIN;") && sql.ends_with("COMMIT;\n"), "{sql}");
    }
}
