//! Properties of stored data: everything that is written to a store on disk is read back unchanged after a restart.
//! Also tests backups and configuration files.

use chrono::{Days, NaiveDate, TimeDelta};
use docdeck::config::file::ConfigFile;
use docdeck::config::write;
use docdeck::model::Time;
use docdeck::model::analytics::signal_snapshot::JobSnapshots;
use docdeck::model::backup::{
    BackupHeader, BackupLine, BackupTotals, DraftPurpose, DraftRecord, DraftText, JobRecord, PromptRecord,
};
use docdeck::model::change::LocalChange;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::job::{Job, JobKey};
use docdeck::model::layout::{JobsLayout, Layout, SavedRange, SavedScreen, SortBy, ViewsLayout};
use docdeck::model::ledger::{Quota, Wait};
use docdeck::model::load::Timed;
use docdeck::model::period::DateRange;
use docdeck::model::prompt::{Delivery, DeliveryKind, DraftTarget, EventKind, JobEvent, PromptKind};
use docdeck::model::remote_job::{JobId, JobSource, RemoteJob, RemoteState, Status};
use docdeck::model::report::Report;
use docdeck::model::setup::{ConfigWritePermission, KeySourceInput, NewProfile};
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, PageRow, ViewsQuery, ViewsResponse};
use docdeck::store::{ReportResponse, ScopeFilter, SendPermit, Store, check_backup};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use std::future::Future;
use std::io::{Cursor, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Any text, including control characters and other characters of malicious texts.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "\\PC{0,40}",
        "[ -~\\n\\r\\t\\x00\\x1b\\[\\]\u{9b}\u{202e}\u{200b}\u{2028}\u{301}\u{e0041}\u{130}日\"'\\\\%_{}]{0,60}",
    ]
}

/// A prompt with at least one visible character.
fn prompt() -> impl Strategy<Value = String> {
    (text(), text()).prop_map(|(before, after)| format!("{before}\nword {after}"))
}

fn line() -> impl Strategy<Value = CleanText> {
    text().prop_map(|text| CleanText::line(&text))
}

/// A line of text that is not blank.
fn word() -> impl Strategy<Value = CleanText> {
    text().prop_map(|text| CleanText::line(&format!("w{text}")))
}

/// A time with a precision of milliseconds, in any year that RFC 3339 supports.
fn time() -> impl Strategy<Value = Time> {
    let millis = prop_oneof![
        3 => 1_700_000_000_000_i64..1_900_000_000_000,
        1 => -62_167_219_200_000_i64..253_402_300_800_000,
    ];
    millis.prop_map(|millis| Time::from_timestamp_millis(millis).expect("a time"))
}

fn job_id() -> impl Strategy<Value = JobId> {
    text().prop_map(|text| JobId::new(&format!("j{text}")).expect("an id"))
}

fn status() -> impl Strategy<Value = Status> {
    let known = prop::sample::select(vec!["active", "completed", "archived", "failed", ""]);
    prop_oneof![known.prop_map(Status::parse), text().prop_map(|text| Status::parse(&text))]
}

prop_compose! {
    fn job()(
        id in job_id(), status in status(), texts in (of(word()), of(word()), of(word()), of(word())),
        created_at in of(time()), archived_at in of(time()),
    ) -> RemoteJob {
        let (repository, git_ref, model, pr_link) = texts;
        let source = JobSource { repository: repository.map(Arc::new), git_ref };
        let state = RemoteState { status: Some(status), source, model: model.map(Arc::new), pr_link, archived_at };
        RemoteJob { id, created_at, state }
    }
}

fn counts() -> impl Strategy<Value = Counts> {
    let count = || {
        prop_oneof![
            3 => any::<i64>().prop_map(Count::Known),
            3 => any::<f64>().prop_map(|number| Count::from_f64(number).unwrap_or_default()),
            1 => Just(Count::Missing),
            1 => line().prop_map(Count::Other),
        ]
    };
    (count(), count(), count()).prop_map(|(human, ai, total)| Counts::new(human, ai, total))
}

