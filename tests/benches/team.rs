//! Measures a team on one computer: many members with separate stores, a project with many jobs, and a PostgreSQL
//! server that the benchmark starts in a temporary folder. Prints:
//!
//! - how long joining takes, and how much disk space and memory the server needs;
//! - how many statements the members send while nothing happens, and with active jobs;
//! - how long a change takes to reach the other members, alone and together with others.
//!
//! All members run in one thread, on the same computer as the server, so real members are faster.
//!
//! Skipped if PostgreSQL is not installed. Takes up to three minutes.
//!
//! `cargo bench --bench team`, or smaller: `cargo bench --bench team -- --members 5 --jobs 500 --seconds 5`

#![expect(clippy::expect_used, reason = "a benchmark that can't run should stop")]

#[path = "backup.rs"]
#[expect(dead_code, reason = "only tests that run the program use the environment")]
mod backup;
#[cfg(unix)]
#[path = "../support/mod.rs"]
mod support;

#[cfg(unix)]
fn main() {
    let options = <members::Options as clap::Parser>::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(members::measure(&options));
}

#[cfg(not(unix))]
fn main() {
    eprintln!("skipped: the server listens on a Unix socket");
}

#[cfg(unix)]
mod members {
    use crate::backup::backup_of_jobs;
    use crate::support::engine::EngineFixture;
    use crate::support::postgres::Postgres;
    use crate::support::{create_folder, open_store, scope_of, start_sim};
    use docdeck::engine::TeamAccess;
    use docdeck::model::analytics::ReaderTextRetention;
    use docdeck::model::change::LocalChange;
    use docdeck::model::endpoint::ApiKey;
    use docdeck::model::engine_event::EngineEvent;
    use docdeck::model::log::Operation;
    use docdeck::model::remote_job::JobId;
    use docdeck::model::team::TeamStatus;
    use docdeck::model::text::CleanText;
    use docdeck::sim::Sim;
    use docdeck::store::ScopeFilter;
    use docdeck::team::{self, MemberSettings, OrganizationName, TeamAddress, TeamConnection};
    use futures_util::future::join_all;
    use std::collections::BTreeMap;
    use std::time::{Duration, Instant};
    use tempfile::TempDir;

    const TIMEOUT: Duration = Duration::from_secs(10);
    const ROUNDS: u32 = 20;
    /// How many members change a job at the same time, each a different job.
    const SIMULTANEOUS: u32 = 10;
    const ACTIVE_JOBS: u64 = 50;

