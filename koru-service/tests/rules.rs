//! What workspaces hold: the order of documents, the trash, attributes and tags.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use koru_model::ids::{DocumentId, WorkspaceId};
use koru_model::value::ValueKind;
use koru_service::errors::ServiceError;
use koru_service::store::listing::{self, Listed};
use koru_service::store::placing::{self, Place};
use koru_service::store::workspaces::{self, WorkspaceKey};
use koru_service::store::{Stateless, Store, actors, attributes, tags};
use rusqlite::Connection;
use uuid::Uuid;

struct Fixture {
    _folder: tempfile::TempDir,
    store: Store<Stateless>,
    workspace: WorkspaceKey,
}

fn id(number: u128) -> DocumentId {
    DocumentId(Uuid::from_u128(number))
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("koru.sqlite"), Stateless).unwrap();
        let workspace = store
            .write(|tx| workspaces::create(tx.connection, WorkspaceId(Uuid::max()), "Test", 0))
            .unwrap();
        Self { _folder: folder, store, workspace }
    }

    fn write<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&Connection, WorkspaceKey) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let workspace = self.workspace;
        self.store.write(move |tx| job(tx.connection, workspace))
    }

    /// Documents 1 to 6: 1 above 2 and 3, 3 above 4; then 5 and 6 beside 1.
    fn with_documents() -> Self {
        let fixture = Self::new();
        for (number, parent) in [(1, 0), (2, 1), (3, 1), (4, 3), (5, 0), (6, 0)] {
            fixture.add(number, parent);
        }
        fixture
    }

    fn add(&self, number: u128, parent: u128) {
        self.write(move |connection, workspace| {
            let parent = (parent > 0)
                .then(|| placing::find(connection, workspace, id(parent)))
                .transpose()?;
            let position = placing::last_position(connection, workspace, parent)?;
            connection.execute(
                "INSERT INTO document (id, workspace, parent, position, kind, root, title, nodes,
                   created_at, modified_at, nonce, head, chain, version)
                 VALUES (?1, ?2, ?3, ?4, 'page', ?1, ?5, 1, 0, 0, x'00', 1, x'00', 1)",
                (
                    id(number).as_bytes(),
                    workspace.0,
                    parent.map(|key| key.0),
                    position,
                    number.to_string(),
                ),
            )?;
            Ok(())
        })
        .unwrap();
    }

    fn place(&self, number: u128, parent: u128, place: Place) -> Result<(), ServiceError> {
        let parent = (parent > 0).then(|| id(parent));
        self.write(move |connection, workspace| {
            placing::move_to(connection, workspace, id(number), parent, place)
        })
    }

    fn trash(&self, number: u128, now: i64) {
        self.write(move |connection, workspace| {
            let actor = actors::find_or_create(connection, &format!("client {now}"))?;
            placing::trash(connection, workspace, id(number), actor, now)
        })
        .unwrap();
    }

    fn untrash(&self, number: u128) {
        self.write(move |connection, workspace| {
            placing::untrash(connection, workspace, id(number))
        })
        .unwrap();
    }

    fn tree(&self) -> Vec<Listed> {
        self.store.read(|connection| listing::tree(connection, self.workspace)).unwrap()
    }

    /// `title(parent.ordinal)` of each document.
    fn order(&self) -> String {
        let shown = self.tree().into_iter().map(|document| {
            let parent = document.parent.map_or(0, |parent| parent.0.as_u128());
            let mark = if document.trashed_at.is_some() { "!" } else { "" };
            format!("{}({parent}.{}){mark}", document.title, document.ordinal)
        });
        shown.collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn documents_are_listed_in_tree_order_with_their_place() {
    let fixture = Fixture::with_documents();
    assert_eq!(fixture.order(), "1(0.0) 2(1.0) 3(1.1) 4(3.0) 5(0.1) 6(0.2)");
}

#[test]
fn a_listing_continues_behind_a_document() {
    let fixture = Fixture::with_documents();
    let page = |size, after: Option<u128>| {
        let after = after.map(id);
        fixture.store.read(|c| listing::page(c, fixture.workspace, size, after)).unwrap()
    };
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let found = page(Some(4), after);
        seen.extend(found.documents.into_iter().map(|document| document.title));
        after = found.next_after_document_id.map(|id| id.0.as_u128());
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(page(Some(6), None).next_after_document_id, None);
    assert_eq!(page(None, Some(4)).documents.len(), 2);
    let unknown = fixture.store.read(|c| listing::page(c, fixture.workspace, None, Some(id(99))));
    assert!(matches!(unknown, Err(ServiceError::NotFound { .. })));
}

#[test]
fn a_document_moves_with_all_under_it() {
    let fixture = Fixture::with_documents();
    fixture.place(3, 0, Place::First).unwrap();
    assert_eq!(fixture.order(), "3(0.0) 4(3.0) 1(0.1) 2(1.0) 5(0.2) 6(0.3)");
    fixture.place(3, 0, Place::After(id(5))).unwrap();
    assert_eq!(fixture.order(), "1(0.0) 2(1.0) 5(0.1) 3(0.2) 4(3.0) 6(0.3)");
    fixture.place(6, 1, Place::Last).unwrap();
    assert_eq!(fixture.order(), "1(0.0) 2(1.0) 6(1.1) 5(0.1) 3(0.2) 4(3.0)");
}

#[test]
fn a_document_cannot_stand_under_itself_or_behind_a_stranger() {
    let fixture = Fixture::with_documents();
    let before = fixture.order();
    for parent in [1, 3, 4] {
        let refused = fixture.place(1, parent, Place::First);
        assert!(matches!(refused, Err(ServiceError::Invalid(_))), "{parent}");
    }
    let refused = fixture.place(5, 0, Place::After(id(5)));
    assert!(matches!(refused, Err(ServiceError::Invalid(_))));
    let refused = fixture.place(5, 0, Place::After(id(4)));
    assert!(
        matches!(refused, Err(ServiceError::NotASibling { parent: Some(parent), .. }) if parent == id(3))
    );
    assert_eq!(fixture.order(), before);
}

#[test]
fn trash_covers_what_is_under_it_and_names_the_nearest_mark() {
    let fixture = Fixture::with_documents();
    fixture.trash(1, 1_000);
    fixture.trash(3, 2_000);
    assert_eq!(fixture.order(), "1(0.0)! 2(1.0)! 3(1.1)! 4(3.0)! 5(0.1) 6(0.2)");
    let by: Vec<_> =
        fixture.tree().into_iter().filter_map(|document| document.trashed_by).collect();
    assert_eq!(by, ["client 1000", "client 1000", "client 2000", "client 2000"]);
    let refused = fixture.place(4, 0, Place::First);
    assert!(matches!(refused, Err(ServiceError::DocumentTrashed(trashed)) if trashed == id(4)));
    let refused = fixture.place(5, 4, Place::First);
    assert!(matches!(refused, Err(ServiceError::DocumentTrashed(trashed)) if trashed == id(4)));
    fixture.untrash(1);
    assert_eq!(fixture.order(), "1(0.0) 2(1.0) 3(1.1)! 4(3.0)! 5(0.1) 6(0.2)");
    fixture.untrash(3);
    assert_eq!(fixture.order(), "1(0.0) 2(1.0) 3(1.1) 4(3.0) 5(0.1) 6(0.2)");
}

#[test]
fn a_document_restored_from_under_a_trashed_parent_goes_to_the_root() {
    let fixture = Fixture::with_documents();
    fixture.trash(1, 1_000);
    fixture.untrash(3);
    assert_eq!(fixture.order(), "1(0.0)! 2(1.0)! 5(0.1) 6(0.2) 3(0.3) 4(3.0)");
}

#[test]
fn attributes_are_counted_outside_the_trash_and_kept_while_used() {
    let fixture = Fixture::with_documents();
    let define = |key: &'static str, kinds: &'static [ValueKind], options: Option<Vec<String>>| {
        fixture.write(move |connection, workspace| {
            attributes::define(connection, workspace, key, None, kinds, options.as_deref())
        })
    };
    define("effort", &[ValueKind::Number], None).unwrap();
    define("effort", &[ValueKind::Number, ValueKind::Text], None).unwrap();
    define("state", &[ValueKind::Text], Some(vec!["open".into(), "shut".into()])).unwrap();
    for (key, kinds, options) in [
        ("koru.mine", &[ValueKind::Text] as &[_], None),
        ("", &[ValueKind::Text], None),
        ("with space", &[ValueKind::Text], None),
        ("none", &[], None),
        ("twice", &[ValueKind::Text, ValueKind::Text], None),
        ("options", &[ValueKind::Number], Some(vec!["1".into()])),
        ("options", &[ValueKind::Text], Some(vec![])),
        ("options", &[ValueKind::Text], Some(vec!["a".into(), "a".into()])),
    ] {
        let refused = define(key, kinds, options);
        assert!(matches!(refused, Err(ServiceError::Invalid(_))), "{key}");
    }
    for number in [2, 5] {
        fixture
            .write(move |connection, workspace| {
                let document = placing::find(connection, workspace, id(number))?;
                let sql =
                    "INSERT INTO attribute_use (key, document, node) VALUES ('effort', ?1, x'01')";
                Ok(connection.execute(sql, [document.0])?)
            })
            .unwrap();
    }
    fixture.trash(1, 1_000);
    let listed = fixture.store.read(|c| attributes::list(c, fixture.workspace)).unwrap();
    let shown: Vec<_> = listed.iter().map(|a| (a.definition.key.as_str(), a.uses)).collect();
    let expected = [
        ("effort", 1),
        ("koru.color", 0),
        ("koru.due", 0),
        ("koru.list", 0),
        ("koru.priority", 0),
        ("state", 0),
    ];
    assert_eq!(shown, expected);
    let json = serde_json::to_value(&listed[0]).unwrap();
    let expected = serde_json::json!({
        "key": "effort", "label": "effort", "kinds": ["number", "text"], "built_in": false, "uses": 1
    });
    assert_eq!(json, expected);

    let remove = |key: &'static str| fixture.write(move |c, w| attributes::remove(c, w, key));
    assert!(matches!(remove("effort"), Err(ServiceError::AttributeUsed { uses: 2, .. })));
    assert!(matches!(remove("koru.due"), Err(ServiceError::Invalid(_))));
    assert!(matches!(remove("other"), Err(ServiceError::UnknownAttribute { .. })));
    remove("state").unwrap();
}

#[test]
fn tags_are_made_with_those_above_them_and_told_apart_without_case() {
    let fixture = Fixture::with_documents();
    let make = |name: &'static str| {
        fixture.write(move |c, w| tags::find_or_create(c, w, name, Uuid::now_v7)).unwrap().id
    };
    let calls = make("Family/calls");
    assert_eq!(make("family/CALLS"), calls);
    let letters = make("family/Letters");
    let found = fixture.store.read(|c| tags::find(c, fixture.workspace, "FAMILY/letters")).unwrap();
    assert_eq!(found, Some(letters));
    for number in [2, 5] {
        fixture
            .write(move |connection, workspace| {
                let document = placing::find(connection, workspace, id(number))?;
                let sql = "INSERT INTO tag_use (tag, document, node) VALUES (?1, ?2, x'01')";
                Ok(connection.execute(sql, (calls.as_bytes(), document.0))?)
            })
            .unwrap();
    }
    fixture.trash(1, 1_000);
    let listed = fixture.store.read(|c| tags::list(c, fixture.workspace)).unwrap();
    let family = listed[0].tag_id;
    let shown: Vec<_> = listed.into_iter().map(|tag| (tag.name, tag.parent, tag.uses)).collect();
    let expected = [
        ("Family".into(), None, 0),
        ("Family/calls".into(), Some(family), 1),
        ("Family/Letters".into(), Some(family), 0),
    ];
    assert_eq!(shown, expected);
}
