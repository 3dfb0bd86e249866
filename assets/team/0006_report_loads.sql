-- Which report of each kind a member has begun to load, so that another one waits for it: see `docdeck::team`.

CREATE TABLE docdeck.report_load (
    organization text NOT NULL REFERENCES docdeck.organization (name),
    base_url     text NOT NULL,
    project      text NOT NULL,
    kind         text NOT NULL CHECK (octet_length(kind) <= 40),
    date_from    text NOT NULL CHECK (octet_length(date_from) <= 20),
    date_to      text NOT NULL CHECK (octet_length(date_to) <= 20),
    member       text NOT NULL,
    -- In milliseconds.
    begun_at     bigint NOT NULL,
    -- Only the last load of a kind, so that the number of rows is limited.
    PRIMARY KEY (organization, base_url, project, kind)
);

ALTER TABLE docdeck.report_load ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY members ON docdeck.report_load USING (organization IN (SELECT name FROM docdeck.organization));

GRANT SELECT, INSERT, UPDATE (date_from, date_to, member, begun_at) ON docdeck.report_load TO docdeck_member;
