-- All tables of the current schema, generated from the migrations: see `store/schema.rs`.

CREATE TABLE scope (
    id       INTEGER PRIMARY KEY,
    base_url TEXT NOT NULL,
    project  TEXT NOT NULL,
    UNIQUE (base_url, project)
) STRICT;

CREATE TABLE revision (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    value INTEGER NOT NULL
) STRICT;

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
    viewed_at   INTEGER,
    gone        INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1)),
    dismissed   INTEGER NOT NULL DEFAULT 0 CHECK (dismissed IN (0, 1)),
    -- The state of the most urgent prompt of the thread, so that the list needs no join.
    undelivered TEXT,
    revision    INTEGER NOT NULL,
    -- If two rows turn out to be the same job, one is merged into the other, and calls with its key use that one.
    merged_into INTEGER REFERENCES job (key)
, own_title TEXT, note TEXT, tags TEXT, queue_position INTEGER, handled_at INTEGER, followed_up_at INTEGER, undelivered_at INTEGER, gone_at INTEGER, list_order INTEGER GENERATED ALWAYS AS (
    CASE
        WHEN undelivered IN ('queued', 'paused') AND dismissed = 0 THEN coalesce(queue_position, 9223372036854775807)
        WHEN undelivered IS NOT NULL THEN -coalesce(undelivered_at, finished_at, created_at)
        WHEN gone = 1 THEN -coalesce(gone_at, finished_at, created_at)
        WHEN status = 'archived' THEN -coalesce(archived_at, finished_at, created_at)
        WHEN status IN ('completed', 'failed') THEN -coalesce(finished_at, created_at)
        ELSE -started_at
    END
) VIRTUAL, pull_request TEXT, pr_turn TEXT, list_group INTEGER GENERATED ALWAYS AS (
    CASE
        WHEN undelivered IN ('unconfirmed', 'rejected', 'not sent') THEN 0
        WHEN dismissed = 1 AND (undelivered = 'sending' OR (undelivered IS NULL AND gone = 0 AND id IS NOT NULL
            AND (status IS NULL OR status NOT IN ('completed', 'archived', 'failed')
                OR (status = 'completed' AND pr_turn = 'host')))) THEN 4
        WHEN dismissed = 1 THEN 5
        WHEN undelivered IN ('queued', 'paused') THEN 2
        WHEN undelivered = 'sending' THEN 1
        WHEN undelivered = 'discarded' OR gone = 1 OR id IS NULL THEN 3
        WHEN status = 'completed' AND pr_turn = 'host' THEN 1
        WHEN status = 'completed' AND pr_turn = 'nobody' THEN 3
        WHEN status IN ('failed', 'completed') AND (handled_at IS NULL OR handled_at < changed_at)
            AND (status = 'failed' OR pr_link IS NOT NULL) THEN 0
        WHEN status IN ('completed', 'archived', 'failed') THEN 3
        ELSE 1
    END
) VIRTUAL, pr_need TEXT, author TEXT, followed_up_by TEXT, dismissed_by TEXT, pr_ended_by TEXT) STRICT;

CREATE UNIQUE INDEX job_by_id ON job (scope, id) WHERE id IS NOT NULL;

CREATE INDEX job_by_revision ON job (scope, revision);

CREATE INDEX job_merged ON job (merged_into) WHERE merged_into IS NOT NULL;

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
, paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)), queue_position INTEGER, paid_at INTEGER, state_at INTEGER, discarded_at INTEGER, discarded_from TEXT, author TEXT CHECK (author IS NULL OR instance IS NULL), uid TEXT) STRICT;

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
    saved_at INTEGER NOT NULL, batch INTEGER NOT NULL DEFAULT 0 CHECK (batch IN (0, 1)), pages TEXT,
    CHECK (job IS NULL OR prompt IS NULL)
) STRICT;

CREATE UNIQUE INDEX draft_of_prompt ON draft (prompt) WHERE prompt IS NOT NULL;

CREATE UNIQUE INDEX draft_follow_up ON draft (job) WHERE job IS NOT NULL;

