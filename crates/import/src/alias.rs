//! What columns and keys are called.
//!
//! Names are compared by their letters and digits alone, whatever the case: `Prompt Tokens`,
//! `prompt_tokens` and `promptTokens` are one. A leading `num` or `n` and a trailing `count` or
//! `num` make no difference for token counts.
//!
//! | what | names |
//! |---|---|
//! | arrival | `arrival`, `arrival_time`, `arrived_at`, `timestamp`, `request_time`, `send_time`, `sent_at`, `submit_time`, `start_time`, `time`, `t`, each also with a unit: `_s`, `_sec`, `_ms`, `_us`, `_ns` |
//! | prompt | `input`, `prompt`, `context`, `prefill` or `request`, with `_tokens`, `_length`, `_len`; `isl` |
//! | output | `output`, `generated`, `completion`, `decode`, `response` or `generation`, with the same endings; `osl` |
//! | prefix blocks | `hash_ids`, `block_hashes`, `prefix_hashes` |
//! | session | `session_id`, `session`, `conversation_id`, `conversation`, `chat_id` |

use crate::clock::Unit;

/// Most telling first: where several columns would do, the first is taken.
const ARRIVAL: [&str; 16] = [
    "arrival",
    "arrivaltime",
    "arrivedat",
    "arrivaltimestamp",
    "arrived",
    "timestamp",
    "requesttimestamp",
    "requesttime",
    "sendtime",
    "senttime",
    "sentat",
    "submittime",
    "requeststart",
    "starttime",
    "time",
    "t",
];
const UNITS: [(&str, Unit); 14] = [
    ("s", Unit::Seconds),
    ("sec", Unit::Seconds),
    ("secs", Unit::Seconds),
    ("seconds", Unit::Seconds),
    ("ms", Unit::Milliseconds),
    ("msec", Unit::Milliseconds),
    ("millis", Unit::Milliseconds),
    ("milliseconds", Unit::Milliseconds),
    ("us", Unit::Microseconds),
    ("usec", Unit::Microseconds),
    ("micros", Unit::Microseconds),
    ("microseconds", Unit::Microseconds),
    ("ns", Unit::Nanoseconds),
    ("nanoseconds", Unit::Nanoseconds),
];
const INPUT: [&str; 5] = ["input", "prompt", "context", "prefill", "request"];
const OUTPUT: [&str; 6] = ["output", "generated", "completion", "decode", "response", "generation"];
const LENGTHS: [&str; 8] =
    ["tokens", "length", "len", "token", "tokenlength", "tokenlen", "sequencelength", "seqlen"];
const PREFIX: [&str; 4] = ["hashids", "blockhashes", "prefixhashes", "prefixhashids"];
const SESSION: [&str; 5] = ["sessionid", "session", "conversationid", "conversation", "chatid"];

/// The columns of a trace by their place among the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) arrival: Option<usize>,
    /// What the arrival's name says that it counts.
    pub(crate) unit: Option<Unit>,
    pub(crate) input: Option<usize>,
    pub(crate) output: Option<usize>,
    pub(crate) prefix: Option<usize>,
    pub(crate) session: Option<usize>,
}

impl Columns {
    /// Find the columns among `names`.
    pub(crate) fn find<S: AsRef<str>>(names: &[S]) -> Self {
        let names: Vec<String> = names.iter().map(|name| plain(name.as_ref())).collect();
        let arrival = best(&names, |name| arrival(name).map(|(rank, _)| rank));
        Self {
            arrival,
            unit: arrival.and_then(|index| arrival_unit(&names[index])),
            input: best(&names, |name| length(name, &INPUT, "isl")),
            output: best(&names, |name| length(name, &OUTPUT, "osl")),
            prefix: best(&names, |name| PREFIX.iter().position(|alias| *alias == name)),
            session: best(&names, |name| SESSION.iter().position(|alias| *alias == name)),
        }
    }

    /// How many of the three that a request cannot do without are there.
    pub(crate) fn needed_found(&self) -> usize {
        [self.arrival, self.input, self.output].into_iter().flatten().count()
    }