fn page() -> impl Strategy<Value = ViewsResponse> {
    let row = (word(), counts()).prop_map(|(path, counts)| PageRow { path, counts });
    (counts(), vec(row, 0..8), of(any::<bool>())).prop_map(|(totals, rows, has_more)| ViewsResponse {
        totals,
        rows,
        has_more,
    })
}

fn day() -> impl Strategy<Value = NaiveDate> {
    (0_u64..40_000).prop_map(|days| NaiveDate::default() + Days::new(days))
}

fn range() -> impl Strategy<Value = DateRange> {
    (day(), 0_u64..400).prop_map(|(from, days)| DateRange::new(from, from + Days::new(days)).expect("a range"))
}

fn layout() -> impl Strategy<Value = Layout> {
    let sort = || of((text(), any::<bool>()).prop_map(|(by, reversed)| SortBy { by, reversed }));
    let place = prop::sample::select(vec![SavedScreen::Jobs, SavedScreen::Views, SavedScreen::Log]);
    let shown = prop_oneof![
        text().prop_map(SavedRange::Preset),
        (day(), day()).prop_map(|(from, to)| SavedRange::Days(from, to))
    ];
    let jobs = (text(), of(text()), sort(), any::<bool>()).prop_map(|(filter, tab, sort, dismissed)| JobsLayout {
        filter,
        tab,
        sort,
        dismissed,
    });
    let views = (of(shown), of(any::<u32>()), of(text()), any::<bool>(), any::<bool>(), sort(), text()).prop_map(
        |(range, limit, metric, log, folded, sort, filter)| ViewsLayout {
            range,
            limit,
            metric,
            log_scale: log,
            folded,
            sort,
            filter,
        },
    );
    (of(any::<u16>()), of(any::<u16>()), any::<bool>(), place, jobs, views).prop_map(
        |(columns, rows, hidden, place, jobs, views)| Layout {
            list_width: columns,
            list_height: rows,
            details_hidden: hidden,
            screen: place,
            jobs,
            views,
        },
    )
}

fn delivery() -> impl Strategy<Value = Delivery> {
    prop_oneof![
        Just(Delivery::Accepted),
        Just(Delivery::Paused),
        of(prop_oneof![Just(DeliveryKind::Paused), Just(DeliveryKind::Unconfirmed)])
            .prop_map(|from| Delivery::Discarded { from }),
        word().prop_map(Delivery::NotSent),
        word().prop_map(Delivery::Rejected),
        word().prop_map(Delivery::Unconfirmed),
    ]
}

fn event() -> impl Strategy<Value = JobEvent> {
    let kind = prop_oneof![
        (of(status()), status()).prop_map(|(from, to)| EventKind::Status { from, to }),
        word().prop_map(EventKind::PullRequest),
        Just(EventKind::Gone),
        Just(EventKind::Back),
    ];
    (time(), kind).prop_map(|(at, kind)| JobEvent { at, kind })
}

fn draft_text() -> impl Strategy<Value = DraftText> {
    (prompt(), time()).prop_map(|(text, saved_at)| DraftText { text, saved_at })
}

prop_compose! {
    fn prompt_record()(
        kind in prop::sample::select(vec![PromptKind::Create, PromptKind::FollowUp]),
        text in prompt(), delivery in delivery(), times in (time(), of(time()), of(time())), draft in of(draft_text()),
    ) -> PromptRecord {
        PromptRecord { kind, text, delivery, written_at: times.0, sent_at: times.1, state_at: times.2, author: None, draft }
    }
}

