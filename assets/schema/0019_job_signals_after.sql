-- Also the numbers after a job: the reports that they come from expire, because they contain texts of readers.
CREATE TABLE job_signals_new (
    job       INTEGER NOT NULL REFERENCES job (key),
    path      TEXT NOT NULL,
    -- 0 for the numbers when the job was started, 1 for those in the days after it.
    is_after  INTEGER NOT NULL,
    date_from TEXT NOT NULL,
    -- Inclusive.
    date_to   TEXT NOT NULL,
    -- The numbers as a JSON object, by `Signal::name` of the model. A number that was not loaded is missing.
    signals   TEXT NOT NULL,
    PRIMARY KEY (job, path, is_after)
) STRICT, WITHOUT ROWID;
INSERT INTO job_signals_new (job, path, is_after, date_from, date_to, signals)
    SELECT job, path, 0, date_from, date_to, signals FROM job_signals;
DROP TABLE job_signals;
ALTER TABLE job_signals_new RENAME TO job_signals;
