//! A command made ready once: everything exec needs stands in C arrays, so that a run formats,
//! searches and allocates nothing. What changes from run to run has slots of fixed size.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use super::{Error, resolve::resolve};

/// The variables that carry the number of the run; the second is what hyperfine's users look for.
const ITERATION: [&str; 2] = ["OFFBENCH_ITERATION", "HYPERFINE_ITERATION"];
/// The variable whose length shifts the stack of the command.
const PADDING: &str = "OFFBENCH_PADDING";
/// Room for the text of an iteration.
const ITERATION_ROOM: usize = 40;
/// The longest padding, in bytes.
const PADDING_ROOM: usize = 16 * 1024;
/// The longest argument or variable the kernel takes (`MAX_ARG_STRLEN`, 32 pages), with its NUL.
const LONGEST: usize = 128 * 1024;
/// Variables set by [`Slots`], last in the environment.
const SLOTS: usize = ITERATION.len() + 1;

/// The environment most commands of a session share.
#[derive(Debug, Clone)]
pub(crate) struct Environment(Rc<[CString]>);

impl Environment {
    /// The same variables as C strings; a later one replaces an earlier one of the same name.
    ///
    /// # Errors
    /// A name or value holds a NUL byte.
    pub(crate) fn new(variables: &[(OsString, OsString)]) -> Result<Self, Error> {
        let mut all: Vec<CString> = Vec::with_capacity(variables.len());
        for (name, value) in variables {
            set(&mut all, name, value)?;
        }
        Ok(Self(all.into()))
    }

    /// These variables with others added or replaced.
    fn with(&self, changes: &[(OsString, OsString)]) -> Result<Self, Error> {
        if changes.is_empty() {
            return Ok(self.clone());
        }
        let mut all = self.0.to_vec();
        for (name, value) in changes {
            set(&mut all, name, value)?;
        }
        Ok(Self(all.into()))
    }

    /// The value of a variable.
    fn value(&self, name: &str) -> Option<&OsStr> {
        self.0
            .iter()
            .find_map(|text| value_of(text, name.as_bytes()))
            .map(OsStr::from_bytes)
    }
}

fn value_of<'a>(text: &'a CStr, name: &[u8]) -> Option<&'a [u8]> {
    text.to_bytes().strip_prefix(name)?.strip_prefix(b"=")
}

fn set(all: &mut Vec<CString>, name: &OsStr, value: &OsStr) -> Result<(), Error> {
    let reserved = ITERATION.iter().chain([&PADDING]);
    if reserved.into_iter().any(|taken| *taken == name) {
        return Ok(());
    }
    let text = [name.as_bytes(), b"=", value.as_bytes()].concat();
    let text = CString::new(text).map_err(|_| Error::Nul)?;
    let place = all
        .iter()
        .position(|held| value_of(held, name.as_bytes()).is_some());
    match place {
        Some(place) => all[place] = text,
        None => all.push(text),
    }
    Ok(())
}

/// What a command consists of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words<'a> {
    /// The program and its arguments.
    pub(crate) all: &'a [OsString],
    /// Variables added to the session's.
    pub(crate) variables: &'a [(OsString, OsString)],
    /// The working directory, if not ours.
    pub(crate) directory: Option<&'a Path>,
}

/// A command ready to be started many times.
#[derive(Debug)]
pub(crate) struct Prepared {
    path: CString,
    arguments: Vec<CString>,
    environment: Environment,
    directory: Option<CString>,
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only our own start uses it")
    )]
    argv: Vec<*const libc::c_char>,
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only our own start uses it")
    )]
    /// The environment, then [`SLOTS`] places, then the closing null.
    envp: Vec<*const libc::c_char>,
}

