//! A second worker, for long questions beside the page's plan: the first one stays free for whatever a
//! slider asks. It lives as long as what asked for it, and is of the same module.

use std::{cell::RefCell, rc::Rc, time::Duration};

use js_sys::Uint8Array;
use leptos::prelude::*;
use protocol::{BUILD_ID, FromWorker, PROTOCOL, ToWorker};
use sim_worker::late;
use wasm_bindgen::{JsValue, prelude::Closure};
use web_sys::{Event, MessageEvent};

use crate::{state::State, worker_client::Link};

/// What comes of a question: packed news and whether they are the last, or why nothing comes any more.
pub(super) type Heard = Result<(Vec<u8>, bool), String>;

/// The worker; none before the first question.
pub(super) struct SecondWorker {
    inner: Rc<RefCell<Inner>>,
    tell: Rc<dyn Fn(Heard)>,
}

#[derive(Default)]
struct Inner {
    link: Option<Link>,
    is_ready: bool,
    generation: u64,
    /// What is asked of the worker, or will be once it is ready.
    asked: Option<Vec<u8>>,
    /// The late part, compiled, where it is apart.
    late: Option<JsValue>,
}

impl SecondWorker {
    /// Not started yet. `tell` hears what comes of the questions. The late part is there: this is in it.
    pub(super) fn new(state: State, tell: impl Fn(Heard) + 'static) -> Self {
        let late = late::is_apart().then(|| state.late.module.with_value(Clone::clone));
        let inner = Rc::new(RefCell::new(Inner { late, ..Inner::default() }));
        Self { inner, tell: Rc::new(tell) }
    }

    /// Asks; a newer question replaces the one under way.
    pub(super) fn ask(&self, packed: Vec<u8>) {
        let is_there = {
            let mut inner = self.inner.borrow_mut();
            inner.generation += 1;
            inner.asked = Some(packed);
            inner.link.is_some()
        };
        if is_there {
            self.handle().post();
        } else {
            self.handle().spawn();
        }
    }

    /// Drops the question under way.
    pub(super) fn cancel(&self) {
        let generation = {
            let mut inner = self.inner.borrow_mut();
            if inner.asked.take().is_none() {
                return;
            }
            inner.generation
        };
        self.handle().pass(&ToWorker::Cancel { generation });
    }

    fn handle(&self) -> Handle {
        Handle { inner: Rc::clone(&self.inner), tell: Rc::clone(&self.tell) }
    }
}

impl Drop for SecondWorker {
    fn drop(&mut self) {
        self.handle().end();
    }
}

/// The same for the worker's own listeners, which do not keep it alive.
#[derive(Clone)]
struct Handle {
    inner: Rc<RefCell<Inner>>,
    tell: Rc<dyn Fn(Heard)>,
}

impl Handle {
    fn spawn(&self) {
        let (listener, faulty) = (self.clone(), self.clone());
        let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            let bytes = Uint8Array::new(&event.data()).to_vec();
            match protocol::decode(&bytes) {
                Ok(message) => listener.hear(message),
                Err(error) => listener.fail(error.to_string()),
            }
        });
        let on_error = Closure::<dyn Fn(Event)>::new(move |event: Event| {
            event.prevent_default();
            faulty.fail("the worker could not be loaded".to_owned());
        });
        match Link::open(on_message, on_error) {
            Ok(link) => self.inner.borrow_mut().link = Some(link),
            Err(message) => self.fail(message),
        }
    }

    fn hear(&self, message: FromWorker) {
        match message {
            FromWorker::Ready { protocol, build_id } => {
                if protocol != PROTOCOL || build_id != BUILD_ID {
                    self.fail("the worker is of another build; reload the page".to_owned());
                    return;
                }
                let late = {
                    let mut inner = self.inner.borrow_mut();
                    inner.is_ready = true;
                    inner.late.clone()
                };
                if let Some(module) = late {
                    self.send(&module);
                }
                self.post();
            }
            FromWorker::Long { generation, packed, complete } => {
                {
                    let mut inner = self.inner.borrow_mut();
                    if generation != inner.generation || inner.asked.is_none() {
                        return;
                    }
                    if complete {
                        inner.asked = None;
                    }
                }
                (self.tell)(Ok((packed, complete)));
            }
            FromWorker::Panicked { message } => self.fail(message),
            // It is asked nothing else.
            _ => {}
        }
    }

    fn post(&self) {
        let asked = {
            let inner = self.inner.borrow();
            inner.asked.clone().filter(|_| inner.is_ready).map(|asked| (inner.generation, asked))
        };
        if let Some((generation, packed)) = asked {
            self.pass(&ToWorker::Long { generation, packed });
        }
    }

    fn pass(&self, message: &ToWorker) {
        if let Ok(bytes) = protocol::encode(message) {
            self.send(&Uint8Array::from(&bytes[..]));
        }
    }

    fn send(&self, message: &JsValue) {
        let passed = match &self.inner.borrow().link {
            Some(link) => link.pass(message),
            None => return,
        };
        if !passed {
            self.fail("the browser could not pass a message".to_owned());
        }
    }

    /// The next question starts a fresh one.
    fn fail(&self, message: String) {
        let was_asked = self.inner.borrow().asked.is_some();
        self.end();
        if was_asked {
            (self.tell)(Err(message));
        }
    }

    fn end(&self) {
        let link = {
            let mut inner = self.inner.borrow_mut();
            inner.is_ready = false;
            inner.asked = None;
            inner.link.take()
        };
        if let Some(link) = link {
            link.end();
            // Dropping it inside one of its own listeners would free the one that runs.
            set_timeout(move || drop(link), Duration::ZERO);
        }
    }
}
