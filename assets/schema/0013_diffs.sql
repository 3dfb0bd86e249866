-- The changes of pull requests, as unified diffs. A cache: a diff can be requested again at any time.
CREATE TABLE pull_request_diff (
    -- As in `job.pr_link`.
    link    TEXT PRIMARY KEY,
    -- The head commit that the diff belongs to.
    head    TEXT NOT NULL,
    diff    TEXT NOT NULL,
    -- Whether files are missing at the end.
    is_cut  INTEGER NOT NULL CHECK (is_cut IN (0, 1)),
    -- When it was requested.
    as_of   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
