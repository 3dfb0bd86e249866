//! Shared setup of Criterion for the benchmarks of screens, which also print the shortest time.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode};
use std::time::Duration;

/// Configured for many short measurements.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500))
        .sample_size(10)
        .without_plots()
        .configure_from_args()
}

/// A group of benchmarks.
pub(crate) fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat);
    group
}

/// Measures the time that `once` returns.
pub(crate) fn timed(group: &mut BenchmarkGroup<'_, WallTime>, id: BenchmarkId, mut once: impl FnMut() -> Duration) {
    let mut least = Least::new();
    group.bench_function(id, |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| once()).inspect(|took| least.take(*took)).sum());
    });
    least.print();
}

/// The shortest time, which varies least on a machine that runs other programs too.
struct Least(Duration);

impl Least {
    fn new() -> Self {
        Self(Duration::MAX)
    }

    fn take(&mut self, time: Duration) {
        self.0 = self.0.min(time);
    }

    /// Prints the time below Criterion's results; prints nothing if the benchmark was filtered out.
    fn print(&self) {
        if self.0 < Duration::MAX {
            println!("{:24}least: {:.3} ms", "", self.0.as_secs_f64() * 1e3);
        }
    }
}
