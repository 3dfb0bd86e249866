//! The visitors of each page. On a day, a page never has more visitors than views. A reader who comes back on another
//! day, or reads several pages, is counted once. So the visitors of a range are fewer than the sum over its days, and
//! the visitors of the site are fewer than the sum over its pages.

use super::events::ReportInputs;
use super::parameters::SimRange;
use crate::sim::pages::HumanAndAiCounts;
use crate::sim::rng::mix;

/// The visitors of a range, most visited page first.
#[derive(Debug)]
pub(super) struct SimVisitors {
    pub(super) totals: HumanAndAiCounts,
    /// The indexes of the pages with their visitors.
    pub(super) pages: Vec<(u32, HumanAndAiCounts)>,
}

impl SimVisitors {
    pub(super) fn new(inputs: ReportInputs<'_>, range: SimRange) -> Self {
        let site = inputs.site;
        let days = site.days(range.from, range.exclusive_end, inputs.now);
        let (mut sum, mut most) = (HumanAndAiCounts::default(), HumanAndAiCounts::default());
        let mut pages = Vec::new();
        for (index, page) in site.pages() {
            let (mut first, mut later, mut best) =
                (HumanAndAiCounts::default(), HumanAndAiCounts::default(), HumanAndAiCounts::default());
            for (day, is_first) in days.iter().zip(std::iter::once(true).chain(std::iter::repeat(false))) {
                let views = page.views(day);
                let noise = mix(page.seed() ^ mix(day.number() ^ 0x715_1702));
                // Rounds up, so that a page with views has visitors. The factors are below 1, so that there are never
                // more visitors than views.
                let human = (views.human * (560 + noise % 260)).div_ceil(1000);
                let ai = (views.ai * (820 + (noise >> 20) % 170)).div_ceil(1000);
                let to = if is_first { &mut first } else { &mut later };
                (to.human, to.ai) = (to.human + human, to.ai + ai);
                (best.human, best.ai) = (best.human.max(human), best.ai.max(ai));
            }
            let visitors = HumanAndAiCounts {
                human: (first.human + later.human * 62 / 100).max(best.human),
                ai: (first.ai + later.ai * 45 / 100).max(best.ai),
            };
            if visitors.total() > 0 {
                (sum.human, sum.ai) = (sum.human + visitors.human, sum.ai + visitors.ai);
                (most.human, most.ai) = (most.human.max(visitors.human), most.ai.max(visitors.ai));
                pages.push((index, visitors));
            }
        }
        pages.sort_unstable_by(|(a, of_a), (b, of_b)| {
            of_b.total().cmp(&of_a.total()).then_with(|| site.path(*a).cmp(site.path(*b)))
        });
        let totals =
            HumanAndAiCounts { human: (sum.human * 43 / 100).max(most.human), ai: (sum.ai * 24 / 100).max(most.ai) };
        Self { totals, pages }
    }
}
