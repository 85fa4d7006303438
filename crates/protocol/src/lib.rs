//! Messages between page and worker.
//!
//! Both sides come from one build, so the payload is positional (postcard). What can go wrong is a
//! browser that kept an old worker file beside a new page: every message therefore starts with the
//! protocol number, and the worker's first message names the build that it belongs to.
//!
//! The page has looked up all names before it asks: what crosses are plain numbers, so that the
//! worker needs neither the catalogue nor the reader of what people type.

mod calibration;
mod fleet;
mod long;
mod pools;
mod question;
mod recording;

use planner::{PlanAnswer, ProofAnswer};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use calibration::{
    CalibratedPoint, CalibratedTime, CalibrationAsked, CalibrationNews, CalibrationOutcome,
    FittedConstant, GivenFile, Understood, UnderstoodFile, UnderstoodPoint,
};
pub use fleet::{FleetAnswer, FleetAsked, FleetNews, FleetRow, FleetSlice, FleetSums};
pub use long::{
    CompareNews, Decision, DecisionAsked, DecisionNews, LongAsked, ReportNews, ReportTexts,
};
pub use pools::{PoolsAnswer, PoolsAsked, PoolsOutcome, PoolsSeen, PoolsSent};
pub use question::{Question, Traffic};
pub use recording::{Lengths, Recording, Saved};

/// Changes with every change of a message.
pub const PROTOCOL: u32 = 6;

/// Which build this is. Set by the build through the environment; two local builds without it agree.
pub const BUILD_ID: &str = match option_env!("HEADROOM_BUILD_ID") {
    Some(id) => id,
    None => "local",
};

/// What the page asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Answer this question. A newer generation replaces whatever is running.
    Plan {
        /// Grows with every request of the page; comes back with every message about it.
        generation: u64,
        /// The question.
        question: Box<Question>,
        /// One replication only: enough while a slider is being dragged.
        quick: bool,
    },
    /// Prove the simulator's truths. Plans go first; a newer proof replaces the one under way.
    Prove {
        /// Grows with every request of the page, plans included.
        generation: u64,
        /// Root of the proof's random numbers.
        seed: u64,
    },
    /// Simulate prefill and decode pools, and as many replicas that do both. Plans go first; newer
    /// pools replace those under way.
    Pools {
        /// Grows with every request of the page, plans included.
        generation: u64,
        /// The traffic, and each replica.
        question: Box<Question>,
        /// The pools.
        asked: PoolsAsked,
    },
    /// Simulate a fleet over time, or answer another long question. Plans go first; a newer question
    /// replaces the one under way.
    Long {
        /// Grows with every request of the page, plans included.
        generation: u64,
        /// What [`pack`] makes of a [`LongAsked`].
        packed: Vec<u8>,
    },
    /// Calibrate on files. Plans go first; a newer calibration replaces the one under way.
    Calibrate {
        /// Grows with every request of the page, plans included.
        generation: u64,
        /// What [`pack`] makes of a [`CalibrationAsked`].
        packed: Vec<u8>,
    },
    /// Forget the recording. One comes as a file of the browser, not as a message of this kind: it is
    /// read where it is needed, and answered by [`FromWorker::FileRead`].
    ForgetRecording,
    /// Write the recording as a table under a line with this link. It goes back as a file of the
    /// browser, too.
    WriteRecording {
        /// The link of the scenario that replays it.
        link: String,
    },
    /// Stop working on this generation, if it is a current one.
    Cancel {
        /// The generation to stop.
        generation: u64,
    },
}

/// What the worker tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromWorker {
    /// The worker listens. Messages sent before this one are lost.
    Ready {
        /// The worker's [`PROTOCOL`].
        protocol: u32,
        /// The worker's [`BUILD_ID`].
        build_id: String,
    },
    /// Still working. Comes several times a second, so that silence means trouble.
    Progress {
        /// The request that this is about.
        generation: u64,
        /// Jobs done.
        done: u32,
        /// Jobs in all, as far as is known.
        total: u32,
    },
    /// An answer.
    Answer {
        /// The request that this is about.
        generation: u64,
        /// What came out.
        answer: Box<PlanAnswer>,
        /// False while further replications will narrow it.
        complete: bool,
    },
    /// What a proof has found.
    Proof {
        /// The request that this is about.
        generation: u64,
        /// What was found so far.
        answer: Box<ProofAnswer>,
    },
    /// What came of prefill and decode pools.
    Pools {
        /// The request that this is about.
        generation: u64,
        /// What [`pack`] makes of a [`PoolsOutcome`].
        packed: Vec<u8>,
    },
    /// How far a long question is, or what came of it.
    Long {
        /// The request that this is about.
        generation: u64,
        /// What [`pack`] makes of a [`FleetNews`], or of what else tells of a long question.
        packed: Vec<u8>,
        /// Whether there is nothing more to come.
        complete: bool,
    },
    /// What was understood of files to calibrate on, how far the fit is, or what came of it.
    Calibration {
        /// The request that this is about.
        generation: u64,
        /// What [`pack`] makes of a [`CalibrationNews`].
        packed: Vec<u8>,
        /// Whether there is nothing more to come.
        complete: bool,
    },
    /// What became of a file. A recording takes the place of an earlier one; if it is none, the
    /// earlier one stays.
    FileRead {
        /// Whether it is a recording.
        is_recording: bool,
        /// What [`pack`] makes of a [`Recording`], or of the reason as a [`String`].
        packed: Vec<u8>,
    },
    /// The scenario has no answer; the message says what to change.
    Refused {
        /// The request that this is about.
        generation: u64,
        /// Why, in a sentence for the person.
        message: String,
    },
    /// The worker is dying. Sent from its panic hook: it must not be used again.
    Panicked {
        /// What the panic said, and where.
        message: String,
    },
}

