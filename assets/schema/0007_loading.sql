-- Reports that are being loaded, with their answers as received. Rows are only written when the report is complete, all
-- at once and in the order of the index: writing them answer by answer would write most of the index each time.
CREATE TABLE views_loading (
    id        INTEGER PRIMARY KEY,
    scope     INTEGER NOT NULL REFERENCES scope (id),
    date_from TEXT NOT NULL,
    -- Inclusive.
    date_to   TEXT NOT NULL,
    -- When the load was restarted on purpose: earlier answers are not used.
    since     INTEGER,
    -- Duplicate rows from before the first stored part.
    moved     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (scope, date_from, date_to)
) STRICT;
CREATE TABLE views_part (
    loading INTEGER NOT NULL REFERENCES views_loading (id),
    -- The number of the answer, starting at 1.
    number  INTEGER NOT NULL,
    as_of   INTEGER NOT NULL,
    answer  TEXT NOT NULL,
    PRIMARY KEY (loading, number)
) STRICT, WITHOUT ROWID;

-- Unfinished reports move to views_loading: the rows that were loaded so far become one answer.
INSERT INTO views_loading (id, scope, date_from, date_to, since, moved)
SELECT id, scope, date_from, date_to, since, moved FROM views_report WHERE complete = 0 AND answers > 0;
INSERT INTO views_part (loading, number, as_of, answer)
SELECT id, answers, as_of, json_object(
    'totals', json(CASE WHEN json_valid(totals) AND json_array_length(totals) = 3 THEN totals ELSE '[null,null,null]' END),
    'rows', json((
        SELECT json_group_array(json(line)) FROM (
            SELECT json_array(views_path.path, json(CASE
                WHEN odd IS NULL THEN json_array(human, ai, total)
                WHEN json_valid(odd) AND json_array_length(odd) = 3 THEN odd ELSE '[null,null,null]' END)) AS line
            FROM views_row JOIN views_path ON views_path.id = views_row.path
            WHERE report = views_report.id ORDER BY place))),
    'more', json('true'))
FROM views_report WHERE complete = 0 AND answers > 0;
DELETE FROM views_row WHERE report IN (SELECT id FROM views_report WHERE complete = 0);
DELETE FROM views_report WHERE complete = 0;
