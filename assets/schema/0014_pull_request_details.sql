-- What code hosts know about pull requests beyond their state. A cache, as `pull_request_diff`.
CREATE TABLE pull_request_details (
    -- As in `job.pr_link`.
    link    TEXT PRIMARY KEY,
    -- As JSON, as in `model::pull_request_details`.
    details TEXT NOT NULL,
    -- When they were requested.
    as_of   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
