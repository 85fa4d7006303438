//! What holds between any two steps, whatever was asked.

use super::{kv_cache::KvCache, request::Status, scheduler::Scheduler};

impl Scheduler {
    /// The truths that the scheduler keeps; the first that it does not, in words.
    ///
    /// # Errors
    /// The violated truth with its two sides.
    pub fn verify(&self) -> Result<(), String> {
        let with = |status| self.requests.iter().filter(|r| r.status == status).count();
        let (running, ended) = (with(Status::Running), with(Status::Ended));
        let waiting = with(Status::Waiting) + with(Status::Preempted);
        if running != self.running.len() || waiting != self.waiting.len() {
            return Err(format!(
                "lists: {running} run and {waiting} wait, {} and {} are listed",
                self.running.len(),
                self.waiting.len()
            ));
        }
        if running + waiting + ended != self.requests.len() {
            return Err(format!("conservation: {} requests came", self.requests.len()));
        }
        if running as u64 > self.spec.max_num_seqs {
            return Err(format!("slots: {running} run, {} may", self.spec.max_num_seqs));
        }
        self.verify_memory()
    }

    /// Only running requests hold blocks, enough for what they have computed; every block but the
    /// null block is either held or free.
    fn verify_memory(&self) -> Result<(), String> {
        let mut holders = vec![0_u32; self.spec.num_blocks as usize];
        for request in &self.requests {
            let blocks = KvCache::blocks_of(request);
            if request.status != Status::Running && !blocks.is_empty() {
                return Err(format!("{:?} holds blocks and does not run", request.id));
            }
            if self.spec.blocks_for(request.computed_tokens) > blocks.len() as u64
                && request.status == Status::Running
            {
                return Err(format!("{:?} has tokens outside its blocks", request.id));
            }
            for &block in blocks {
                holders[block as usize] += 1;
            }
        }
        if holders[0] > 0 {
            return Err("the null block is held".to_owned());
        }
        let held = holders.iter().filter(|&&count| count > 0).count() as u64;
        let free = self.free_blocks();
        if held + free + 1 != self.spec.num_blocks {
            return Err(format!("blocks: {held} held, {free} free, {}", self.spec.num_blocks));
        }
        Ok(())
    }
}
