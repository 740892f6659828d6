use std::sync::{Arc, Mutex, PoisonError};

/// Called when there is a new value; the window requests a repaint with it.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// Slot for the newest value of a stream. Clones share it.
pub struct Slot<T> {
    newest: Arc<Mutex<(u64, Option<Arc<T>>)>>,
    waker: Option<Waker>,
}

// Derived, it would ask for `T: Clone`.
impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self { newest: Arc::clone(&self.newest), waker: self.waker.clone() }
    }
}

impl<T> Slot<T> {
    /// An empty slot; `waker` is called after each [`Self::publish`].
    pub fn new(waker: Option<Waker>) -> Self {
        Self { newest: Arc::new(Mutex::new((0, None))), waker }
    }

    /// Replaces the value and wakes its waiter.
    pub fn publish(&self, value: Arc<T>) {
        {
            let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
            newest.0 += 1;
            newest.1 = Some(value);
        }
        if let Some(waker) = &self.waker {
            waker();
        }
    }

    /// The newest value with its generation, counted from 1; `None` before the first.
    pub fn newest(&self) -> Option<(u64, Arc<T>)> {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.1.as_ref().map(|value| (newest.0, Arc::clone(value)))
    }
}
