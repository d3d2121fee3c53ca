//! A service in this process, on a disk that fails when it is told to.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use koru_model::content::ContentHasher;
use koru_model::protocol::base64::Base64;
use koru_model::protocol::home::Home;
use koru_model::protocol::wire::{Request, Scope};
use koru_service::dispatch;
use koru_service::files::disk::{Disk, RealDisk};
use koru_service::outside::Outside;
use koru_service::service::Service;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// How a step of the disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is refused, and later ones are not.
    Refused,
    /// It is done, or half of it, and reported as failed.
    Lied,
    /// It is not done, and neither is any later one, as where the process is killed.
    Dead,
}

/// A disk that fails at one step.
pub(crate) struct Faulty {
    fault: Fault,
    left: AtomicI64,
    pub(crate) taken: AtomicI64,
}

impl Faulty {
    pub(crate) fn after(steps: i64, fault: Fault) -> Arc<Self> {
        Arc::new(Self { fault, left: AtomicI64::new(steps), taken: AtomicI64::new(0) })
    }

    /// Never fails.
    pub(crate) fn sound() -> Arc<Self> {
        Self::after(i64::MAX, Fault::Refused)
    }

    pub(crate) fn fail_after(&self, steps: i64) {
        self.left.store(steps, Ordering::SeqCst);
    }

    fn step<T>(&self, run: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.taken.fetch_add(1, Ordering::SeqCst);
        let left = self.left.fetch_sub(1, Ordering::SeqCst);
        let full = || Err(io::Error::from(io::ErrorKind::StorageFull));
        match self.fault {
            Fault::Dead if left <= 0 => full(),
            Fault::Refused if left == 0 => full(),
            Fault::Lied if left == 0 => {
                drop(run());
                full()
            }
            _ => run(),
        }
    }
}

impl Disk for Faulty {
    fn create(&self, path: &Path) -> io::Result<File> {
        self.step(|| RealDisk.create(path))
    }
    fn append(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
        let half = bytes.len() / if self.fault == Fault::Lied { 2 } else { 1 };
        let is_last = self.left.load(Ordering::SeqCst) == 0;
        let bytes = if is_last { &bytes[..half] } else { bytes };
        self.step(|| RealDisk.append(file, bytes))
    }
    fn sync(&self, file: &File) -> io::Result<()> {
        self.step(|| RealDisk.sync(file))
    }
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.step(|| RealDisk.make_folder(path))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|| RealDisk.rename(from, to))
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.step(|| RealDisk.sync_folder(path))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(|| RealDisk.remove(path))
    }
}

pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) service: Arc<Service>,
    pub(crate) clock: Arc<AtomicI64>,
    pub(crate) workspace: Value,
}

fn home(folder: &Path) -> Home {
    Home::under(&folder.join("home"), None)
}

