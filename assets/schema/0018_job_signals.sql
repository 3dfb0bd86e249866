-- The numbers of a page in the reports when a job about it was started; never the texts of readers.
CREATE TABLE job_signals (
    job       INTEGER NOT NULL REFERENCES job (key),
    path      TEXT NOT NULL,
    date_from TEXT NOT NULL,
    -- Inclusive.
    date_to   TEXT NOT NULL,
    -- The numbers as a JSON object, by `Signal::name` of the model. A number that was not loaded is missing.
    signals   TEXT NOT NULL,
    PRIMARY KEY (job, path)
) STRICT, WITHOUT ROWID;