CREATE TABLE ledger (
    id            INTEGER PRIMARY KEY,
    base_url      TEXT NOT NULL,
    owner         TEXT NOT NULL,
    operation     TEXT NOT NULL,
    blocked_until INTEGER, blocked_at INTEGER, block_seen_ahead_at INTEGER, is_estimate INTEGER NOT NULL DEFAULT 0,
    UNIQUE (base_url, owner, operation)
) STRICT;

CREATE TABLE ledger_use (
    ledger INTEGER NOT NULL REFERENCES ledger (id),
    at     INTEGER NOT NULL
, seen_ahead_at INTEGER) STRICT;

CREATE INDEX ledger_use_by_time ON ledger_use (ledger, at);

CREATE TABLE views_answer (
    scope     INTEGER NOT NULL REFERENCES scope (id),
    date_from TEXT NOT NULL,
    -- Inclusive.
    date_to   TEXT NOT NULL,
    row_limit INTEGER NOT NULL,
    page      INTEGER NOT NULL,
    as_of     INTEGER NOT NULL,
    answer    TEXT NOT NULL, row_count INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (scope, date_from, date_to, row_limit, page)
) STRICT;

CREATE TABLE "key_value" (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX prompt_by_sent ON prompt (sent_at) WHERE sent_at IS NOT NULL;

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
    restarted_at     INTEGER,
    totals    TEXT NOT NULL,
    UNIQUE (scope, date_from, date_to, complete)
) STRICT;

