-- What the user adds to a job on this computer: the service hears nothing of it.
ALTER TABLE job ADD COLUMN own_title TEXT;
ALTER TABLE job ADD COLUMN note TEXT;
-- In lower case, one a line, in the order in which they were given; none is NULL.
ALTER TABLE job ADD COLUMN tags TEXT;
-- The place of the job's first queued prompt, so that the list needs no join.
ALTER TABLE job ADD COLUMN place INTEGER;

-- Queued, and not sent until the user releases it.
ALTER TABLE prompt ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1));
-- Its place in the line where the user changed it; otherwise its id.
ALTER TABLE prompt ADD COLUMN place INTEGER;

UPDATE job SET place = (SELECT min(id) FROM prompt WHERE prompt.job = job.key AND prompt.state = 'queued')
WHERE undelivered IS NOT NULL;

-- What went out before, the newest first.
CREATE INDEX prompt_by_sent ON prompt (sent_at) WHERE sent_at IS NOT NULL;