prop_compose! {
    fn job_record()(
        job in job(), title in word(), labels in (vec("[a-zé日]{1,5}", 0..4), of(word()), vec(word(), 0..3)),
        prompts in vec(prompt_record(), 0..4), events in vec(event(), 0..4), draft in of(draft_text()),
        times in (time(), time(), time(), of(time()), of(time()), of(time())), acted in (of(time()), of(time()), of(time())),
        flags in (any::<bool>(), any::<bool>()),
    ) -> JobRecord {
        let (tags, note, pages) = labels;
        let mut unique_pages: Vec<CleanText> = Vec::new();
        for page in pages {
            if !unique_pages.contains(&page) {
                unique_pages.push(page);
            }
        }
        let mut tags: Vec<CleanText> = tags.iter().map(|tag| CleanText::line(&tag.to_lowercase())).collect();
        tags.sort();
        tags.dedup();
        let mut row = Job::new(JobKey(0), CleanText::title(title.as_str(), 200), times.0);
        row.id = Some(job.id);
        row.remote = job.state;
        row.local.has_custom_title = true;
        row.local.tags = tags.into();
        row.local.note = note;
        row.local.pages = unique_pages.into();
        row.local.started_at = times.1;
        row.local.changed_at = times.2;
        row.local.finished_at = times.3;
        row.local.checked_at = times.4;
        row.local.viewed_at = times.5;
        row.local.handled_at = acted.0;
        row.local.followed_up_at = acted.1;
        row.local.gone_at = acted.2;
        row.local.gone = flags.0;
        row.local.dismissed = flags.1;
        JobRecord { scope: scope(), job: row, prompts, events, draft, signals: JobSnapshots::default() }
    }
}

fn backup_line() -> impl Strategy<Value = BackupLine> {
    let of = prop_oneof![
        Just(DraftPurpose::NewJob),
        Just(DraftPurpose::Batch),
        word().prop_map(|page| DraftPurpose::AboutPages(vec![page])),
    ];
    prop_oneof![
        1 => (line(), time()).prop_map(|(docdeck_version, exported_at)| BackupLine::Header(BackupHeader { docdeck_version, exported_at })),
        4 => job_record().prop_map(|record| BackupLine::Job(Box::new(record))),
        1 => (of, draft_text()).prop_map(|(of, draft)| BackupLine::Draft(DraftRecord { scope: scope(), purpose: of, draft })),
        1 => (any::<u64>(), any::<u64>()).prop_map(|(jobs, drafts)| BackupLine::End(BackupTotals { jobs, drafts })),
    ]
}

fn scope() -> Scope {
    Scope { base_url: "https://docs.example".to_owned(), project: "acme 日".to_owned(), organization: None }
}

fn now() -> Time {
    Time::from_timestamp(1_800_000_000, 0).expect("a time")
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(work)
}

/// Writes to a store, closes it, opens it again and reads from it. Opening prunes the store and checks its integrity.
fn across_restart<K, T, W: Future<Output = K>, R: Future<Output = T>>(
    write: impl FnOnce(Store) -> W,
    read: impl FnOnce(Store, K) -> R,
) -> T {
    let folder = crate::create_folder();
    run(async {
        let open = |folder: &Path| Store::open(folder, now()).expect("a store").0;
        let store = open(folder.path());
        let key = write(store.clone()).await;
        store.close().await;
        let store = open(folder.path());
        let read = read(store.clone(), key).await;
        store.close().await;
        read
    })
}

