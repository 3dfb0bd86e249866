-- Times that were stored while the clock was ahead can't be recognised by themselves, so the first reading of a clock
-- that was behind them is stored as well. All times are the service's.

-- When the 429 was received that blocked_until comes from.
ALTER TABLE ledger ADD COLUMN blocked_at INTEGER;
-- The earliest reading of the clock that was before blocked_at.
ALTER TABLE ledger ADD COLUMN blocked_seen INTEGER;
-- The 429 contained no time, so blocked_until is an estimate.
ALTER TABLE ledger ADD COLUMN is_estimate INTEGER NOT NULL DEFAULT 0;
-- The earliest reading of the clock that was before the use's own time.
ALTER TABLE ledger_use ADD COLUMN seen INTEGER;