impl Prepared {
    /// Finds the program and lays out its arguments and environment.
    ///
    /// # Errors
    /// The program cannot be executed, or a text cannot be passed to it.
    pub(crate) fn new(words: &Words<'_>, session: &Environment) -> Result<Self, Error> {
        let environment = session.with(words.variables)?;
        let program = words.all.first().ok_or(Error::NotFound)?;
        if let Some(directory) = words.directory {
            enterable(directory)?;
        }
        let path = resolve(program, environment.value("PATH"), words.directory)?;
        let arguments = words
            .all
            .iter()
            .map(|word| c_string(word))
            .collect::<Result<Vec<_>, _>>()?;
        let texts = arguments.iter().chain(environment.0.iter());
        if texts.into_iter().any(|text| text.count_bytes() >= LONGEST) {
            return Err(Error::TooLong);
        }
        let argv = pointers(&arguments, 1);
        let envp = pointers(&environment.0, SLOTS + 1);
        Ok(Self {
            path: c_string(path.as_os_str())?,
            directory: words
                .directory
                .map(|d| c_string(d.as_os_str()))
                .transpose()?,
            arguments,
            environment,
            argv,
            envp,
        })
    }

    /// The file that is executed.
    pub(crate) fn path(&self) -> &CStr {
        &self.path
    }

    /// The program and its arguments.
    pub(crate) fn arguments(&self) -> &[CString] {
        &self.arguments
    }

    /// The working directory, if not ours.
    pub(crate) fn directory(&self) -> Option<&CStr> {
        self.directory.as_deref()
    }

    /// The variables, those of the slots included.
    pub(crate) fn variables<'a>(&'a self, slots: &'a Slots) -> impl Iterator<Item = &'a CStr> {
        self.environment
            .0
            .iter()
            .map(CString::as_c_str)
            .chain(slots.texts().into_iter().flatten())
    }

    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only our own start uses it")
    )]
    /// The arguments for exec, ending in null; valid while `self` is.
    pub(super) fn argv(&self) -> *const *const libc::c_char {
        self.argv.as_ptr()
    }

    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only our own start uses it")
    )]
    /// The environment for exec with the slots filled in, ending in null; valid while `self` and
    /// `slots` are and until `slots` change.
    pub(super) fn envp(&mut self, slots: &Slots) -> *const *const libc::c_char {
        let first = self.environment.0.len();
        let places = &mut self.envp[first..first + SLOTS];
        for (place, text) in places.iter_mut().zip(slots.texts()) {
            *place = text.map_or(std::ptr::null(), CStr::as_ptr);
        }
        self.envp.as_ptr()
    }
}

fn enterable(directory: &Path) -> Result<(), Error> {
    let refused = |source| Error::WorkingDirectory {
        path: directory.into(),
        source,
    };
    let facts = std::fs::metadata(directory).map_err(refused)?;
    if !facts.is_dir() {
        return Err(refused(std::io::Error::from_raw_os_error(libc::ENOTDIR)));
    }
    nix::unistd::access(directory, nix::unistd::AccessFlags::X_OK)
        .map_err(|errno| refused(errno.into()))
}

fn c_string(text: &OsStr) -> Result<CString, Error> {
    CString::new(text.as_bytes()).map_err(|_| Error::Nul)
}

fn pointers(texts: &[CString], nulls: usize) -> Vec<*const libc::c_char> {
    let closing = std::iter::repeat_n(std::ptr::null(), nulls);
    texts.iter().map(|t| t.as_ptr()).chain(closing).collect()
}

/// The variables that change from run to run, in buffers of fixed size.
#[derive(Debug)]
pub(crate) struct Slots {
    iteration: [[u8; 64]; ITERATION.len()],
    padding: Vec<u8>,
    padded: Option<usize>,
}

impl Slots {
    /// Slots of iteration 0 without padding.
    pub(crate) fn new() -> Self {
        let mut padding = [PADDING.as_bytes(), b"="].concat();
        padding.resize(padding.len() + PADDING_ROOM + 1, b'x');
        let mut slots = Self {
            iteration: [[0; 64]; ITERATION.len()],
            padding,
            padded: None,
        };
        slots.set_iteration("", 0);
        slots
    }