    /// The missing ones by the names that are best given to them.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        [(self.arrival, "arrival_s"), (self.input, "input_tokens"), (self.output, "output_tokens")]
            .into_iter()
            .filter_map(|(found, name)| found.is_none().then_some(name))
            .collect()
    }

    /// The names that nothing is read from; nameless ones are not worth a word.
    pub(crate) fn unused<'a, S: AsRef<str>>(&self, names: &'a [S]) -> Vec<&'a str> {
        let used = [self.arrival, self.input, self.output, self.prefix, self.session];
        let names = names.iter().enumerate().map(|(index, name)| (index, name.as_ref()));
        names
            .filter(|(index, name)| !used.contains(&Some(*index)) && !name.trim().is_empty())
            .map(|(_, name)| name)
            .collect()
    }
}

/// Letters and digits in lower case.
pub(crate) fn plain(name: &str) -> String {
    // Names are ASCII; the tables of all letters would weigh more than all that reads them.
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

fn best(names: &[String], rank: impl Fn(&str) -> Option<usize>) -> Option<usize> {
    let ranked = names.iter().enumerate().filter_map(|(index, name)| Some((rank(name)?, index)));
    ranked.min().map(|(_, index)| index)
}

fn arrival(name: &str) -> Option<(usize, Option<Unit>)> {
    ARRIVAL.iter().enumerate().find_map(|(rank, alias)| {
        let suffix = name.strip_prefix(alias)?;
        if suffix.is_empty() {
            return Some((rank, None));
        }
        let (_, unit) = UNITS.iter().find(|(written, _)| *written == suffix)?;
        Some((rank, Some(*unit)))
    })
}

fn arrival_unit(name: &str) -> Option<Unit> {
    arrival(name).and_then(|(_, unit)| unit)
}

fn length(name: &str, whose: &[&str], short: &str) -> Option<usize> {
    if name == short {
        return Some(0);
    }
    let core = ["num", "n"].into_iter().find_map(|lead| name.strip_prefix(lead)).unwrap_or(name);
    let core = ["count", "num"].into_iter().find_map(|end| core.strip_suffix(end)).unwrap_or(core);
    whose
        .iter()
        .position(|owner| core.strip_prefix(owner).is_some_and(|ending| LENGTHS.contains(&ending)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(header: &str) -> Columns {
        Columns::find(&header.split(',').collect::<Vec<_>>())
    }

    #[test]
    fn common_headers_are_understood() {
        for (header, arrival, input, output, unit) in [
            ("arrival_s,input_tokens,output_tokens", 0, 1, 2, Some(Unit::Seconds)),
            ("TIMESTAMP,ContextTokens,GeneratedTokens", 0, 1, 2, None),
            ("arrived_at,num_prefill_tokens,num_decode_tokens", 0, 1, 2, None),
            ("Response tokens,Total tokens,Request tokens,Timestamp", 3, 2, 0, None),
            ("id,Time (ms),prompt_len,output_len", 1, 2, 3, Some(Unit::Milliseconds)),
            ("t,isl,osl", 0, 1, 2, None),
            ("start_time,timestamp,n_prompt_tokens,completionTokens", 1, 2, 3, None),
            ("input token count,output token count,sent_at_ns", 2, 0, 1, Some(Unit::Nanoseconds)),
        ] {
            let columns = found(header);
            assert_eq!(columns.arrival, Some(arrival), "{header}");
            assert_eq!(columns.input, Some(input), "{header}");
            assert_eq!(columns.output, Some(output), "{header}");
            assert_eq!(columns.unit, unit, "{header}");
        }
    }

    #[test]
    fn what_is_missing_or_unused_is_known() {
        let columns = found("t,prompt_throughput,gen_throughput,running,");
        assert_eq!(columns.missing(), ["input_tokens", "output_tokens"]);
        let names = ["t", "prompt_throughput", ""];
        assert_eq!(columns.unused(&names), ["prompt_throughput"]);
        assert_eq!(found("timer,inputs,outputs").needed_found(), 0);
    }
}
