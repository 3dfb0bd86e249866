-- Every state of a job has the time at which it began, a discarded prompt keeps its previous state, and jobs that the
-- user has acted on are distinguished from those that were only viewed.
DROP TRIGGER job_comes;
DROP TRIGGER job_goes;
DROP TRIGGER job_moves;
DROP INDEX job_by_need;
ALTER TABLE job DROP COLUMN turn;
ALTER TABLE job DROP COLUMN need;

-- When the prompt entered its state.
ALTER TABLE prompt ADD COLUMN state_at INTEGER;
-- Discarded (stored as 'dismissed'): since when, and the previous state, which can be restored, since state_at, until,
-- reason, held and place stay as well. NULL if an older docdeck discarded it.
ALTER TABLE prompt ADD COLUMN discarded_at INTEGER;
ALTER TABLE prompt ADD COLUMN discarded_from TEXT;
UPDATE prompt SET state_at = CASE WHEN state = 'queued' THEN written_at ELSE coalesce(sent_at, written_at) END
WHERE state NOT IN ('accepted', 'dismissed');

-- When the user acted on the job: opened its pull request, followed up, or marked it as done.
ALTER TABLE job ADD COLUMN handled_at INTEGER;
-- When the service accepted the last follow-up.
ALTER TABLE job ADD COLUMN followed_up_at INTEGER;
-- When the prompt in `undelivered` entered its state.
ALTER TABLE job ADD COLUMN undelivered_at INTEGER;
-- When the service first answered that it doesn't know the job.
ALTER TABLE job ADD COLUMN gone_at INTEGER;

-- Existing jobs keep their groups.
UPDATE job SET handled_at = looked_at;
UPDATE job SET gone_at = (SELECT max(at) FROM event WHERE event.job = job.key AND event.kind = 'gone') WHERE gone = 1;
UPDATE job SET undelivered = 'discarded' WHERE undelivered IS NULL AND id IS NULL AND EXISTS (
    SELECT 1 FROM prompt WHERE prompt.job = job.key AND prompt.kind = 'create' AND prompt.state = 'dismissed');
UPDATE job SET undelivered_at = (
    SELECT state_at FROM prompt WHERE prompt.job = job.key AND prompt.state NOT IN ('accepted', 'dismissed')
    ORDER BY CASE state WHEN 'unconfirmed' THEN 1 WHEN 'rejected' THEN 2 WHEN 'not sent' THEN 3
                        WHEN 'sending' THEN 4 ELSE 5 + held END
    LIMIT 1)
WHERE undelivered IS NOT NULL;

-- The group of the jobs list, by the rules of `Job::group` in the model; a test compares them. Dismissed jobs are 4
-- while the agent works on them and 5 otherwise, so that working jobs can be counted.
ALTER TABLE job ADD COLUMN need INTEGER GENERATED ALWAYS AS (
    CASE
        WHEN undelivered IN ('unconfirmed', 'rejected', 'not sent') THEN 0
        WHEN dismissed = 1 AND (undelivered = 'sending' OR (undelivered IS NULL AND gone = 0 AND id IS NOT NULL
            AND (status IS NULL OR status NOT IN ('completed', 'archived', 'failed')))) THEN 4
        WHEN dismissed = 1 THEN 5
        WHEN undelivered IN ('queued', 'paused') THEN 2
        WHEN undelivered = 'sending' THEN 1
        WHEN undelivered = 'discarded' OR gone = 1 OR id IS NULL THEN 3
        WHEN status IN ('failed', 'completed') AND (handled_at IS NULL OR handled_at < changed_at)
            AND (status = 'failed' OR pr_link IS NOT NULL) THEN 0
        WHEN status IN ('completed', 'archived', 'failed') THEN 3
        ELSE 1
    END
) VIRTUAL;

-- Smaller comes first: the latest state, and of the queued prompts the one that is sent next.
ALTER TABLE job ADD COLUMN turn INTEGER GENERATED ALWAYS AS (
    CASE
        WHEN undelivered IN ('queued', 'paused') AND dismissed = 0 THEN coalesce(place, 9223372036854775807)
        WHEN undelivered IS NOT NULL THEN -coalesce(undelivered_at, finished_at, created_at)
        WHEN gone = 1 THEN -coalesce(gone_at, finished_at, created_at)
        WHEN status = 'archived' THEN -coalesce(archived_at, finished_at, created_at)
        WHEN status IN ('completed', 'failed') THEN -coalesce(finished_at, created_at)
        ELSE -started_at
    END
) VIRTUAL;

-- The complete sort key of the list, as in `jobs::first_rows_sql`.
CREATE INDEX job_by_need ON job (scope, need, turn, CASE need WHEN 2 THEN key ELSE -key END) WHERE merged_into IS NULL;

DELETE FROM job_count;
INSERT INTO job_count (scope, need, jobs)
SELECT scope, need, count(*) FROM job WHERE merged_into IS NULL GROUP BY scope, need;
CREATE TRIGGER job_comes AFTER INSERT ON job WHEN NEW.merged_into IS NULL BEGIN
    INSERT INTO job_count (scope, need, jobs) VALUES (NEW.scope, NEW.need, 1)
    ON CONFLICT (scope, need) DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER job_goes AFTER DELETE ON job WHEN OLD.merged_into IS NULL BEGIN
    UPDATE job_count SET jobs = jobs - 1 WHERE scope = OLD.scope AND need = OLD.need;
END;
CREATE TRIGGER job_moves AFTER UPDATE ON job
WHEN OLD.need <> NEW.need OR OLD.scope <> NEW.scope OR (OLD.merged_into IS NULL) <> (NEW.merged_into IS NULL) BEGIN
    UPDATE job_count SET jobs = jobs - 1 WHERE scope = OLD.scope AND need = OLD.need AND OLD.merged_into IS NULL;
    INSERT INTO job_count (scope, need, jobs) SELECT NEW.scope, NEW.need, 1 WHERE NEW.merged_into IS NULL
    ON CONFLICT (scope, need) DO UPDATE SET jobs = jobs + 1;
END;
