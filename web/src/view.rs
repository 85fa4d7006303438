//! The views of the page, and their names in links.

use scenario::Scenario;

/// A view of the one scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// How many GPUs.
    Plan,
    /// What a fleet does over time.
    Fleet,
    /// Two scenarios under the same users.
    Compare,
    /// How far the model is off, and its constants fitted to what was measured.
    Calibrate,
    /// How we know.
    Know,
}

impl View {
    /// The view that a link names; Plan where it names none, or one that is not here.
    pub(crate) fn of_link(link: &str) -> Self {
        let mut names = link.split(['&', '#']).filter_map(|piece| piece.strip_prefix("view="));
        match names.next_back() {
            Some(Self::FLEET) => Self::Fleet,
            Some(Self::COMPARE) => Self::Compare,
            Some(Self::CALIBRATE) => Self::Calibrate,
            Some(Self::KNOW) => Self::Know,
            _ => Self::Plan,
        }
    }

    /// A link to this view of a scenario.
    pub(crate) fn link(self, scenario: &Scenario) -> String {
        let link = scenario.to_link();
        match self.name() {
            "" => link,
            name => [&link, "&view=", name].concat(),
        }
    }

    /// Its name in links; Plan has none.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plan => "",
            Self::Fleet => Self::FLEET,
            Self::Compare => Self::COMPARE,
            Self::Calibrate => Self::CALIBRATE,
            Self::Know => Self::KNOW,
        }
    }

    const CALIBRATE: &'static str = "calibrate";
    const COMPARE: &'static str = "compare";
    const FLEET: &'static str = "fleet";
    const KNOW: &'static str = "know";
}
