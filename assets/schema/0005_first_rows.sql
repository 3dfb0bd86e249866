-- The group and the order of the jobs list, so that its first rows can be read without reading all. The rules are those
-- of `JobGroup` and `age_from` in the model; a test compares them.
ALTER TABLE job ADD COLUMN need INTEGER GENERATED ALWAYS AS (
    CASE
        WHEN undelivered IN ('unconfirmed', 'rejected', 'not sent') THEN 0
        WHEN dismissed = 1 THEN 4
        WHEN undelivered IN ('queued', 'paused') THEN 2
        WHEN undelivered = 'sending' THEN 1
        WHEN gone = 1 THEN 3
        WHEN status IN ('failed', 'completed') AND (looked_at IS NULL OR looked_at < changed_at)
            AND (status = 'failed' OR pr_link IS NOT NULL) THEN 0
        WHEN status IN ('completed', 'archived', 'failed') THEN 3
        ELSE 1
    END
) VIRTUAL;

-- Smaller comes first: the newest, and of the queued prompts the one that is sent next.
ALTER TABLE job ADD COLUMN turn INTEGER GENERATED ALWAYS AS (
    CASE
        WHEN undelivered IN ('queued', 'paused') AND dismissed = 0 THEN coalesce(place, 9223372036854775807)
        WHEN status = 'archived' THEN -coalesce(archived_at, finished_at, created_at)
        WHEN status IN ('completed', 'failed') THEN -coalesce(finished_at, created_at)
        ELSE -started_at
    END
) VIRTUAL;

CREATE INDEX job_by_need ON job (scope, need, turn, key) WHERE merged_into IS NULL;