/// A message that cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// Shorter than its own header.
    #[error("the message has {len} bytes, fewer than its header")]
    Short {
        /// Its length.
        len: usize,
    },
    /// Written by another build.
    #[error("the message speaks protocol {theirs}, this side speaks {ours}; reload the page")]
    Version {
        /// The sender's protocol.
        theirs: u32,
        /// Ours.
        ours: u32,
    },
    /// Not a message.
    #[error("the message cannot be read or written: {0}")]
    Malformed(String),
}

/// Writes what few visitors get, so that a message that carries it need not know it: who unpacks it
/// is loaded only when it is needed.
#[must_use]
pub fn pack<T: Serialize>(value: &T) -> Vec<u8> {
    // No value of this crate has a part that cannot be written.
    postcard::to_extend(value, Vec::new()).unwrap_or_default()
}

/// Reads what [`pack`] wrote; `None` if it did not.
#[must_use]
pub fn unpack<T: DeserializeOwned>(packed: &[u8]) -> Option<T> {
    postcard::from_bytes(packed).ok()
}

/// Writes a message.
///
/// # Errors
/// [`ProtocolError::Malformed`] if a value cannot be serialized, which no message of this crate does.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, ProtocolError> {
    let header = PROTOCOL.to_le_bytes().to_vec();
    postcard::to_extend(message, header).map_err(|e| ProtocolError::Malformed(e.to_string()))
}

/// Reads a message.
///
/// # Errors
/// A [`ProtocolError`] if the bytes are no message of this protocol.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ProtocolError> {
    let Some((header, body)) = bytes.split_first_chunk::<4>() else {
        return Err(ProtocolError::Short { len: bytes.len() });
    };
    let theirs = u32::from_le_bytes(*header);
    if theirs != PROTOCOL {
        return Err(ProtocolError::Version { theirs, ours: PROTOCOL });
    }
    postcard::from_bytes(body).map_err(|e| ProtocolError::Malformed(e.to_string()))
}

#[cfg(test)]
mod tests {
    use scenario::Scenario;

    use super::*;

    #[test]
    fn a_question_comes_through_whole() {
        let mut mixed = Scenario::preset();
        for (key, value) in [
            ("class.rag", "share:20,in:quantiles(0:100,100:9000),ttft:3s"),
            ("arrivals", "onoff(20s,60s,0.1)"),
            ("profile", "daily(0.3)"),
            ("step.kind", "queue-model"),
        ] {
            mixed.set(key, value).unwrap();
        }
        for scenario in [Scenario::preset(), mixed] {
            let resolved = scenario.resolve().unwrap();
            let question = Question::of(&resolved).unwrap();
            assert_eq!(question.resolved().setup, resolved.setup);
            assert_eq!(question.resolved().classes, resolved.classes);
            let sent = ToWorker::Plan { generation: 7, question: Box::new(question), quick: true };
            let bytes = encode(&sent).unwrap();
            assert_eq!(decode::<ToWorker>(&bytes).unwrap(), sent);
        }
    }

    #[test]
    fn a_proof_comes_through_whole() {
        let mut proof = planner::Proof::new(5);
        let findings = proof.next_jobs().iter().map(planner::ProofJob::run).collect();
        proof.accept(findings);
        let answer = Box::new(proof.answer().clone());
        let sent = FromWorker::Proof { generation: 3, answer };
        assert_eq!(decode::<FromWorker>(&encode(&sent).unwrap()).unwrap(), sent);
    }

    #[test]
    fn news_comes_through_whole() {
        for sent in [
            FromWorker::Ready { protocol: PROTOCOL, build_id: BUILD_ID.into() },
            FromWorker::Progress { generation: 1, done: 2, total: 3 },
            FromWorker::Refused { generation: 1, message: "the trace is empty".into() },
            FromWorker::Panicked { message: "index out of bounds".into() },
        ] {
            let bytes = encode(&sent).unwrap();
            assert_eq!(decode::<FromWorker>(&bytes).unwrap(), sent);
        }
    }

    #[test]
    fn another_protocol_is_named_not_guessed() {
        let mut bytes = encode(&ToWorker::Cancel { generation: 1 }).unwrap();
        bytes[0] = bytes[0].wrapping_add(1);
        assert_eq!(
            decode::<ToWorker>(&bytes),
            Err(ProtocolError::Version { theirs: PROTOCOL + 1, ours: PROTOCOL })
        );
    }

    #[test]
    fn rubbish_is_an_error_value() {
        assert_eq!(decode::<ToWorker>(&[1, 0]), Err(ProtocolError::Short { len: 2 }));
        let mut bytes = PROTOCOL.to_le_bytes().to_vec();
        bytes.extend([250, 250, 250]);
        assert!(matches!(decode::<ToWorker>(&bytes), Err(ProtocolError::Malformed(_))));
    }
}
