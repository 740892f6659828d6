//! Background work: the newest request wins; the last result stays until the new one arrives.

use std::sync::{Arc, Mutex, PoisonError};

use crate::jobs::{CancelToken, Cancelled, Slot, Waker, catch_panic, spawn};

/// A shared value that is equal to no other, whatever it contains: tells whether a request is for something new.
pub struct Same<T: ?Sized>(pub Arc<T>);

impl<T: ?Sized> Clone for Same<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The result of a request.
enum Outcome<T> {
    Done(u64, T),
    Failed(u64, String),
}

/// Slot of the newest outcome.
type Answers<T> = Slot<Mutex<Option<Outcome<T>>>>;

/// Runs one kind of work; a new request cancels the one before.
pub struct Background<T> {
    slot: Option<Arc<Answers<T>>>,
    cancel: CancelToken,
    asked: u64,
    answered: u64,
    seen: u64,
    error: Option<String>,
    /// Whether [`Self::result`] gave the error.
    reported: bool,
}

impl<T> Default for Background<T> {
    fn default() -> Self {
        Self {
            slot: None,
            cancel: CancelToken::new(),
            asked: 0,
            answered: 0,
            seen: 0,
            error: None,
            reported: false,
        }
    }
}

impl<T: Send + 'static> Background<T> {
    /// Starts `work` on a thread, or does it at once when `at_once` is set.
    pub fn start(
        &mut self,
        waker: &Waker,
        at_once: bool,
        work: impl FnOnce(&CancelToken) -> Result<T, Cancelled> + Send + 'static,
    ) -> Option<T> {
        self.cancel.cancel();
        self.cancel = CancelToken::new();
        self.asked += 1;
        (self.error, self.reported) = (None, false);
        let (asked, cancel) = (self.asked, self.cancel.clone());
        if at_once {
            self.answered = asked;
            return work(&cancel).ok();
        }
        let slot = self.slot.get_or_insert_with(|| Arc::new(Slot::new(Some(Arc::clone(waker)))));
        let slot = Arc::clone(slot);
        let started = spawn("view", move || {
            let outcome = match catch_panic(|| work(&cancel)) {
                Ok(Ok(value)) => Outcome::Done(asked, value),
                Ok(Err(Cancelled)) => return,
                Err(panic) => Outcome::Failed(asked, panic),
            };
            if !cancel.is_cancelled() {
                slot.publish(Arc::new(Mutex::new(Some(outcome))));
            }
        });
        if let Err(error) = started {
            self.answered = asked;
            self.error = Some(format!("cannot start a thread: {error}"));
            waker();
        }
        None
    }

    /// The result of the newest request, once.
    pub fn take(&mut self) -> Option<T> {
        let (number, value) = self.slot.as_ref()?.newest()?;
        if number == self.seen {
            return None;
        }
        self.seen = number;
        let outcome = value.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        match outcome {
            Outcome::Done(asked, value) if asked == self.asked => {
                self.answered = asked;
                Some(value)
            }
            Outcome::Failed(asked, panic) if asked == self.asked => {
                self.answered = asked;
                self.error = Some(format!("internal error in cutaway, please report it: {panic}"));
                None
            }
            Outcome::Done(..) | Outcome::Failed(..) => None,
        }
    }

    /// The result of the newest request or why it has none, once.
    pub fn result(&mut self) -> Option<Result<T, String>> {
        if let Some(value) = self.take() {
            return Some(Ok(value));
        }
        let error = self.error.clone().filter(|_| !self.reported)?;
        self.reported = true;
        Some(Err(error))
    }

    /// Whether a request is still worked on.
    pub fn is_busy(&self) -> bool {
        self.answered != self.asked
    }

    /// Why the newest request has no result.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
