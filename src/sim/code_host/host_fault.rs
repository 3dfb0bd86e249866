//! The faults of the simulated code hosts, and the operations to which a fault can be restricted.

/// What a request to a code host is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostOperation {
    /// Reading the state of pull requests (on GitLab including the checks), and testing a token.
    State,
    Checks,
    /// Reading reviews, comments, commits, files and the address of the preview.
    Details,
    Diff,
    /// Adding a review, an approval or a comment.
    Review,
    Merge,
    /// Marking a pull request as ready for review, or closing it.
    Edit,
}

impl HostOperation {
    pub(in crate::sim) const ALL: [Self; 7] =
        [Self::State, Self::Checks, Self::Details, Self::Diff, Self::Review, Self::Merge, Self::Edit];

    /// Returns the name in the option `--fault`.
    pub(in crate::sim) fn name(self) -> &'static str {
        match self {
            Self::State => "host-state",
            Self::Checks => "host-checks",
            Self::Details => "host-details",
            Self::Diff => "host-diff",
            Self::Review => "host-review",
            Self::Merge => "host-merge",
            Self::Edit => "host-edit",
        }
    }

    /// Whether the operation changes something on the host.
    pub(in crate::sim) fn is_action(self) -> bool {
        matches!(self, Self::Review | Self::Merge | Self::Edit)
    }
}

/// A way in which the code hosts misbehave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostFault {
    /// The token gives access to pull requests, but not to their checks. On GitHub, it gives no access to their
    /// deployments either.
    ForbiddenChecks,
    /// The limit is reached. GitHub reports this in GraphQL responses with status 200 and an error; GitLab reports it
    /// with status 429, but without `Retry-After`.
    LimitInBody,
    /// The limit is reached, reported with an error status and `Retry-After`.
    LimitInStatus,
    /// GitHub's secondary limit is reached, reported with status 403 and a text, although the headers report
    /// remaining requests. On GitLab, the same as [`Self::LimitInBody`].
    SecondaryLimit,
    /// The token has expired.
    ExpiredToken,
    /// The host responds with status 502, as hosts do if a request takes too long.
    BadGateway,
    /// Every response is about another repository than the requested one.
    OtherRepository,
    /// Every second pull request is not found: on GitHub every second one in a request, on GitLab those with odd
    /// numbers.
    HalfMissing,
    /// The host has not computed yet whether there are conflicts.
    UnknownConflicts,
    /// Every pull request changes more files than a diff may have.
    ManyFiles,
    /// A commit is pushed before every request.
    MovingHead,
    /// A commit is pushed right before a pull request is merged.
    MovedBeforeMerge,
    /// Actions are carried out, but the connection ends before the response.
    LostActionResponse,
    /// The connection ends before actions are carried out.
    LostAction,
    /// Every title, comment and diff contains control sequences and the token.
    HostileText,
}

impl HostFault {
    /// All faults with their names in the option `--fault`.
    pub(in crate::sim) const NAMED: [(&'static str, Self); 15] = [
        ("401", Self::ExpiredToken),
        ("502", Self::BadGateway),
        ("limit", Self::LimitInBody),
        ("limit-retry-after", Self::LimitInStatus),
        ("secondary-limit", Self::SecondaryLimit),
        ("forbidden-checks", Self::ForbiddenChecks),
        ("other-repository", Self::OtherRepository),
        ("half-missing", Self::HalfMissing),
        ("unknown-conflicts", Self::UnknownConflicts),
        ("many-files", Self::ManyFiles),
        ("moving-head", Self::MovingHead),
        ("hostile-text", Self::HostileText),
        ("lost", Self::LostActionResponse),
        ("refuse", Self::LostAction),
        ("moved", Self::MovedBeforeMerge),
    ];
}
