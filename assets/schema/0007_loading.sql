-- A report that is being loaded: its answers as they came. Rows are made of them once it is whole, all at once and in the
-- order of the index, since one answer after the other would write most of the index again and again.
CREATE TABLE views_loading (
    id        INTEGER PRIMARY KEY,
    scope     INTEGER NOT NULL REFERENCES scope (id),
    date_from TEXT NOT NULL,
    -- Included.
    date_to   TEXT NOT NULL,
    -- Begun anew on purpose: answers from before this moment are not taken in.
    since     INTEGER,
    -- Rows that had come again before its first part that is kept.
    moved     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (scope, date_from, date_to)
) STRICT;
CREATE TABLE views_part (
    loading INTEGER NOT NULL REFERENCES views_loading (id),
    -- The answer's place, from 1.
    number  INTEGER NOT NULL,
    as_of   INTEGER NOT NULL,
    answer  TEXT NOT NULL,
    PRIMARY KEY (loading, number)
) STRICT, WITHOUT ROWID;

-- A views_report that is not whole is none of this docdeck. What a load that was broken off had taken in becomes one answer.
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
