//! What is asked beside plans: proofs, pools, long questions and calibrations. Of each kind a worker has one
//! at a time; a fresh worker is asked again what the last one did not answer, unless it died of it.

use protocol::{PoolsAsked, Question, ToWorker};

use super::{Client, News};
use crate::browser::now_ms;

impl Client {
    /// Asks for a proof, beside whatever else is asked; a newer one replaces it.
    pub(crate) fn prove(&self, seed: u64) {
        {
            let mut inner = self.inner.borrow_mut();
            inner.generation += 1;
            inner.last_sign_ms = now_ms();
            inner.proof = Some((inner.generation, seed));
        }
        self.post_proof();
    }

    /// Asks for the proof, if there is one to ask for and the worker has what it needs.
    pub(super) fn post_proof(&self) {
        let asked = {
            let inner = self.inner.borrow();
            inner.proof.filter(|_| inner.ready && inner.is_whole())
        };
        if let Some((generation, seed)) = asked {
            self.post(&ToWorker::Prove { generation, seed });
        }
    }

    /// Asks for prefill and decode pools, beside whatever else is asked; newer ones replace them.
    pub(crate) fn pools(&self, question: Question, asked: PoolsAsked) {
        {
            let mut inner = self.inner.borrow_mut();
            inner.generation += 1;
            inner.pools = Some((inner.generation, Box::new(question), asked));
        }
        self.post_pools();
    }

    pub(super) fn post_pools(&self) {
        let pools = {
            let inner = self.inner.borrow();
            inner.pools.clone().filter(|_| inner.ready && inner.is_whole())
        };
        if let Some((generation, question, asked)) = pools {
            self.post(&ToWorker::Pools { generation, question, asked });
        }
    }

    /// Asks a long question, beside whatever else is asked; a newer one replaces it.
    pub(crate) fn long(&self, packed: Vec<u8>) {
        {
            let mut inner = self.inner.borrow_mut();
            inner.generation += 1;
            inner.last_sign_ms = now_ms();
            inner.long = Some((inner.generation, packed));
        }
        self.post_long();
    }

    /// Drops the long question alone.
    pub(crate) fn drop_long(&self) {
        let dropped = self.inner.borrow_mut().long.take();
        if let Some((generation, _)) = dropped {
            self.post(&ToWorker::Cancel { generation });
        }
    }

    pub(super) fn post_long(&self) {
        let long = {
            let inner = self.inner.borrow();
            inner.long.clone().filter(|_| inner.ready && inner.is_whole())
        };
        if let Some((generation, packed)) = long {
            self.post(&ToWorker::Long { generation, packed });
        }
    }

    /// Asks for a calibration, beside whatever else is asked; with nothing to ask it stops the one under way.
    pub(crate) fn calibrate(&self, packed: Option<Vec<u8>>) {
        let stopped = {
            let mut inner = self.inner.borrow_mut();
            let stopped = inner.calibration.take();
            inner.generation += 1;
            inner.last_sign_ms = now_ms();
            inner.calibration = packed.map(|packed| (inner.generation, Some(packed)));
            stopped
        };
        if let Some((generation, _)) = stopped {
            self.post(&ToWorker::Cancel { generation });
        }
        self.post_calibration();
    }

    /// A worker is asked once: what it dies of would end the next one, too.
    pub(super) fn post_calibration(&self) {
        let asked = {
            let mut inner = self.inner.borrow_mut();
            let can = inner.ready && inner.is_whole();
            let asked = inner.calibration.as_mut().filter(|_| can);
            asked.and_then(|(generation, packed)| Some((*generation, packed.take()?)))
        };
        if let Some((generation, packed)) = asked {
            self.post(&ToWorker::Calibrate { generation, packed });
        }
    }

    pub(super) fn hear_of_calibration(&self, generation: u64, packed: Vec<u8>, complete: bool) {
        let is_current = {
            let mut inner = self.inner.borrow_mut();
            let is_current = inner.calibration.as_ref().is_some_and(|(now, _)| *now == generation);
            if is_current && complete {
                inner.calibration = None;
            }
            is_current
        };
        if is_current {
            (self.tell)(News::Calibration(Some(packed), complete));
        }
    }

    /// What a worker dies of while it calibrates is the calibration.
    pub(super) fn blame_calibration(&self) {
        let is_asked = {
            let mut inner = self.inner.borrow_mut();
            let is_asked = matches!(inner.calibration, Some((_, None)));
            if is_asked {
                inner.calibration = None;
            }
            is_asked
        };
        if is_asked {
            (self.tell)(News::Calibration(None, true));
        }
    }

    pub(super) fn hear_of_long(&self, generation: u64, packed: Vec<u8>, complete: bool) {
        let is_current = {
            let mut inner = self.inner.borrow_mut();
            let is_current = inner.long.as_ref().is_some_and(|(now, _)| *now == generation);
            if is_current && complete {
                inner.long = None;
            }
            is_current
        };
        if is_current {
            (self.tell)(News::Long(packed, complete));
        }
    }

    pub(super) fn hear_of_pools(&self, generation: u64, packed: Vec<u8>) {
        let is_current = {
            let mut inner = self.inner.borrow_mut();
            let is_current = inner.pools.as_ref().is_some_and(|(now, ..)| *now == generation);
            if is_current {
                inner.pools = None;
            }
            is_current
        };
        if is_current {
            (self.tell)(News::Pools(packed));
        }
    }
}
