//! A log file that is bounded in size and that many processes append to at once.
//!
//! Each call of `write` is one line and is appended whole. Where the file would grow too long, one of the processes
//! renames the files under a lock; the others see that the name leads to another file, and open that.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where a file ends, in bytes.
pub const FILE_BYTES: u64 = 2 * 1024 * 1024;
/// How many files are kept, the one that is written included.
pub const FILES: usize = 5;

/// The file at a path, and its older ones at `.1`, `.2`, ….
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    limit: u64,
}

impl LogFile {
    /// Opens the file, or makes it, readable by the user alone.
    ///
    /// # Errors
    /// When the file cannot be opened or made.
    pub fn open(path: PathBuf) -> io::Result<Self> {
        Self::with_limit(path, FILE_BYTES)
    }

    fn with_limit(path: PathBuf, limit: u64) -> io::Result<Self> {
        let file = append_to(&path)?;
        Ok(Self { path, file, limit })
    }

    /// Follows the name where another process has renamed the file.
    fn follow(&mut self) -> io::Result<u64> {
        let there = std::fs::metadata(&self.path);
        let here = self.file.metadata()?;
        match there {
            Ok(there) if is_same(&there, &here) => Ok(there.len()),
            _ => {
                self.file = append_to(&self.path)?;
                Ok(self.file.metadata()?.len())
            }
        }
    }

    fn rotate(&mut self, more: u64) -> io::Result<()> {
        let lock = private().write(true).open(self.numbered("lock"))?;
        lock.lock()?;
        // Another process may have done it while this one waited.
        if self.follow()? + more > self.limit {
            for number in (1..FILES - 1).rev() {
                let _ = std::fs::rename(
                    self.numbered(&number.to_string()),
                    self.numbered(&(number + 1).to_string()),
                );
            }
            std::fs::rename(&self.path, self.numbered("1"))?;
            self.file = append_to(&self.path)?;
        }
        lock.unlock()
    }

    fn numbered(&self, ending: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let more = line.len() as u64;
        let length = self.follow()?;
        if length > 0 && length + more > self.limit {
            self.rotate(more)?;
        }
        self.file.write_all(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    private().append(true).open(path)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

#[cfg(unix)]
fn is_same(there: &std::fs::Metadata, here: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    there.ino() == here.ino() && there.dev() == here.dev()
}

#[cfg(not(unix))]
fn is_same(there: &std::fs::Metadata, here: &std::fs::Metadata) -> bool {
    there.created().ok() == here.created().ok() && there.len() == here.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> Vec<(String, String)> {
        let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| !entry.file_name().to_string_lossy().ends_with(".lock"))
            .map(|entry| {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                (entry.file_name().to_string_lossy().into_owned(), text)
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn five_files_are_kept_and_none_is_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogFile::with_limit(folder.path().join("a.log"), 100).unwrap();
        for number in 0..100 {
            log.write_all(format!("line {number:04}\n").as_bytes()).unwrap();
        }
        let found = files(folder.path());
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a.log", "a.log.1", "a.log.2", "a.log.3", "a.log.4"]);
        assert!(found.iter().all(|(_, text)| text.len() <= 100));
        assert!(found[0].1.ends_with("line 0099\n"));
    }

    #[test]
    fn lines_of_many_writers_stay_whole_and_none_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = path.clone();
                scope.spawn(move || {
                    let mut log = LogFile::with_limit(path, 8_000).unwrap();
                    for number in 0..400 {
                        log.write_all(format!("{writer} {number:04} end\n").as_bytes()).unwrap();
                    }
                });
            }
        });
        let found = files(folder.path());
        let lines: Vec<&str> = found.iter().flat_map(|(_, text)| text.lines()).collect();
        assert!(lines.iter().all(|line| line.len() == 10 && line.ends_with("end")));
        assert_eq!(lines.len(), 1_600);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        LogFile::open(path.clone()).unwrap().write_all(b"line\n").unwrap();
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
