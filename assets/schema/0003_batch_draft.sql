-- A draft that is neither a follow-up nor an edit of a prompt: 1 for a batch of new jobs, 0 for one new job.
ALTER TABLE draft ADD COLUMN batch INTEGER NOT NULL DEFAULT 0 CHECK (batch IN (0, 1));
DROP INDEX draft_new_job;
CREATE UNIQUE INDEX draft_new_job ON draft (scope, batch) WHERE job IS NULL AND prompt IS NULL;

-- The time of the use in the ledger that counts the current or unconfirmed send, in the service's time: if the request
-- never reached the service, exactly this use is refunded.
ALTER TABLE prompt ADD COLUMN paid_at INTEGER;
