-- Reports with texts of readers (comments, questions and answers), which expire: see `docdeck::team`.

-- When the texts must be deleted, in milliseconds on the service's clock; NULL for reports without texts. Parts have this
-- time, too, since an interrupted upload leaves parts without a header, and a newer version leaves those of the older one.
ALTER TABLE docdeck.report ADD COLUMN expires_at bigint,
    ADD CONSTRAINT reader_texts_expire CHECK (
        (kind IN ('feedback', 'questions')) = (expires_at IS NOT NULL)
        -- At most 90 days after they were loaded.
        AND (expires_at IS NULL OR expires_at <= as_of + 7776000000));
ALTER TABLE docdeck.report_part ADD COLUMN expires_at bigint,
    ADD CONSTRAINT reader_texts_expire CHECK ((kind IN ('feedback', 'questions')) = (expires_at IS NOT NULL));

CREATE INDEX report_by_expiry ON docdeck.report (project, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX report_part_by_expiry ON docdeck.report_part (project, expires_at) WHERE expires_at IS NOT NULL;

-- Members delete what has expired, and nothing else. These policies restrict the policies `members`, and only for
-- deletions: a policy that hid expired rows would also hide them from the member that deletes them. The administrator,
-- who alone may delete prompts, may delete all reports.
CREATE POLICY expired ON docdeck.report AS RESTRICTIVE FOR DELETE USING (
    expires_at <= floor(extract(epoch FROM now()) * 1000)::bigint OR has_table_privilege('docdeck.prompt', 'DELETE'));
CREATE POLICY expired ON docdeck.report_part AS RESTRICTIVE FOR DELETE USING (
    expires_at <= floor(extract(epoch FROM now()) * 1000)::bigint OR has_table_privilege('docdeck.prompt', 'DELETE'));

GRANT UPDATE (expires_at), DELETE ON docdeck.report, docdeck.report_part TO docdeck_member;
