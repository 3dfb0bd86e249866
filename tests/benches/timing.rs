//! Criterion setup shared by the benchmarks of screens. They also print the shortest time of each benchmark.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode};
use std::time::Duration;

/// Returns a Criterion that is configured for many short measurements.
pub(crate) fn short_criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500))
        .sample_size(10)
        .without_plots()
        .configure_from_args()
}

/// Starts a group of benchmarks in which every sample has the same number of iterations.
pub(crate) fn bench_group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat);
    group
}

/// Runs a benchmark that measures its own time: `once` runs one iteration and returns its time.
pub(crate) fn bench_timed(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    mut once: impl FnMut() -> Duration,
) {
    let mut shortest = ShortestTime::new();
    group.bench_function(id, |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| once()).inspect(|elapsed| shortest.add(*elapsed)).sum());
    });
    shortest.print();
}

/// The shortest time of all iterations. Unlike the mean, it hardly varies if the machine also runs other programs.
struct ShortestTime(Duration);

impl ShortestTime {
    fn new() -> Self {
        Self(Duration::MAX)
    }

    fn add(&mut self, time: Duration) {
        self.0 = self.0.min(time);
    }

    /// Prints the shortest time below Criterion's results, or nothing if the benchmark was filtered out.
    fn print(&self) {
        if self.0 < Duration::MAX {
            println!("{:24}least: {:.3} ms", "", self.0.as_secs_f64() * 1e3);
        }
    }
}
