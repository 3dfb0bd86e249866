-- What other members of the team did about a job: see `docdeck::model::job::TeamActivity`.

-- The author of the prompt that created the job, and of the last accepted follow-up; NULL if they were written on this
-- computer, or if there is none. `touch` in `store::job_rows` writes them.
ALTER TABLE job ADD COLUMN author TEXT;
ALTER TABLE job ADD COLUMN followed_up_by TEXT;

-- The member who dismissed the job; NULL if it was dismissed on this computer, or is not dismissed.
ALTER TABLE job ADD COLUMN dismissed_by TEXT;

-- The member who merged or closed the pull request with docdeck; empty if that was done on this computer.
ALTER TABLE job ADD COLUMN pr_ended_by TEXT;

UPDATE job SET
    author = (SELECT author FROM prompt WHERE prompt.job = job.key AND prompt.kind = 'create' ORDER BY id LIMIT 1),
    followed_up_by = (SELECT author FROM prompt
                      WHERE prompt.job = job.key AND prompt.kind = 'follow-up' AND state = 'accepted'
                      ORDER BY sent_at DESC, id DESC LIMIT 1)
WHERE key IN (SELECT job FROM prompt WHERE author IS NOT NULL);
