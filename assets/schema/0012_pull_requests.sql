-- The state of the job's pull request on the code host.
DROP TRIGGER job_inserted;
DROP TRIGGER job_deleted;
DROP TRIGGER job_group_changed;
DROP INDEX job_by_list_order;
ALTER TABLE job DROP COLUMN list_group;

-- The state as JSON, as in `model::pull_request`; NULL if unknown.
ALTER TABLE job ADD COLUMN pull_request TEXT;
-- Who has to act on the pull request: 'user', 'host' (checks are running) or 'nobody' (it is merged or closed); NULL if
-- unknown.
ALTER TABLE job ADD COLUMN pr_turn TEXT;

-- The group of the jobs list, by the rules of `Job::group` in the model; a test compares them. Dismissed jobs are 4
-- while the agent or checks are working on them and 5 otherwise, so that working jobs can be counted.
ALTER TABLE job ADD COLUMN list_group INTEGER GENERATED ALWAYS AS (
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
) VIRTUAL;

-- The complete sort key of the list, as in `jobs::FIRST_JOBS_SQL`.
CREATE INDEX job_by_list_order ON job (
    scope, list_group, list_order, CASE list_group WHEN 2 THEN key ELSE -key END
) WHERE merged_into IS NULL;

-- The triggers keep `job_count` up to date.
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
