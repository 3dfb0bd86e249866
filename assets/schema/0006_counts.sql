-- The size of each group of a scope's list. Triggers update it in the transaction of each change. Rows that were merged
-- into others are in no list.
CREATE TABLE job_count (
    scope INTEGER NOT NULL REFERENCES scope (id),
    need  INTEGER NOT NULL,
    jobs  INTEGER NOT NULL,
    PRIMARY KEY (scope, need)
) STRICT, WITHOUT ROWID;
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
