-- Texts of readers that another member of the team has loaded: see `docdeck::team`.

-- When they must be deleted, even if the setting of this computer allows more days. NULL for reports that this computer
-- has loaded, and for reports without texts.
ALTER TABLE analytics_report ADD COLUMN expires_at INTEGER;

-- What was loaded before texts of readers were shared stays on this computer: an empty version is not sent.
INSERT OR IGNORE INTO team_report (scope, kind, date_from, date_to, as_of, version)
SELECT scope, kind, date_from, date_to, as_of, '' FROM analytics_report
WHERE kind IN ('feedback', 'questions') AND complete = 1 AND scope IN (SELECT scope FROM team);
