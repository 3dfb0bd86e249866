-- Requests that the team's ledger doesn't have yet, because the team's database could not be reached.
CREATE TABLE team_use (
    -- The random id under which the request is or may be booked.
    booking TEXT PRIMARY KEY,
    ledger  INTEGER NOT NULL REFERENCES ledger (id) ON DELETE CASCADE,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