fn open(folder: &Path, clock: &Arc<AtomicI64>, disk: Arc<dyn Disk>) -> Arc<Service> {
    let home = home(folder);
    home.prepare().unwrap();
    let now = Arc::clone(clock);
    let number = AtomicU64::new(u64::try_from(clock.fetch_add(1, Ordering::SeqCst)).unwrap() << 20);
    let ids = move || {
        let number = number.fetch_add(1, Ordering::SeqCst);
        // A hash, for the bits of an ID are used as if they were random.
        let mut hasher = ContentHasher::default();
        hasher.update(&number.to_le_bytes());
        Uuid::from_bytes(*hasher.finish().0.0.first_chunk().unwrap())
    };
    let clock = Box::new(move || now.load(Ordering::SeqCst));
    Service::open(home, Outside::of(clock, Box::new(ids)).with_disk(disk)).unwrap()
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::on(Arc::new(RealDisk))
    }

    pub(crate) fn on(disk: Arc<dyn Disk>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let clock = Arc::new(AtomicI64::new(now.as_millis().try_into().unwrap()));
        let service = open(folder.path(), &clock, disk);
        let mut fixture = Self { folder, service, clock, workspace: Value::Null };
        fixture.workspace = fixture.ok("list_workspaces", json!({}))["workspaces"][0]["id"].clone();
        fixture
    }

    /// Another life of the service on the same store.
    pub(crate) fn again(&mut self, disk: Arc<dyn Disk>) {
        self.service.store.close();
        self.service = open(self.folder.path(), &self.clock, disk);
    }

    pub(crate) fn database(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(home(self.folder.path()).database()).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        connection
    }

    pub(crate) fn pass(&self, milliseconds: i64) {
        self.clock.fetch_add(milliseconds, Ordering::SeqCst);
    }

    pub(crate) fn answer_in(
        &self,
        scope: Scope,
        call: &str,
        params: &Value,
    ) -> Result<Value, Value> {
        let request = Request {
            id: 1,
            call: call.into(),
            params: to_raw_value(params).unwrap(),
            key: Some(Uuid::new_v4()),
            client: None,
            scope,
        };
        let answer = dispatch::answer(&self.service, 1, request);
        match (answer.ok, answer.error) {
            (Some(ok), None) => Ok(serde_json::from_str(ok.get()).unwrap()),
            (None, Some(error)) => Err(serde_json::to_value(error).unwrap()),
            both => panic!("{both:?}"),
        }
    }

    pub(crate) fn answer(&self, call: &str, params: &Value) -> Result<Value, Value> {
        self.answer_in(Scope::default(), call, params)
    }

    #[track_caller]
    pub(crate) fn ok(&self, call: &str, params: Value) -> Value {
        self.answer(call, &params).unwrap_or_else(|error| panic!("{call}: {error}"))
    }

    /// The code and the message of a refusal.
    #[track_caller]
    pub(crate) fn refused(&self, call: &str, params: Value) -> (String, String) {
        let error = self.answer(call, &params).expect_err(call);
        (error["code"].as_str().unwrap().into(), error.to_string())
    }

    pub(crate) fn here(&self, mut more: Value) -> Value {
        more["workspace_id"] = self.workspace.clone();
        more
    }

    /// Sends a file whole.
    pub(crate) fn try_to_add(&self, id: &str, name: &str, bytes: &[u8]) -> Result<Value, Value> {
        let begin = json!({ "upload_id": id, "name": name, "size": bytes.len() });
        self.answer("file.begin", &self.here(begin))?;
        let mut hasher = ContentHasher::default();
        for chunk in bytes.chunks(1 << 20) {
            let params = json!({ "upload_id": id, "offset": hasher.bytes(), "base64": Base64(chunk.to_vec()) });
            self.answer("file.chunk", &params)?;
            hasher.update(chunk);
        }
        let finish = json!({ "upload_id": id, "hash": hasher.finish().0 });
        self.answer("file.finish", &self.here(finish)).map(|mut answer| answer["file"].take())
    }

    #[track_caller]
    pub(crate) fn add(&self, name: &str, bytes: &[u8]) -> Value {
        self.try_to_add(&id(), name, bytes).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn files(&self) -> Vec<Value> {
        self.ok("list_files", self.here(json!({})))["files"].as_array().unwrap().clone()
    }

    /// Reads a file in pieces.
    pub(crate) fn read(&self, file: &Value) -> Result<Vec<u8>, Value> {
        let mut all = Vec::new();
        loop {
            let params =
                json!({ "file_id": file["file_id"], "offset": all.len(), "length": 1 << 20 });
            let piece = self.answer("read_file", &self.here(params))?;
            let bytes: Base64 = serde_json::from_value(piece["base64"].clone()).unwrap();
            all.extend(bytes.0);
            if piece["eof"] == true {
                return Ok(all);
            }
        }
    }

    fn below(&self, name: &str) -> PathBuf {
        home(self.folder.path()).store.join("files").join(name)
    }

    /// The names of what uploads have on the disk.
    pub(crate) fn incoming(&self) -> Vec<String> {
        names(&self.below("incoming"))
    }

    /// The hashes of the contents on the disk.
    pub(crate) fn contents(&self) -> BTreeSet<String> {
        let folders = names(&self.below(""));
        let folders = folders.iter().filter(|name| name.len() == 2);
        folders
            .flat_map(|folder| names(&self.below(folder)))
            .map(|hex| format!("blake3:{hex}"))
            .collect()
    }

    pub(crate) fn content_path(&self, file: &Value) -> PathBuf {
        let hash = file["hash"].as_str().unwrap().trim_start_matches("blake3:").to_owned();
        self.below(hash.get(..2).unwrap()).join(hash)
    }

    /// Every file that is listed is there whole.
    #[track_caller]
    pub(crate) fn is_sound(&self) {
        for file in self.files() {
            let bytes = self.read(&file).unwrap_or_else(|error| panic!("{error}"));
            let mut hasher = ContentHasher::default();
            hasher.update(&bytes);
            assert_eq!(file["hash"], hasher.finish().0.to_string());
            assert_eq!(file["size"], bytes.len());
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.service.store.close();
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

pub(crate) fn id() -> String {
    Uuid::new_v4().to_string()
}

/// Bytes of which no two pieces are the same.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 7_u64;
    std::iter::repeat_with(|| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
    .take(length)
    .collect()
}
