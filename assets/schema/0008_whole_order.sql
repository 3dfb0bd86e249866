-- The index covers the complete sort key of the list, so that no rows with equal times have to be sorted. The last part
-- is the tie-break of `jobs::first`: queued prompts are sent oldest first, all other jobs are listed newest first.
DROP INDEX job_by_need;
CREATE INDEX job_by_need ON job (scope, need, turn, CASE need WHEN 2 THEN key ELSE -key END) WHERE merged_into IS NULL;
