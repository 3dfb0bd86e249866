-- A draft that is neither a follow-up nor changes to a prompt: of many new jobs, else of one.
ALTER TABLE draft ADD COLUMN batch INTEGER NOT NULL DEFAULT 0 CHECK (batch IN (0, 1));
DROP INDEX draft_new_job;
CREATE UNIQUE INDEX draft_new_job ON draft (scope, batch) WHERE job IS NULL AND prompt IS NULL;

-- The moment of the ledger's use that pays for the sending under way or unconfirmed, in the service's time: a request
-- that never reached the service gives exactly this one back.
ALTER TABLE prompt ADD COLUMN paid_at INTEGER;
