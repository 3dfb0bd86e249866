-- Reports of all pages of a range: at most one complete and one unfinished report per range.
CREATE TABLE views_report (
    id        INTEGER PRIMARY KEY,
    scope     INTEGER NOT NULL REFERENCES scope (id),
    date_from TEXT NOT NULL,
    -- Inclusive.
    date_to   TEXT NOT NULL,
    complete  INTEGER NOT NULL CHECK (complete IN (0, 1)),
    -- The numbers of its answers, of the duplicate rows in them, and of its rows, so that no list has to count them.
    answers   INTEGER NOT NULL,
    moved     INTEGER NOT NULL,
    row_count INTEGER NOT NULL,
    -- The time of the oldest answer.
    as_of     INTEGER NOT NULL,
    -- When the load was restarted on purpose: earlier answers are not used.
    since     INTEGER,
    totals    TEXT NOT NULL,
    UNIQUE (scope, date_from, date_to, complete)
) STRICT;
CREATE TABLE views_path (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE
) STRICT;
-- A page is found in each report by the primary key: an index by path would need as much space again and slow down
-- every answer. For the same reason path is no foreign key; rows are written together with their path, and a path
-- without rows is deleted when the cache is pruned.
CREATE TABLE views_row (
    report INTEGER NOT NULL REFERENCES views_report (id),
    path   INTEGER NOT NULL,
    -- In the service's order.
    place  INTEGER NOT NULL,
    human  INTEGER,
    ai     INTEGER,
    total  INTEGER,
    -- All three counts as received, if one of them is not an integer in range.
    odd    TEXT,
    PRIMARY KEY (report, path)
) STRICT, WITHOUT ROWID;

-- The site's totals of every range with an answer; those of a day are a bar of the trend.
CREATE TABLE views_total (
    scope     INTEGER NOT NULL REFERENCES scope (id),
    date_from TEXT NOT NULL,
    date_to   TEXT NOT NULL,
    as_of     INTEGER NOT NULL,
    totals    TEXT NOT NULL,
    PRIMARY KEY (scope, date_from, date_to)
) STRICT, WITHOUT ROWID;
-- Copies the totals of existing answers; answers that can't be read are skipped. Of each group, SQLite takes the row
-- with the max().
INSERT OR IGNORE INTO views_total (scope, date_from, date_to, as_of, totals)
SELECT scope, date_from, date_to, max(as_of), json_extract(answer, '$.totals')
FROM views_answer WHERE json_valid(answer) GROUP BY scope, date_from, date_to;

-- The number of rows of an answer, and an index that lists the answers without reading them.
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

-- The pages of a draft about pages, one path per line; NULL for any other draft.
ALTER TABLE draft ADD COLUMN pages TEXT;
DROP INDEX draft_new_job;
CREATE UNIQUE INDEX draft_new_job ON draft (scope, batch, pages IS NULL) WHERE job IS NULL AND prompt IS NULL;
