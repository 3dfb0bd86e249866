//! How keys and frames are timed: all benches of a screen set Criterion up alike, and say the shortest time beside what it
//! says.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode};
use std::time::Duration;

/// Many measures, each of them short.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500))
        .sample_size(10)
        .without_plots()
        .configure_from_args()
}

/// What belongs together under one name.
pub(crate) fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat);
    group
}

/// Measures what `once` says that it took.
pub(crate) fn timed(group: &mut BenchmarkGroup<'_, WallTime>, id: BenchmarkId, mut once: impl FnMut() -> Duration) {
    let mut least = Least::new();
    group.bench_function(id, |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| once()).inspect(|took| least.take(*took)).sum());
    });
    least.say();
}

/// The shortest of many, which varies least on a machine that does other things as well.
struct Least(Duration);

impl Least {
    fn new() -> Self {
        Self(Duration::MAX)
    }

    fn take(&mut self, time: Duration) {
        self.0 = self.0.min(time);
    }

    /// Says it below what Criterion says; nothing where the measure was filtered away.
    fn say(&self) {
        if self.0 < Duration::MAX {
            println!("{:24}least: {:.3} ms", "", self.0.as_secs_f64() * 1e3);
        }
    }
}
