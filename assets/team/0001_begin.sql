-- The schema of a team's database: see `docdeck::team`.

CREATE SCHEMA docdeck;

CREATE TABLE docdeck.schema_version (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version  integer NOT NULL
);

-- An organization sees only its rows. Its members are those of its role.
CREATE TABLE docdeck.organization (
    name text PRIMARY KEY,
    role text NOT NULL
);

-- A project of a service.
CREATE TABLE docdeck.project (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization text NOT NULL REFERENCES docdeck.organization (name),
    base_url     text NOT NULL,
    project      text NOT NULL,
    -- The number of the last change. A transaction that writes locks this row first, so changes become visible in the
    -- order of their numbers.
    last_change  bigint NOT NULL DEFAULT 0,
    -- The time of the last write in milliseconds. It never goes back, even if the clock does.
    last_stamp   bigint NOT NULL DEFAULT 0,
    UNIQUE (organization, base_url, project)
);

CREATE TABLE docdeck.member (
    project   bigint NOT NULL REFERENCES docdeck.project (id),
    id        text NOT NULL,
    name      text NOT NULL,
    last_seen timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project, id)
);

-- `state` and `prompt` are JSON, as in `docdeck::model::team`. As text, they can contain every character.
CREATE TABLE docdeck.job (
    project bigint NOT NULL REFERENCES docdeck.project (id),
    id      text NOT NULL,
    state   text NOT NULL,
    change  bigint NOT NULL,
    PRIMARY KEY (project, id)
);

CREATE UNIQUE INDEX job_by_change ON docdeck.job (project, change);

CREATE TABLE docdeck.prompt (
    project bigint NOT NULL REFERENCES docdeck.project (id),
    uid     text NOT NULL,
    job     text NOT NULL,
    prompt  text NOT NULL,
    change  bigint NOT NULL,
    PRIMARY KEY (project, uid)
);

CREATE UNIQUE INDEX prompt_by_change ON docdeck.prompt (project, change);

-- The transactions that wrote, with their last change and their time in milliseconds.
CREATE TABLE docdeck.batch (
    project     bigint NOT NULL REFERENCES docdeck.project (id),
    id          text NOT NULL,
    last_change bigint NOT NULL,
    stamp       bigint NOT NULL,
    member      text NOT NULL,
    stored_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project, id)
);

CREATE UNIQUE INDEX batch_by_change ON docdeck.batch (project, last_change);

-- Policies also hold for the owner of the tables, so that an administrator who uses docdeck sees no other organization.
ALTER TABLE docdeck.organization ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE docdeck.project ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE docdeck.member ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE docdeck.job ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE docdeck.prompt ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE docdeck.batch ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY members ON docdeck.organization USING (coalesce(pg_has_role(to_regrole(role)::oid, 'MEMBER'), false));
CREATE POLICY members ON docdeck.project USING (organization IN (SELECT name FROM docdeck.organization));
CREATE POLICY members ON docdeck.member USING (project IN (SELECT id FROM docdeck.project));
CREATE POLICY members ON docdeck.job USING (project IN (SELECT id FROM docdeck.project));
CREATE POLICY members ON docdeck.prompt USING (project IN (SELECT id FROM docdeck.project));
CREATE POLICY members ON docdeck.batch USING (project IN (SELECT id FROM docdeck.project));

-- All members of all organizations. They can't delete anything, and can't change the schema or the organizations.
DO $$ BEGIN
    IF to_regrole('docdeck_member') IS NULL THEN
        CREATE ROLE docdeck_member NOLOGIN;
    END IF;
END $$;

GRANT USAGE ON SCHEMA docdeck TO docdeck_member;
GRANT SELECT ON docdeck.schema_version, docdeck.organization TO docdeck_member;
GRANT SELECT, INSERT, UPDATE (last_change, last_stamp) ON docdeck.project TO docdeck_member;
GRANT SELECT, INSERT, UPDATE (name, last_seen) ON docdeck.member TO docdeck_member;
GRANT SELECT, INSERT, UPDATE (state, change) ON docdeck.job TO docdeck_member;
GRANT SELECT, INSERT, UPDATE (prompt, change) ON docdeck.prompt TO docdeck_member;
GRANT SELECT, INSERT ON docdeck.batch TO docdeck_member;