async fn export(store: &Store) -> String {
    let mut file = tempfile::tempfile().expect("a file");
    store.export(file.try_clone().expect("a file"), ScopeFilter::default(), "x", now()).await.expect("written");
    file.rewind().expect("rewound");
    let mut text = String::new();
    file.read_to_string(&mut text).expect("text");
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_job_is_read_back_as_the_service_sent_it(job in job(), change in (of(word()), vec(word(), 0..3), of(word()))) {
        let (title, tags, note) = change;
        let (tracked, labels) = (job.clone(), (title.clone(), note.clone()));
        let (written, read) = across_restart(
            async move |store| {
                let row = store.track(&scope(), tracked, now()).await.expect("kept");
                store.change_jobs(&[row.key], LocalChange::Title(labels.0), now()).await.expect("kept");
                store.change_jobs(&[row.key], LocalChange::Tags(tags), now()).await.expect("kept");
                store.change_jobs(&[row.key], LocalChange::Viewed, now()).await.expect("kept");
                store.change_jobs(&[row.key], LocalChange::Note(labels.1), now()).await.expect("kept").remove(0)
            },
            async |store, written| {
                let read = store.job_by_id(&scope(), written.id.as_ref().expect("an id")).await.expect("read").expect("there");
                assert_eq!(store.jobs(&scope()).await.expect("read").first(), Some(&read));
                (written, read)
            },
        );
        prop_assert_eq!(&read, &written);
        prop_assert_eq!(read.id, Some(job.id));
        prop_assert_eq!(read.remote, job.state);
        prop_assert!(job.created_at.is_none_or(|at| at == read.created_at));
        prop_assert!(title.is_none_or(|title| read.local.title == CleanText::title(title.as_str(), 200)));
        prop_assert_eq!(read.local.note, note);
    }

    #[test]
    fn a_thread_is_read_back_as_it_was_typed_and_sent(
        texts in vec(prompt(), 1..4), pages in vec(word(), 1..3), why in word(), response in job(), end in 0..5,
    ) {
        let (typed, about) = (texts.clone(), pages.clone());
        let (delivery, before, after, row) = across_restart(
            async move |store| {
                let (first, row) = store.add_job_about_pages(&scope(), &typed[0], &about, &[], now()).await.expect("kept");
                for text in &typed[1..] {
                    store.add_follow_up(row.key, text, now()).await.expect("kept");
                }
                let turn = store.request_permit(first, "one", now(), now()).await.expect("a turn");
                assert!(matches!(&turn, SendPermit::Granted { text, .. } if *text == typed[0]), "sent as it was typed: {turn:?}");
                let wait = Wait { until: now() + TimeDelta::hours(1), is_estimate: false };
                let (delivery, limit) = match end {
                    0 => (Delivery::Accepted, None),
                    1 => (Delivery::NotSent(why), None),
                    2 => (Delivery::Rejected(why), None),
                    3 => (Delivery::Unconfirmed(why), None),
                    _ => (Delivery::Queued { until: Some(wait.until) }, Some((wait, now()))),
                };
                if delivery == Delivery::Accepted {
                    store.record_accepted_send(first, response, now()).await.expect("kept");
                } else {
                    store.record_unaccepted_send(first, delivery.clone(), limit, now()).await.expect("kept");
                }
                (delivery, row.key, store.thread(row.key).await.expect("read"))
            },
            async |store, (delivery, key, before)| {
                let row = store.job(key).await.expect("read").expect("there");
                (delivery, before, store.thread(key).await.expect("read"), row)
            },
        );
        prop_assert_eq!(&before, &after);
        prop_assert_eq!(after.prompts.iter().map(|prompt| prompt.text.clone()).collect::<Vec<_>>(), texts);
        prop_assert_eq!(&after.prompts[0].delivery, &delivery);
        prop_assert!(pages.iter().all(|page| row.local.pages.contains(page)), "{:?}", row.local.pages);
    }

    #[test]
    fn every_draft_is_read_back_as_it_was_typed(texts in vec(text(), 5), pages in vec(word(), 0..3), typed in prompt()) {
        let typed_texts = texts.clone();
        let about = pages.clone();
        let (slots, drafts) = across_restart(
            async move |store| {
                let (prompt, row) = store.add_new_job(&scope(), &typed, now()).await.expect("kept");
                let slots = [
                    DraftTarget::NewJob, DraftTarget::Batch, DraftTarget::FollowUp(row.key), DraftTarget::Prompt(prompt),
                    DraftTarget::AboutPages,
                ];
                for (slot, text) in slots.into_iter().zip(&typed_texts) {
                    match slot {
                        DraftTarget::AboutPages => store.save_draft_about_pages(&scope(), text, &about, now()).await.expect("kept"),
                        slot => store.save_draft(&scope(), slot, text, now()).await.expect("kept"),
                    }
                }
                slots
            },
            async |store, slots| (slots, store.drafts(&scope()).await.expect("read")),
        );
        for (slot, text) in slots.into_iter().zip(&texts) {
            let found = drafts.iter().find(|draft| draft.slot == slot);
            prop_assert_eq!(found.map(|draft| draft.text.as_str()), Some(text.as_str()).filter(|text| !text.is_empty()));
            if slot == DraftTarget::AboutPages && let Some(found) = found {
                prop_assert_eq!(&found.pages, &pages);
            }
        }
    }

    #[test]
    fn a_ledger_is_read_back_with_every_entry(spent in vec(0_i64..3000, 0..20), rest in of(1_i64..5000)) {
        let until = rest.map(|seconds| now() + TimeDelta::seconds(seconds));
        let times = spent.clone();
        let (before, after) = across_restart(
            async move |store| {
                for seconds in times {
                    let at = now() - TimeDelta::seconds(seconds);
                    store.spend(&scope(), Quota::FollowUp, at).await.expect("kept").expect("a free request");
                }
                if let Some(until) = until {
                    let wait = Wait { until, is_estimate: true };
                    store.record_rate_limit(&scope(), Quota::FollowUp, wait, now()).await.expect("kept");
                }
                store.budget(&scope(), Quota::FollowUp, now()).await.expect("read")
            },
            async |store, before| (before, store.budget(&scope(), Quota::FollowUp, now()).await.expect("read")),
        );
        prop_assert_eq!(before, after);
        prop_assert_eq!(after.used as usize, spent.len());
        prop_assert_eq!(after.blocked.map(|wait| wait.until), until);
        prop_assert!(after.blocked.is_none_or(|wait| wait.is_estimate));
    }

    #[test]
    fn page_views_are_read_back_as_the_service_sent_them(page in page(), range in range(), limit in 1_u32..250, n in 1_u32..9) {
        let query = ViewsQuery { range, limit, page: n };
        let kept = page.clone();
        let read = across_restart(
            async move |store| store.save_views(&scope(), query, &kept, now()).await.expect("kept"),
            async move |store, ()| store.cached_views(&scope(), query).await.expect("read"),
        );
        prop_assert_eq!(read, Some(Timed { value: page, as_of: now() }));
    }

    #[test]
    fn a_report_is_read_back_after_each_response(
        responses in vec(page(), 1..4), range in range(), whole in any::<bool>(),
    ) {
        let mut report: Option<Report> = None;
        for (n, response) in (1..).zip(&responses) {
            let complete = whole && n == responses.len();
            match &mut report {
                Some(report) => report.add_response(response.clone(), complete, now()),
                None => report = Some(Report::from_first_response(range, response.clone(), complete, now())),
            }
        }
        let read = across_restart(
            async move |store| {
                let last = responses.len();
                for (number, response) in (1_u32..).zip(responses) {
                    let is_last = whole && number as usize == last;
                    let next = ReportResponse { range, number, response, is_last, as_of: now(), restarted_at: None };
                    assert!(store.add_report_response(&scope(), next).await.expect("kept"));
                }
            },
            async move |store, ()| store.cached_report(&scope(), range).await.expect("read"),
        );
        prop_assert_eq!(read.report.as_deref(), report.as_ref());
    }

    #[test]
    fn the_saved_layout_is_read_back(layout in layout(), name in text()) {
        let (key, text) = (format!("layout {name}"), layout.to_json());
        let asked = key.clone();
        let read = across_restart(
            async move |store| store.set_value(&key, &text).await.expect("kept"),
            async move |store, ()| store.value(&asked).await.expect("read"),
        );
        prop_assert_eq!(Layout::parse(&read.expect("there")), layout);
    }

    #[test]
    fn imported_jobs_are_exported_unchanged(records in vec(job_record(), 0..4)) {
        let lines = std::iter::once(BackupLine::Header(BackupHeader { docdeck_version: CleanText::line("x"), exported_at: now() }))
            .chain(records.into_iter().map(|record| BackupLine::Job(Box::new(record))));
        let file: String = lines.map(|line| line.to_json().expect("written") + "\n").collect();
        let (first_export, second_export) = across_restart(
            async move |store| {
                store.import(Cursor::new(file), ScopeFilter::default(), false, now()).await.expect("imported");
                export(&store).await
            },
            async |store, written| {
                assert_eq!(export(&store).await, written, "the export is the same after a restart");
                let other = Store::in_memory().expect("a store");
                check_backup(Cursor::new(&written), now()).expect("what was written is read");
                other.import(Cursor::new(written.clone()), ScopeFilter::default(), false, now()).await.expect("imported");
                (written, export(&other).await)
            },
        );
        prop_assert_eq!(second_export, first_export);
    }
}

