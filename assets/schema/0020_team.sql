-- What a team shares: see `docdeck::team`.

-- The member who wrote the prompt on another computer; NULL for the prompts of this computer. Sending sets `instance`, so
-- such a prompt can't be sent from here.
ALTER TABLE prompt ADD COLUMN author TEXT CHECK (author IS NULL OR instance IS NULL);

-- The id in the team of a prompt that has an author.
ALTER TABLE prompt ADD COLUMN uid TEXT;

-- The projects that are shared, and how far the exchange with the team's database is.
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
) STRICT;

-- What the team knew about a job when it was last merged, as in `model::team`.
CREATE TABLE team_job (
    job     INTEGER PRIMARY KEY REFERENCES job (key) ON DELETE CASCADE,
    state   TEXT NOT NULL,
    -- A hash of the prompts of this computer that the team knows.
    prompts INTEGER NOT NULL DEFAULT 0
) STRICT;
