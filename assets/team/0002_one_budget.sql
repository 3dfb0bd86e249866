-- Which computer polls the jobs of a project for the team, and which requests of an hour are used: see `docdeck::team`.

CREATE TABLE docdeck.lease (
    project    bigint NOT NULL REFERENCES docdeck.project (id),
    role       text NOT NULL CHECK (role = 'poll'),
    -- A random id of the process that has the lease; empty if it was released.
    holder     text NOT NULL,
    -- Increases with each new holder, so that the writes of a former holder are recognized.
    token      bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (project, role)
);

-- The requests of an hourly limit, one row for each of the 100. A request that is sent takes the row that has been free for
-- the longest time, so no more than 100 can be sent in an hour. A member can add rows only up to this number.
CREATE TABLE docdeck.request_slot (
    organization text NOT NULL REFERENCES docdeck.organization (name),
    base_url     text NOT NULL,
    -- The project or organization of the service to which the limit applies.
    owner        text NOT NULL,
    operation    text NOT NULL,
    number       integer NOT NULL CHECK (number BETWEEN 1 AND 100),
    -- A random id of the request that uses the row.
    booking      text NOT NULL DEFAULT '',
    -- When the request was booked, in milliseconds; 0 if the row is free.
    used_at      bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organization, base_url, owner, operation, number)
);

ALTER TABLE docdeck.lease ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE docdeck.request_slot ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY members ON docdeck.lease USING (project IN (SELECT id FROM docdeck.project));
CREATE POLICY members ON docdeck.request_slot USING (organization IN (SELECT name FROM docdeck.organization));

GRANT SELECT, INSERT, UPDATE (holder, token, expires_at) ON docdeck.lease TO docdeck_member;
GRANT SELECT, INSERT, UPDATE (booking, used_at) ON docdeck.request_slot TO docdeck_member;