    /// Says which run it is: a prefix (`""`, `"warmup-"`, …) and a number.
    pub(crate) fn set_iteration(&mut self, prefix: &str, index: u64) {
        for (buffer, name) in self.iteration.iter_mut().zip(ITERATION) {
            buffer.fill(0);
            // A prefix too long for the buffer is cut: the NUL at the end is never overwritten.
            let mut room = &mut buffer[..name.len() + 1 + ITERATION_ROOM];
            let _ = write!(room, "{name}={prefix}{index}");
        }
    }

    /// Sets the length of the padding; `None` leaves the variable out. Longer than there is room
    /// for is cut.
    ///
    /// Returns the length it has now.
    pub(crate) fn set_padding(&mut self, length: Option<u64>) -> u64 {
        if let Some(old) = self.padded.take() {
            self.padding[PADDING.len() + 1 + old] = b'x';
        }
        let length = length
            .map(|wanted| usize::try_from(wanted).map_or(PADDING_ROOM, |l| l.min(PADDING_ROOM)));
        if let Some(length) = length {
            self.padding[PADDING.len() + 1 + length] = 0;
        }
        self.padded = length;
        length.unwrap_or_default() as u64
    }

    /// Whether a padding is set.
    pub(crate) fn padded(&self) -> bool {
        self.padded.is_some()
    }

    /// The variables in the order of the environment's last places.
    fn texts(&self) -> [Option<&CStr>; SLOTS] {
        let padding = self.padded.map(|_| self.padding.as_slice());
        [
            Some(&self.iteration[0][..]),
            Some(&self.iteration[1][..]),
            padding,
        ]
        .map(|bytes| CStr::from_bytes_until_nul(bytes?).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(n, v)| (n.into(), v.into())).collect()
    }

    fn texts(slots: &Slots) -> Vec<String> {
        let all = slots.texts().into_iter().flatten();
        all.map(|text| text.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn slots_change_in_place() {
        let mut slots = Slots::new();
        slots.set_iteration("warmup-", 12);
        assert_eq!(slots.set_padding(Some(3)), 3);
        assert_eq!(
            texts(&slots),
            [
                "OFFBENCH_ITERATION=warmup-12",
                "HYPERFINE_ITERATION=warmup-12",
                "OFFBENCH_PADDING=xxx"
            ]
        );
        slots.set_iteration("", 4);
        assert_eq!(slots.set_padding(Some(5)), 5);
        assert_eq!(texts(&slots)[2], "OFFBENCH_PADDING=xxxxx");
        assert_eq!(texts(&slots)[0], "OFFBENCH_ITERATION=4");
        assert_eq!(slots.set_padding(Some(u64::MAX)), PADDING_ROOM as u64);
        assert_eq!(slots.set_padding(None), 0);
        assert_eq!(texts(&slots).len(), 2);
    }

    #[test]
    fn later_variables_replace_earlier_ones() {
        let session = variables(&[("A", "1"), ("B", "2"), ("OFFBENCH_ITERATION", "old")]);
        let session = Environment::new(&session).unwrap();
        let all = session.with(&variables(&[("B", "3"), ("C", "4")])).unwrap();
        let all: Vec<_> = all.0.iter().map(|t| t.to_str().unwrap()).collect();
        assert_eq!(all, ["A=1", "B=3", "C=4"]);
        assert_eq!(session.value("B"), Some(OsStr::new("2")));
    }

    #[test]
    fn texts_that_cannot_be_passed_are_refused() {
        let session = Environment::new(&[]).unwrap();
        let long: OsString = "x".repeat(LONGEST).into();
        let with = |word: OsString| {
            let words = ["sh".into(), word];
            let words = Words {
                all: &words,
                variables: &[],
                directory: None,
            };
            Prepared::new(&words, &session)
        };
        assert!(matches!(with(long), Err(Error::TooLong)));
        assert!(matches!(with("a\0b".into()), Err(Error::Nul)));
        assert!(with("fine".into()).is_ok());
        let words = Words {
            all: &["sh".into()],
            variables: &[],
            directory: Some(Path::new("/no/such")),
        };
        let refused = Prepared::new(&words, &session);
        assert!(matches!(refused, Err(Error::WorkingDirectory { .. })));
    }
}
