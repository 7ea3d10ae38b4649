//! Room for our own stack, whatever the caller's limit is. The limit itself is the command's, and
//! is never changed.

use nix::sys::resource::Resource;
use nix::sys::signal::SigSet;

use super::unix;

/// What the program needs, with a reserve: the kernel's usual limit is eight times this.
const NEEDED: usize = 1 << 20;

/// Runs the whole program where it has room: here, or in a thread with a stack of its own where
/// the limit is too low for us. This thread then only waits, and takes no signal, so that signals
/// interrupt what the program waits for.
pub(crate) fn with_room<T: Send + 'static>(program: fn() -> T) -> T {
    let small = unix::limit(Resource::RLIMIT_STACK).is_some_and(|limit| limit < NEEDED as u64);
    if !small || SigSet::all().thread_block().is_err() {
        return program();
    }
    let builder = std::thread::Builder::new().stack_size(NEEDED);
    match builder.spawn(program).map(std::thread::JoinHandle::join) {
        Ok(Ok(done)) => done,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(_) => program(),
    }
}
