//! Sessions of several turns as links write them, and what they come to in a scenario.

use sim_core::{
    LengthSpec,
    clients::ClientTime,
    workload::{MAX_TURNS, Sessions, Turns},
};

use crate::{
    class::{CLASS_PREFIX, ClassSpec},
    notice::quoted,
    pieces::call,
    range::{self, Taken},
    schema::Scenario,
    writing,
};

/// Requests that have nothing to do with one another.
pub(crate) const SINGLE: Turns = Turns::Fixed { turns: 1 };

/// Fewest and most turns.
const TURNS: (f64, f64) = (1.0, MAX_TURNS as f64);

/// Shortest and longest mean time to think, seconds.
const THINK_S: (f64, f64) = (0.0, 1800.0);

/// Sigma beyond this spreads times over more orders of magnitude than any user.
const MOST_SIGMA: f64 = 5.0;

/// Sessions of which a smaller part is cut need no word.
const FEW: f64 = 0.001;

/// Write a number of turns: `5`, `uniform(2,8)` or `geometric(5)`.
pub(crate) fn write_turns(turns: Turns) -> String {
    match turns {
        Turns::Fixed { turns } => turns.to_string(),
        Turns::Uniform { least, most } => format!("uniform({least},{most})"),
        Turns::Geometric { mean } => format!("geometric({})", writing::decimal(mean, 0)),
    }
}

/// Read what [`write_turns`] writes.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn read_turns(text: &str) -> Result<Taken<Turns>, String> {
    let Some((name, parts)) = call(text) else {
        let (turns, said) = whole(text)?;
        return Ok((Turns::Fixed { turns }, said));
    };
    match (name.as_str(), &parts[..]) {
        ("uniform", [least, most]) => {
            let (least, mut said) = whole(least)?;
            let (most, more) = whole(most)?;
            said.extend(more);
            if least > most {
                return Err(format!("{} has its lower bound above its upper bound", quoted(text)));
            }
            Ok((Turns::Uniform { least, most }, said))
        }
        ("geometric", [mean]) => {
            let (mean, said) = range::plain(mean, "the mean number of turns", TURNS)?;
            Ok((Turns::Geometric { mean }, said))
        }
        _ => Err(format!("{} is no number of turns", quoted(text))),
    }
}

fn whole(text: &str) -> Result<Taken<u64>, String> {
    let (number, mut said) = range::plain(text, "the number of turns", TURNS)?;
    let rounded = libm::round(number);
    if rounded != number {
        let number = quantity::editable(rounded);
        let is_whole = range::whole_from(
            "The number of turns",
            &quantity::editable(TURNS.0),
            &quantity::editable(TURNS.1),
            "5",
        );
        said.push([&is_whole, " Using ", &number, "."].concat());
    }
    Ok((rounded as u64, said))
}

/// Write a time to think: `10s` for an exponential one, `fixed(10s)` or `lognormal(10s,0.8)`.
pub(crate) fn write_think(think: ClientTime) -> String {
    let mean = writing::seconds(think.mean_s());
    match think {
        ClientTime::Exponential { .. } => mean,
        ClientTime::Fixed { .. } => format!("fixed({mean})"),
        ClientTime::LogNormal { sigma, .. } => {
            format!("lognormal({mean},{})", writing::decimal(sigma, 0))
        }
    }
}

/// Read what [`write_think`] writes.
///
/// # Errors
///
/// What is wrong, as a clause that names the text.
pub(crate) fn read_think(text: &str) -> Result<Taken<ClientTime>, String> {
    let mean = |text: &str| range::seconds(text, "the mean time to think", THINK_S);
    let Some((name, parts)) = call(text) else {
        let (mean_s, said) = mean(text)?;
        return Ok((ClientTime::Exponential { mean_s }, said));
    };
    match (name.as_str(), &parts[..]) {
        ("fixed", [time]) => {
            let (mean_s, said) = mean(time)?;
            Ok((ClientTime::Fixed { mean_s }, said))
        }
        ("lognormal", [time, sigma]) => {
            let (mean_s, mut said) = mean(time)?;
            let (sigma, more) = range::plain(sigma, "sigma", (0.0, MOST_SIGMA))?;
            said.extend(more);
            Ok((ClientTime::LogNormal { mean_s, sigma }, said))
        }
        _ => Err(format!("{} is no time to think", quoted(text))),
    }
}

/// Sessions whose conversations reach what the model or the cache takes.
struct Long {
    /// Whose they are, as a sentence begins: “Conversations”, “Conversations of class chat”.
    whose: String,
    /// The setting that says so.
    key: String,
    /// From which turn on.
    from_turn: u64,
}

impl Scenario {
    /// The sessions of a class, or of the scenario's own traffic; `None` for single requests, and in a
    /// closed loop, whose users have their own way.
    pub(crate) fn sessions_of(&self, class: Option<&ClassSpec>) -> Option<Sessions> {
        let turns = class.and_then(|class| class.turns).unwrap_or(self.turns);
        if self.closed.is_some() || turns.most() == Some(1) {
            return None;
        }
        let think = class.and_then(|class| class.think).unwrap_or(self.think);
        Some(Sessions { turns, think, most_tokens: self.conversation_tokens() })
    }

