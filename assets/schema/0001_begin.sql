-- Times are milliseconds UTC. States and kinds are stored as the words of the screen and the service.

-- The service and project that jobs, drafts and cached views belong to; profiles may be renamed.
CREATE TABLE scope (
    id       INTEGER PRIMARY KEY,
    base_url TEXT NOT NULL,
    project  TEXT NOT NULL,
    UNIQUE (base_url, project)
) STRICT;

-- One row with a number that every change of a job increments, in the transaction of the change.
CREATE TABLE revision (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    value INTEGER NOT NULL
) STRICT;
INSERT INTO revision (only, value) VALUES (1, 0);

CREATE TABLE job (
    key         INTEGER PRIMARY KEY AUTOINCREMENT,
    scope       INTEGER NOT NULL REFERENCES scope (id),
    -- The service's id; NULL until a prompt was accepted.
    id          TEXT,
    title       TEXT NOT NULL,
    status      TEXT,
    repository  TEXT,
    git_ref     TEXT,
    model       TEXT,
    pr_link     TEXT,
    created_at  INTEGER NOT NULL,
    archived_at INTEGER,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER,
    changed_at  INTEGER NOT NULL,
    checked_at  INTEGER,
    looked_at   INTEGER,
    gone        INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1)),
    dismissed   INTEGER NOT NULL DEFAULT 0 CHECK (dismissed IN (0, 1)),
    -- The state of the most urgent prompt of the thread, so that the list needs no join.
    undelivered TEXT,
    revision    INTEGER NOT NULL,
    -- If two rows turn out to be the same job, one is merged into the other, and calls with its key use that one.
    merged_into INTEGER REFERENCES job (key)
) STRICT;
CREATE UNIQUE INDEX job_by_id ON job (scope, id) WHERE id IS NOT NULL;
CREATE INDEX job_by_revision ON job (scope, revision);
CREATE INDEX job_merged ON job (merged_into) WHERE merged_into IS NOT NULL;

-- AUTOINCREMENT: a prompt's id is its position in the queue, and is never used again.
CREATE TABLE prompt (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    job        INTEGER NOT NULL REFERENCES job (key),
    kind       TEXT NOT NULL CHECK (kind IN ('create', 'follow-up')),
    text       TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN
               ('queued', 'sending', 'accepted', 'not sent', 'rejected', 'unconfirmed', 'dismissed')),
    -- Queued: not sent before this time of the service.
    until      INTEGER,
    -- Not sent, rejected, unconfirmed: why.
    reason     TEXT,
    -- Sending: the process that is sending it.
    instance   TEXT,
    written_at INTEGER NOT NULL,
    sent_at    INTEGER
) STRICT;
CREATE INDEX prompt_by_job ON prompt (job, id);
CREATE INDEX prompt_queued ON prompt (id) WHERE state = 'queued';
CREATE INDEX prompt_sending ON prompt (id) WHERE state = 'sending';

CREATE TABLE event (
    id     INTEGER PRIMARY KEY,
    job    INTEGER NOT NULL REFERENCES job (key),
    at     INTEGER NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN ('status', 'pull request', 'gone', 'back')),
    before TEXT,
    after  TEXT
) STRICT;
CREATE INDEX event_by_job ON event (job, id);

CREATE TABLE draft (
    scope    INTEGER NOT NULL REFERENCES scope (id),
    -- A follow-up to this job, or an edit of this prompt; if both are NULL, a new job.
    job      INTEGER REFERENCES job (key),
    prompt   INTEGER REFERENCES prompt (id),
    text     TEXT NOT NULL,
    saved_at INTEGER NOT NULL,
    CHECK (job IS NULL OR prompt IS NULL)
) STRICT;
CREATE UNIQUE INDEX draft_new_job ON draft (scope) WHERE job IS NULL AND prompt IS NULL;
CREATE UNIQUE INDEX draft_of_prompt ON draft (prompt) WHERE prompt IS NOT NULL;
CREATE UNIQUE INDEX draft_follow_up ON draft (job) WHERE job IS NOT NULL;

-- One ledger per limited operation and owner that the service counts by: a project, for views the organization.
CREATE TABLE ledger (
    id            INTEGER PRIMARY KEY,
    base_url      TEXT NOT NULL,
    owner         TEXT NOT NULL,
    operation     TEXT NOT NULL,
    blocked_until INTEGER,
    UNIQUE (base_url, owner, operation)
) STRICT;
CREATE TABLE ledger_use (
    ledger INTEGER NOT NULL REFERENCES ledger (id),
    at     INTEGER NOT NULL
) STRICT;
CREATE INDEX ledger_use_by_time ON ledger_use (ledger, at);

CREATE TABLE views_answer (
    scope     INTEGER NOT NULL REFERENCES scope (id),
    date_from TEXT NOT NULL,
    -- Inclusive.
    date_to   TEXT NOT NULL,
    row_limit INTEGER NOT NULL,
    page      INTEGER NOT NULL,
    as_of     INTEGER NOT NULL,
    answer    TEXT NOT NULL,
    PRIMARY KEY (scope, date_from, date_to, row_limit, page)
) STRICT;

CREATE TABLE memory (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