/// A profile as a user may type it.
fn profile() -> impl Strategy<Value = NewProfile> {
    let typed = || "[ -~é日]{0,20}".prop_map(|text| format!("t{text}"));
    let key = prop_oneof![
        Just(KeySourceInput::SetElsewhere),
        vec(typed(), 1..4).prop_map(KeySourceInput::Command),
        typed().prop_map(|path| KeySourceInput::File(PathBuf::from(path))),
        "[!-~]{1,40}".prop_map(|key| KeySourceInput::Typed(ApiKey::new(&key).expect("a key"))),
    ];
    let ca_file = of(typed().prop_map(PathBuf::from));
    (typed(), of(typed()), typed(), of(typed()), ca_file, key).prop_map(
        |(name, base_url, project, organization, ca_file, key)| NewProfile {
            name,
            base_url,
            project,
            organization,
            ca_file,
            key,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_backup_line_is_read_as_it_was_written(line in backup_line()) {
        let text = line.to_json().expect("written");
        prop_assert!(!text.contains('\n'), "{}", text);
        prop_assert_eq!(BackupLine::parse(&text, now()), Ok(line));
    }

    #[test]
    fn a_saved_profile_is_read_as_it_was_typed(profile in profile(), second in profile()) {
        let folder = crate::create_folder();
        let path = folder.path().join("config.toml");
        let second = NewProfile { name: format!("{} too", profile.name), ..second };
        for profile in [&profile, &second] {
            write::write_profile(&path, profile, ConfigWritePermission::Add).expect("written");
        }
        let text = std::fs::read_to_string(&path).expect("read");
        let file = ConfigFile::parse(&path, &text).expect("a good file");
        prop_assert_eq!(file.default_profile.as_deref(), Some(profile.name.as_str()));
        for typed in [profile, second] {
            let read = file.profiles.get(&typed.name).expect("the profile");
            prop_assert_eq!(read.project_id.as_deref(), Some(typed.project.as_str()));
            prop_assert_eq!(&read.base_url, &typed.base_url);
            prop_assert_eq!(&read.organization, &typed.organization);
            prop_assert_eq!(&read.ca_file, &typed.ca_file);
            let key = (read.api_key_command.clone(), read.api_key_file.clone(), read.api_key.as_ref().map(|key| key.expose().to_owned()));
            prop_assert_eq!(key, match typed.key {
                KeySourceInput::SetElsewhere => (None, None, None),
                KeySourceInput::Command(words) => (Some(words), None, None),
                KeySourceInput::File(file) => (None, Some(file), None),
                KeySourceInput::Typed(key) => (None, None, Some(key.expose().to_owned())),
            });
        }
    }
}
