-- The service's analytics besides page views: reports of visitors, searches, feedback and questions. A cache: they can
-- be requested again at any time.
CREATE TABLE analytics_report (
    id          INTEGER PRIMARY KEY,
    scope       INTEGER NOT NULL REFERENCES scope (id),
    -- As in `AnalyticsKind::name` of the model.
    kind        TEXT NOT NULL,
    date_from   TEXT NOT NULL,
    -- Inclusive.
    date_to     TEXT NOT NULL,
    complete    INTEGER NOT NULL CHECK (complete IN (0, 1)),
    -- The numbers of its answers and of all rows in them, by which a missing answer is noticed.
    answers     INTEGER NOT NULL,
    row_count   INTEGER NOT NULL,
    -- The time of the first answer, which tells apart two loads of the same range.
    started_at  INTEGER NOT NULL,
    -- The time of the oldest answer.
    as_of       INTEGER NOT NULL,
    -- From the last answer: the totals as JSON, where the next answer begins (NULL if it was the last one), and whether
    -- the service has more rows that can't be requested.
    totals      TEXT NOT NULL,
    next_cursor TEXT,
    is_cut      INTEGER NOT NULL CHECK (is_cut IN (0, 1)),
    UNIQUE (scope, kind, date_from, date_to, complete)
) STRICT;
-- One row per answer, so that adding an answer doesn't write the earlier ones again.
CREATE TABLE analytics_answer (
    report INTEGER NOT NULL REFERENCES analytics_report (id),
    -- The number of the answer, starting at 1.
    number INTEGER NOT NULL,
    -- The received rows as a JSON array, as in `model::analytics`.
    rows   TEXT NOT NULL,
    PRIMARY KEY (report, number)
) STRICT, WITHOUT ROWID;