    /// Whether any requests are turns of sessions.
    #[must_use]
    pub fn has_sessions(&self) -> bool {
        self.sessions_of(None).is_some()
            || self.classes.iter().any(|class| self.sessions_of(Some(class)).is_some())
    }

    /// Whether any sessions are asked for, in an open loop or not.
    pub(crate) fn asks_for_turns(&self) -> bool {
        self.turns != SINGLE || self.classes.iter().any(|class| class.turns.is_some())
    }

    /// What a conversation may come to, as far as it can be told without the memory of a GPU.
    fn conversation_tokens(&self) -> u64 {
        let context_tokens = self.context_tokens().unwrap_or(u64::MAX);
        context_tokens.min(self.kv_capacity_tokens.unwrap_or(u64::MAX)).max(1)
    }

    /// Which conversations grow beyond what the model takes, and what becomes of them, as a key, its
    /// value and a sentence.
    pub(crate) fn long_conversations(&self) -> Option<(String, String, String)> {
        let most_tokens = self.conversation_tokens();
        let rest = (None, self.input, self.output);
        let classes = self.classes.iter().map(|class| {
            let (input, output) = (class.input, class.output);
            (Some(class), input.unwrap_or(self.input), output.unwrap_or(self.output))
        });
        let long = std::iter::once(rest)
            .chain(classes)
            .find_map(|(class, input, output)| self.long(class, input, output, most_tokens))?;
        let value = self.get(&long.key).unwrap_or_default();
        let limit = match self.context_tokens() {
            Some(tokens) if tokens == most_tokens => "this model’s context",
            _ => "the KV cache",
        };
        let message = [
            &long.whose,
            " lose their oldest turns where prompt and answer would exceed ",
            limit,
            " of ",
            &quantity::count(most_tokens),
            " tokens: about from turn ",
            &quantity::count(long.from_turn),
            " on.",
        ]
        .concat();
        Some((long.key, value, message))
    }

    fn long(
        &self,
        class: Option<&ClassSpec>,
        input: LengthSpec,
        output: LengthSpec,
        most_tokens: u64,
    ) -> Option<Long> {
        let turns = self.sessions_of(class)?.turns;
        let added = input.mean_tokens() + output.mean_tokens();
        // A float beyond the range of u64 saturates.
        let from_turn = (most_tokens as f64 / added) as u64 + 1;
        if turns.at_least(from_turn) < FEW {
            return None;
        }
        Some(match class {
            Some(class) => Long {
                whose: ["Conversations of class ", &class.name].concat(),
                key: [CLASS_PREFIX, &class.name, ".turns"].concat(),
                from_turn,
            },
            None => Long { whose: "Conversations".to_owned(), key: "turns".to_owned(), from_turn },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_written_one_way() {
        for (text, canonical) in [
            ("5", "5"),
            (" 1 ", "1"),
            ("Uniform( 2, 8 )", "uniform(2,8)"),
            ("geometric(4.5", "geometric(4.5)"),
        ] {
            let (turns, said) = read_turns(text).expect(text);
            assert!(said.is_empty(), "{said:?}");
            assert_eq!(write_turns(turns), canonical);
            assert_eq!(read_turns(canonical), Ok((turns, Vec::new())));
        }
        for (text, kept) in
            [("0", "1"), ("5000", "1000"), ("2.4", "2"), ("geometric(0)", "geometric(1)")]
        {
            let (turns, said) = read_turns(text).expect(text);
            assert_eq!((write_turns(turns).as_str(), said.len()), (kept, 1), "{text}");
        }
        for (text, reason) in [
            ("many", "“many”"),
            ("poisson(5)", "“poisson(5)” is no number of turns"),
            ("uniform(8,2)", "lower bound above"),
            ("geometric(2,3)", "no number of turns"),
        ] {
            let problem = read_turns(text).expect_err(text);
            assert!(problem.contains(reason), "{text}: {problem}");
        }
    }

    #[test]
    fn times_to_think_are_written_one_way() {
        for (text, canonical) in [
            ("10", "10s"),
            ("500ms", "0.5s"),
            ("Fixed(2s)", "fixed(2s)"),
            ("lognormal(1min, 0.8)", "lognormal(60s,0.8)"),
        ] {
            let (think, said) = read_think(text).expect(text);
            assert!(said.is_empty(), "{said:?}");
            assert_eq!(write_think(think), canonical);
            assert_eq!(read_think(canonical), Ok((think, Vec::new())));
        }
        let (think, said) = read_think("2h").expect("a time");
        assert_eq!((write_think(think).as_str(), said.len()), ("1800s", 1));
        for text in ["soon", "uniform(1,2)", "fixed(1,2)", "lognormal(3s)", "lognormal(3s,x)"] {
            assert!(read_think(text).is_err(), "{text}");
        }
    }
}