    #[derive(Debug, clap::Parser)]
    pub(crate) struct Options {
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(2..=200))]
        members: u32,
        #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..))]
        jobs: u32,
        /// How long statements are counted while nothing happens; half as long with active jobs.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Cargo adds this.
        #[arg(long, hide = true)]
        bench: bool,
    }

    /// A member with an open dashboard, and the folder with its store.
    struct Member {
        engine: EngineFixture,
        _folder: TempDir,
    }

    pub(crate) async fn measure(options: &Options) {
        let settings = [
            // As on a real server.
            "fsync=on",
            "shared_buffers=128MB",
            "max_connections=450",
            "log_statement=all",
            "log_parameter_max_length=0",
            "log_line_prefix=%c ",
        ];
        let Some(server) = Postgres::start(&settings) else { return };
        create_schema(&server).await;
        let sim = start_sim(&[]).await;
        println!("{} members, {} jobs", options.members, options.jobs);
        let empty = database_size(&server);
        share_jobs(&server, &sim, options.jobs).await;
        print_sizes(&server, options.jobs, empty);
        let mut members = join_all_members(&server, &sim, options.members).await;
        print_connections(&server);
        measure_idle(&server, options).await;
        measure_changes(&mut members).await;
        measure_active(&server, &sim, &mut members, options).await;
        join_all(members.iter().map(|member| member.engine.engine.stop())).await;
    }

    async fn create_schema(server: &Postgres) {
        let connection = TeamConnection::open(&address(server, "admin"), TIMEOUT).await.expect("connected");
        team::set_up_schema(&connection, &OrganizationName::new("docs").expect("a name")).await.expect("created");
        server.sql("CREATE ROLE ana LOGIN IN ROLE docdeck_docs");
    }

    fn address(server: &Postgres, user: &str) -> TeamAddress {
        TeamAddress::new(&ApiKey::new(&server.url(user)).expect("a URL"), None).expect("a valid URL")
    }

    /// Lets one member share all jobs, each with a prompt.
    async fn share_jobs(server: &Postgres, sim: &Sim, jobs: u32) {
        let (folder, scope) = (create_folder(), scope_of(sim));
        let store = open_store(folder.path());
        let project = format!("\"project\":\"{}\"", scope.project);
        let backup = backup_of_jobs(jobs).replace("http://127.0.0.1:9", &scope.base_url);
        let backup = backup.replace("\"project\":\"acme\"", &project);
        store
            .import(std::io::Cursor::new(backup), ScopeFilter::default(), false, crate::now())
            .await
            .expect("imported");
        store.join_team(&scope, "docs").await.expect("joined");
        let started = Instant::now();
        let connection = TeamConnection::open_checked(&address(server, "ana"), TIMEOUT).await.expect("connected");
        let member = MemberSettings { name: "first", reader_text_days: ReaderTextRetention::default() };
        let report = team::exchange(&connection, &store, &scope, member, crate::now()).await.expect("exchanged");
        assert_eq!(u32::try_from(report.sent).expect("small"), jobs);
        println!("the first member shares all jobs: {:.1} s", started.elapsed().as_secs_f64());
        store.close().await;
    }

    fn database_size(server: &Postgres) -> f64 {
        number(server, "SELECT pg_database_size(current_database())")
    }

    fn number(server: &Postgres, sql: &str) -> f64 {
        server.sql(sql).parse().expect("a number")
    }

    fn print_sizes(server: &Postgres, jobs: u32, empty: f64) {
        server.sql("VACUUM ANALYZE");
        let added = database_size(server) - empty;
        println!("size of the database: {:.1} MB, {:.1} KB per job", added / 1e6, added / 1e3 / f64::from(jobs));
        for table in ["job", "prompt", "batch"] {
            let size = number(server, &format!("SELECT pg_total_relation_size('docdeck.{table}')"));
            let rows = number(server, &format!("SELECT count(*) FROM docdeck.{table}"));
            println!("  {table}: {rows} rows, {:.0} bytes each with indexes", size / rows);
        }
    }

    async fn start_member(server: &Postgres, sim: &Sim, number: u32) -> Member {
        let folder = create_folder();
        let store = open_store(folder.path());
        store.join_team(&scope_of(sim), "docs").await.expect("joined");
        let access = TeamAccess { address: address(server, "ana"), name: CleanText::line(&format!("member {number}")) };
        Member { engine: EngineFixture::start_as_member(sim, store, access).await, _folder: folder }
    }

    async fn join_all_members(server: &Postgres, sim: &Sim, count: u32) -> Vec<Member> {
        let is_online = |event: &EngineEvent| matches!(event, EngineEvent::Team(TeamStatus::Online)).then_some(());
        let join = async |number| {
            let started = Instant::now();
            let mut member = start_member(server, sim, number).await;
            member.engine.wait_for_event_within(TIMEOUT * 60, is_online).await.expect("joined");
            (member, started.elapsed().as_secs_f64())
        };
        let (first, elapsed) = join(0).await;
        println!("one member joins: {elapsed:.1} s");
        let started = Instant::now();
        let others = join_all((1..count).map(join)).await;
        println!("{} members join at the same time: {:.1} s", count - 1, started.elapsed().as_secs_f64());
        std::iter::once(first).chain(others.into_iter().map(|(member, _)| member)).collect()
    }

    /// Prints the memory that only one server process uses, on average.
    fn print_connections(server: &Postgres) {
        let processes = server.sql("SELECT pid FROM pg_stat_activity WHERE usename = 'ana'");
        let private: Vec<f64> = processes
            .lines()
            .filter_map(|process| {
                let memory = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
                let kilobytes = memory.lines().filter(|line| line.starts_with("Private_"));
                Some(kilobytes.filter_map(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).sum())
            })
            .collect();
        let count = processes.lines().count();
        if private.is_empty() {
            println!("{count} connections");
        } else {
            let average = private.iter().sum::<f64>() / private.iter().map(|_| 1.0).sum::<f64>() / 1e3;
            println!("{count} connections, each with {average:.1} MB of memory of its own");
        }
    }

    /// Counts the statements in the server's log during `work`, by session.
    async fn statements_during(server: &Postgres, work: impl Future<Output = ()>) -> BTreeMap<String, u32> {
        let before = server.log().len();
        work.await;
        let log = server.log();
        let mut sessions = BTreeMap::new();
        for line in log.get(before..).unwrap_or_default().lines() {
            if let Some((session, "LOG:", kind)) = first_words(line)
                && ["statement:", "execute"].contains(&kind)
            {
                *sessions.entry(session.to_owned()).or_default() += 1;
            }
        }
        sessions
    }

    fn first_words(line: &str) -> Option<(&str, &str, &str)> {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?, words.next()?))
    }

    /// Prints the statements per second of all members together, and of the busiest two connections.
    fn print_statements(what: &str, sessions: &BTreeMap<String, u32>, seconds: u64, members: u32) {
        let seconds = f64::from(u32::try_from(seconds).expect("small"));
        let mut counts: Vec<f64> = sessions.values().map(|count| f64::from(*count) / seconds).collect();
        counts.sort_by(|one, two| two.total_cmp(one));
        let sum = counts.iter().fold(0.0, |sum, count| sum + count);
        let busiest: Vec<String> = counts.iter().take(2).map(|count| format!("{count:.2}")).collect();
        println!(
            "{what}: {:.3} statements per second and member, {} of the busiest connections",
            sum / f64::from(members),
            if busiest.is_empty() { "none".to_owned() } else { busiest.join(" and ") }
        );
    }

    async fn measure_idle(server: &Postgres, options: &Options) {
        let seconds = options.seconds;
        let sessions = statements_during(server, tokio::time::sleep(Duration::from_secs(seconds))).await;
        print_statements("while nothing happens", &sessions, seconds, options.members);
    }

    /// Renames a job as this member does.
    async fn rename(member: &Member, number: u32, title: &str) {
        let (store, scope) = (&member.engine.store, &member.engine.scope);
        let id = JobId::new(&format!("agent_{number:08}")).expect("an id");
        let job = store.job_by_id(scope, &id).await.expect("read").expect("a job");
        let change = LocalChange::Title(Some(CleanText::line(title)));
        store.change_jobs(&[job.key], change, crate::now()).await.expect("changed");
    }

    /// Waits until all members, except the first `except`, have received all titles that start with `prefix`. Returns
    /// the time that this took for each member.
    async fn wait_for_titles(members: &mut [Member], except: usize, prefix: &str, count: u32) -> Vec<Duration> {
        let started = Instant::now();
        let waits = members.iter_mut().skip(except).map(|member| async move {
            let mut missing = count;
            let seen = member.engine.wait_for_event_within(TIMEOUT * 6, |event| {
                if let EngineEvent::Job(job) = event
                    && job.local.title.as_str().starts_with(prefix)
                {
                    missing -= 1;
                }
                (missing == 0).then_some(())
            });
            seen.await.expect("the change arrives");
            started.elapsed()
        });
        join_all(waits).await
    }

    async fn measure_changes(members: &mut [Member]) {
        let mut times = Vec::new();
        for round in 1..=ROUNDS {
            // In each round, another member is the first in the list and renames a job.
            members.rotate_left(1);
            let title = format!("round {round}");
            let first = members.first().expect("members");
            rename(first, round, &title).await;
            times.extend(wait_for_titles(members, 1, &title, 1).await);
        }
        print_times("a change is on the screen of another member after", times);
        let changing = usize::try_from(SIMULTANEOUS).expect("small").min(members.len() / 2);
        let rename_one = async |(member, number): (&Member, u32)| {
            rename(member, number, &format!("at once {number}")).await;
        };
        join_all(members.iter().take(changing).zip(1..).map(rename_one)).await;
        let count = u32::try_from(changing).expect("small");
        let times = wait_for_titles(members, changing, "at once", count).await;
        print_times(&format!("{changing} changes at once are on the screen of another member after"), times);
    }

    fn print_times(what: &str, mut times: Vec<Duration>) {
        times.sort_unstable();
        let millis = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
        println!(
            "{what} {:.0} ms (median), {:.0} ms (longest)",
            millis(times.get(times.len() / 2)),
            millis(times.last())
        );
    }

    /// Lets one member start jobs, which only one of the members polls for the whole team.
    async fn measure_active(server: &Postgres, sim: &Sim, members: &mut [Member], options: &Options) {
        let first = members.first_mut().expect("a member");
        for number in 1..=ACTIVE_JOBS {
            first
                .engine
                .engine
                .submit_new_job(&format!("Active {number} [sim:seconds=9000000]"))
                .await
                .expect("on disk");
        }
        let started = Instant::now();
        let all_started = |_: &EngineEvent| (sim.carried_out_count(Operation::Create) >= ACTIVE_JOBS).then_some(());
        first.engine.wait_for_event_within(TIMEOUT * 6, all_started).await.expect("all jobs start");
        println!("{ACTIVE_JOBS} jobs are booked and started: {:.1} s", started.elapsed().as_secs_f64());
        // Wait until the changes that the new jobs caused are sent, so that their statements are not counted.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let checks = sim.requests(Operation::GetJob);
        let seconds = options.seconds.div_ceil(2);
        let sessions = statements_during(server, tokio::time::sleep(Duration::from_secs(seconds))).await;
        print_statements(&format!("with {ACTIVE_JOBS} active jobs"), &sessions, seconds, options.members);
        println!("  {} checks of jobs by all members in {seconds} s", sim.requests(Operation::GetJob) - checks);
    }
}

#[cfg(unix)]
fn now() -> docdeck::model::Time {
    chrono::DateTime::from_timestamp_millis(chrono::Utc::now().timestamp_millis()).expect("in range")
}
