-- What the job's pull request needs, so that `docdeck status` can count these jobs: 'review' if it is ready for review,
-- 'fix' if checks are failing, otherwise NULL.
ALTER TABLE job ADD COLUMN pr_need TEXT;
UPDATE job SET pr_need = (
    CASE
        WHEN json_valid(pull_request) IS NOT 1 THEN NULL
        WHEN pull_request ->> 'state' IN ('merged', 'closed') OR pull_request ->> 'conflict' = 1 THEN NULL
        WHEN pull_request ->> '$.checks.state' = 'failing' THEN 'fix'
        WHEN pull_request ->> 'review' = 'changes_requested' OR pull_request ->> '$.checks.state' = 'pending'
            OR pull_request ->> 'state' <> 'open' THEN NULL
        ELSE 'review'
    END
) WHERE pull_request IS NOT NULL;
CREATE INDEX job_by_pr_need ON job (scope, list_group, pr_need, merged_into) WHERE pr_need IS NOT NULL;