CREATE TABLE views_path (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE views_row (
    report INTEGER NOT NULL REFERENCES views_report (id),
    path   INTEGER NOT NULL,
    -- In the service's order.
    position  INTEGER NOT NULL,
    human  INTEGER,
    ai     INTEGER,
    total  INTEGER,
    -- All three counts as received, if one of them is not an integer in range.
    raw_counts    TEXT,
    PRIMARY KEY (report, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE views_total (
    scope     INTEGER NOT NULL REFERENCES scope (id),
    date_from TEXT NOT NULL,
    date_to   TEXT NOT NULL,
    as_of     INTEGER NOT NULL,
    totals    TEXT NOT NULL,
    PRIMARY KEY (scope, date_from, date_to)
) STRICT, WITHOUT ROWID;

CREATE INDEX views_answer_kept ON views_answer (scope, date_from, date_to, row_limit, as_of, row_count);

CREATE TABLE job_page (
    job   INTEGER NOT NULL REFERENCES job (key),
    position INTEGER NOT NULL,
    path  TEXT NOT NULL,
    PRIMARY KEY (job, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_page_by_path ON job_page (path);

CREATE UNIQUE INDEX draft_new_job ON draft (scope, batch, pages IS NULL) WHERE job IS NULL AND prompt IS NULL;

CREATE TABLE job_count (
    scope INTEGER NOT NULL REFERENCES scope (id),
    list_group  INTEGER NOT NULL,
    jobs  INTEGER NOT NULL,
    PRIMARY KEY (scope, list_group)
) STRICT, WITHOUT ROWID;

CREATE TABLE views_loading (
    id        INTEGER PRIMARY KEY,
    scope     INTEGER NOT NULL REFERENCES scope (id),
    date_from TEXT NOT NULL,
    -- Inclusive.
    date_to   TEXT NOT NULL,
    -- When the load was restarted on purpose: earlier answers are not used.
    restarted_at     INTEGER,
    -- Duplicate rows from before the first stored part.
    moved     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (scope, date_from, date_to)
) STRICT;

CREATE TABLE views_part (
    loading INTEGER NOT NULL REFERENCES views_loading (id),
    -- The number of the answer, starting at 1.
    number  INTEGER NOT NULL,
    as_of   INTEGER NOT NULL,
    answer  TEXT NOT NULL,
    PRIMARY KEY (loading, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_by_list_order ON job (
    scope, list_group, list_order, CASE list_group WHEN 2 THEN key ELSE -key END
) WHERE merged_into IS NULL;

CREATE TRIGGER job_inserted AFTER INSERT ON job WHEN NEW.merged_into IS NULL BEGIN
    INSERT INTO job_count (scope, list_group, jobs) VALUES (NEW.scope, NEW.list_group, 1)
    ON CONFLICT (scope, list_group) DO UPDATE SET jobs = jobs + 1;
END;

CREATE TRIGGER job_deleted AFTER DELETE ON job WHEN OLD.merged_into IS NULL BEGIN
    UPDATE job_count SET jobs = jobs - 1 WHERE scope = OLD.scope AND list_group = OLD.list_group;
END;

CREATE TRIGGER job_group_changed AFTER UPDATE ON job
WHEN OLD.list_group <> NEW.list_group OR OLD.scope <> NEW.scope
    OR (OLD.merged_into IS NULL) <> (NEW.merged_into IS NULL) BEGIN
    UPDATE job_count SET jobs = jobs - 1
    WHERE scope = OLD.scope AND list_group = OLD.list_group AND OLD.merged_into IS NULL;
    INSERT INTO job_count (scope, list_group, jobs) SELECT NEW.scope, NEW.list_group, 1 WHERE NEW.merged_into IS NULL
    ON CONFLICT (scope, list_group) DO UPDATE SET jobs = jobs + 1;
END;

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

CREATE TABLE pull_request_details (
    -- As in `job.pr_link`.
    link    TEXT PRIMARY KEY,
    -- As JSON, as in `model::pull_request_details`.
    details TEXT NOT NULL,
    -- When they were requested.
    as_of   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX job_by_pr_need ON job (scope, list_group, pr_need, merged_into) WHERE pr_need IS NOT NULL;

CREATE TABLE preview (
    -- As in `job.pr_link`.
    link     TEXT PRIMARY KEY,
    url      TEXT NOT NULL,
    built_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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
    is_cut      INTEGER NOT NULL CHECK (is_cut IN (0, 1)), expires_at INTEGER,
    UNIQUE (scope, kind, date_from, date_to, complete)
) STRICT;

CREATE TABLE analytics_answer (
    report INTEGER NOT NULL REFERENCES analytics_report (id),
    -- The number of the answer, starting at 1.
    number INTEGER NOT NULL,
    -- The received rows as a JSON array, as in `model::analytics`.
    rows   TEXT NOT NULL,
    PRIMARY KEY (report, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE "job_signals" (
    job       INTEGER NOT NULL REFERENCES job (key),
    path      TEXT NOT NULL,
    -- 0 for the numbers when the job was started, 1 for those in the days after it.
    is_after  INTEGER NOT NULL,
    date_from TEXT NOT NULL,
    -- Inclusive.
    date_to   TEXT NOT NULL,
    -- The numbers as a JSON object, by `Signal::name` of the model. A number that was not loaded is missing.
    signals   TEXT NOT NULL,
    PRIMARY KEY (job, path, is_after)
) STRICT, WITHOUT ROWID;

CREATE TABLE team (
    scope           INTEGER PRIMARY KEY REFERENCES scope (id),
    organization    TEXT NOT NULL,
    -- The random id of this computer in the team.
    member          TEXT NOT NULL,
    -- The number of the last change that was received, and the batch that it belongs to.
    cursor          INTEGER NOT NULL DEFAULT 0,
    cursor_batch    TEXT,
    -- The revision up to which jobs were compared with what the team knows.
    pushed_revision INTEGER NOT NULL DEFAULT 0,
    -- The outbox: changes on their way to the database, and their random id, by which the database recognizes them if
    -- its answer was lost.
    batch           TEXT,
    changes         TEXT,
    -- When the last exchange ended.
    exchanged_at    INTEGER
, report_cursor INTEGER NOT NULL DEFAULT 0, report_batch TEXT) STRICT;

CREATE TABLE team_job (
    job     INTEGER PRIMARY KEY REFERENCES job (key) ON DELETE CASCADE,
    state   TEXT NOT NULL,
    -- A hash of the prompts of this computer that the team knows.
    prompts INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE team_use (
    -- The random id under which the request is or may be booked.
    booking TEXT PRIMARY KEY,
    ledger  INTEGER NOT NULL REFERENCES ledger (id) ON DELETE CASCADE,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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

INSERT INTO revision (only, value) VALUES (1, 0);
