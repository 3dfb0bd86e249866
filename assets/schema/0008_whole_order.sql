-- The index covers the whole sort key of the list, so that rows with the same times are not sorted after they were read. The
-- last part is the tie-break of `jobs::first`: queued prompts go out oldest first, all other jobs are listed newest first.
DROP INDEX job_by_need;
CREATE INDEX job_by_need ON job (scope, need, turn, CASE need WHEN 2 THEN key ELSE -key END) WHERE merged_into IS NULL;
