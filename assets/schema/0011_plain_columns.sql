-- Columns get names that tell what they contain. No value changes.
DROP TRIGGER job_comes;
DROP TRIGGER job_goes;
DROP TRIGGER job_moves;
DROP INDEX job_by_need;

-- The group of the jobs list, and the sort key within the group.
ALTER TABLE job RENAME COLUMN need TO list_group;
ALTER TABLE job RENAME COLUMN turn TO list_order;
ALTER TABLE job_count RENAME COLUMN need TO list_group;

-- The position of the job's first queued prompt.
ALTER TABLE job RENAME COLUMN place TO queue_position;
-- When the user last viewed the job.
ALTER TABLE job RENAME COLUMN looked_at TO viewed_at;

-- Queued, and not sent until the user resumes it, or only sent by `instance`.
ALTER TABLE prompt RENAME COLUMN held TO paused;
-- The position in the queue if the user changed it; otherwise NULL, and the id is the position.
ALTER TABLE prompt RENAME COLUMN place TO queue_position;

-- The earliest reading of the clock that was before blocked_at, or before the use's time, since the clock was set back.
ALTER TABLE ledger RENAME COLUMN blocked_seen TO block_seen_ahead_at;
ALTER TABLE ledger_use RENAME COLUMN seen TO seen_ahead_at;

-- When the load was restarted on purpose: earlier answers are not used.
ALTER TABLE views_report RENAME COLUMN since TO restarted_at;
ALTER TABLE views_loading RENAME COLUMN since TO restarted_at;
-- The order of the rows in the service's answers, and of the pages that a job is about.
ALTER TABLE views_row RENAME COLUMN place TO position;
ALTER TABLE job_page RENAME COLUMN place TO position;
-- All three counts as received, if one of them is not an integer in range.
ALTER TABLE views_row RENAME COLUMN odd TO raw_counts;

-- Values that are kept from one start to the next: the layout, the offset of the service's clock and the like.
ALTER TABLE memory RENAME TO key_value;

-- The complete sort key of the list, as in `jobs::first_rows_sql`.
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
