-- The previews of the site with the changes of pull requests that the user had built.
CREATE TABLE preview (
    -- As in `job.pr_link`.
    link     TEXT PRIMARY KEY,
    url      TEXT NOT NULL,
    built_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
