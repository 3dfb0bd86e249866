-- What a team shares of the analytics: see `docdeck::team`.

-- How far the team's reports were received: the number of a change, and the batch that it belongs to.
ALTER TABLE team ADD COLUMN report_cursor INTEGER NOT NULL DEFAULT 0;
ALTER TABLE team ADD COLUMN report_batch TEXT;

-- The reports that the team has, as they were last sent or received.
CREATE TABLE team_report (
    scope     INTEGER NOT NULL REFERENCES scope (id),
    -- As in `ReportKind::name` of the model.
    kind      TEXT NOT NULL,
    date_from TEXT NOT NULL,
    -- Inclusive.
    date_to   TEXT NOT NULL,
    as_of     INTEGER NOT NULL,
    -- As in `ReportVersion` of the model; empty for a report that can't be shared.
    version   TEXT NOT NULL,
    PRIMARY KEY (scope, kind, date_from, date_to)
) STRICT, WITHOUT ROWID;
