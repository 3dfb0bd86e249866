-- What a clock that was ahead has written can't be told from its times alone, so the first reading of a clock that was behind
-- them is kept as well. All times are the service's.

-- When the 429 came that blocked_until is from.
ALTER TABLE ledger ADD COLUMN blocked_at INTEGER;
-- The earliest reading that was before blocked_at.
ALTER TABLE ledger ADD COLUMN blocked_seen INTEGER;
-- The 429 named no time, so blocked_until is an estimate.
ALTER TABLE ledger ADD COLUMN is_estimate INTEGER NOT NULL DEFAULT 0;
-- The earliest reading that was before the use's own time.
ALTER TABLE ledger_use ADD COLUMN seen INTEGER;
