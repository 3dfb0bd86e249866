-- Until when the service refuses requests of a kind, so that not every member has to be refused: see `docdeck::team`.

CREATE TABLE docdeck.rate_limit_block (
    organization  text NOT NULL REFERENCES docdeck.organization (name),
    base_url      text NOT NULL,
    -- As in `request_slot`.
    owner         text NOT NULL,
    operation     text NOT NULL,
    -- The end of the wait, in milliseconds on the clock of the database.
    blocked_until bigint NOT NULL,
    -- Whether a member estimated the end, because the service gave none.
    is_estimate   boolean NOT NULL,
    PRIMARY KEY (organization, base_url, owner, operation)
);

ALTER TABLE docdeck.rate_limit_block ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY members ON docdeck.rate_limit_block USING (organization IN (SELECT name FROM docdeck.organization));

GRANT SELECT, INSERT, UPDATE (blocked_until, is_estimate) ON docdeck.rate_limit_block TO docdeck_member;
