-- All pages of a range, as far as they were loaded: one whole report a range, and one that is being loaded.
CREATE TABLE views_report (
    id        INTEGER PRIMARY KEY,
    scope     INTEGER NOT NULL REFERENCES scope (id),
    date_from TEXT NOT NULL,
    -- Included.
    date_to   TEXT NOT NULL,
    complete  INTEGER NOT NULL CHECK (complete IN (0, 1)),
    -- Answers taken in, rows that came in more than one of them, and its rows, so that no list has to count them.
    answers   INTEGER NOT NULL,
    moved     INTEGER NOT NULL,
    row_count INTEGER NOT NULL,
    -- The oldest of its answers.
    as_of     INTEGER NOT NULL,
    -- Begun anew on purpose: answers from before this moment are not taken in.
    since     INTEGER,
    totals    TEXT NOT NULL,
    UNIQUE (scope, date_from, date_to, complete)
) STRICT;
CREATE TABLE views_path (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE
) STRICT;
-- A page is found in each report by the key: an index by path would cost as much again on disk and with every answer.
-- The same goes for a reference to views_path; rows are written together with their path, and a path without rows is
-- deleted when the history is cut.
CREATE TABLE views_row (
    report INTEGER NOT NULL REFERENCES views_report (id),
    path   INTEGER NOT NULL,
    -- In the service's order.
    place  INTEGER NOT NULL,
    human  INTEGER,
    ai     INTEGER,
    total  INTEGER,
    -- All three as received, where one of them is no whole number in range.
    odd    TEXT,
    PRIMARY KEY (report, path)
) STRICT, WITHOUT ROWID;

-- The site's totals of every range that an answer came for; a day's are a bar of the trend.
CREATE TABLE views_total (
    scope     INTEGER NOT NULL REFERENCES scope (id),
    date_from TEXT NOT NULL,
    date_to   TEXT NOT NULL,
    as_of     INTEGER NOT NULL,
    totals    TEXT NOT NULL,
    PRIMARY KEY (scope, date_from, date_to)
) STRICT, WITHOUT ROWID;
-- What answers said before they were kept apart; an answer that can't be read is passed over. Of each group SQLite takes
-- the row that max() found.
INSERT OR IGNORE INTO views_total (scope, date_from, date_to, as_of, totals)
SELECT scope, date_from, date_to, max(as_of), json_extract(answer, '$.totals')
FROM views_answer WHERE json_valid(answer) GROUP BY scope, date_from, date_to;

-- Rows of an answer, and an index that lists the answers without reading them.
ALTER TABLE views_answer ADD COLUMN row_count INTEGER NOT NULL DEFAULT 0;
UPDATE views_answer SET row_count = coalesce(json_array_length(answer, '$.rows'), 0) WHERE json_valid(answer);
CREATE INDEX views_answer_kept ON views_answer (scope, date_from, date_to, row_limit, as_of, row_count);

-- The pages that a job was started about, in the order in which they were chosen.
CREATE TABLE job_page (
    job   INTEGER NOT NULL REFERENCES job (key),
    place INTEGER NOT NULL,
    path  TEXT NOT NULL,
    PRIMARY KEY (job, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_page_by_path ON job_page (path);

-- A new job about these pages, one path a line; NULL for any other draft.
ALTER TABLE draft ADD COLUMN pages TEXT;
DROP INDEX draft_new_job;
CREATE UNIQUE INDEX draft_new_job ON draft (scope, batch, pages IS NULL) WHERE job IS NULL AND prompt IS NULL;
