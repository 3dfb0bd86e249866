-- The analytics that members loaded, so that the others need no request for them: see `docdeck::team`.

-- The newest report of a kind and range. The rules are in `docdeck::model::team`.
CREATE TABLE docdeck.report (
    project   bigint NOT NULL REFERENCES docdeck.project (id),
    kind      text NOT NULL CHECK (octet_length(kind) <= 40),
    -- The first and the last day.
    date_from text NOT NULL CHECK (octet_length(date_from) <= 20),
    date_to   text NOT NULL CHECK (octet_length(date_to) <= 20),
    -- When it was loaded, in milliseconds on the service's clock, which is the same for all members.
    as_of     bigint NOT NULL,
    -- This time and a hash of the content.
    version   text NOT NULL CHECK (octet_length(version) <= 60),
    -- The totals, as JSON.
    summary   text NOT NULL CHECK (octet_length(summary) <= 4096),
    -- Where the rows are: in this slot, in so many parts.
    slot      integer NOT NULL CHECK (slot IN (0, 1)),
    parts     integer NOT NULL CHECK (parts BETWEEN 0 AND 64),
    change    bigint NOT NULL,
    PRIMARY KEY (project, kind, date_from, date_to)
);

CREATE UNIQUE INDEX report_by_change ON docdeck.report (project, change);

-- The rows of reports, as JSON. A report has two slots: a newer version is first written to the slot that is not in use,
-- without a transaction, so that nothing waits for it.
CREATE TABLE docdeck.report_part (
    project   bigint NOT NULL REFERENCES docdeck.project (id),
    kind      text NOT NULL CHECK (octet_length(kind) <= 40),
    date_from text NOT NULL CHECK (octet_length(date_from) <= 20),
    date_to   text NOT NULL CHECK (octet_length(date_to) <= 20),
    slot      integer NOT NULL CHECK (slot IN (0, 1)),
    number    integer NOT NULL CHECK (number BETWEEN 1 AND 64),
    version   text NOT NULL CHECK (octet_length(version) <= 60),
    content   text NOT NULL CHECK (octet_length(content) <= 262144),
    PRIMARY KEY (project, kind, date_from, date_to, slot, number)
);

ALTER TABLE docdeck.report ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE docdeck.report_part ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY members ON docdeck.report USING (project IN (SELECT id FROM docdeck.project));
CREATE POLICY members ON docdeck.report_part USING (project IN (SELECT id FROM docdeck.project));

GRANT SELECT, INSERT, UPDATE (as_of, version, summary, slot, parts, change) ON docdeck.report TO docdeck_member;
GRANT SELECT, INSERT, UPDATE (version, content) ON docdeck.report_part TO docdeck_member;
