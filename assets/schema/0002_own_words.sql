-- What the user adds to a job on this computer; none of it is sent to the service.
ALTER TABLE job ADD COLUMN own_title TEXT;
ALTER TABLE job ADD COLUMN note TEXT;
-- In lower case, one per line, in the order in which they were added; NULL if there are none.
ALTER TABLE job ADD COLUMN tags TEXT;
-- The position of the job's first queued prompt, so that the list needs no join.
ALTER TABLE job ADD COLUMN place INTEGER;

-- Queued, and not sent until the user resumes it.
ALTER TABLE prompt ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1));
-- The position in the queue if the user changed it; otherwise the id is the position.
ALTER TABLE prompt ADD COLUMN place INTEGER;

UPDATE job SET place = (SELECT min(id) FROM prompt WHERE prompt.job = job.key AND prompt.state = 'queued')
WHERE undelivered IS NOT NULL;

-- Sent prompts, newest first.
CREATE INDEX prompt_by_sent ON prompt (sent_at) WHERE sent_at IS NOT NULL;
