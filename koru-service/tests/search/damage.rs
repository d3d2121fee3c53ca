//! An index that is damaged, old or missing is made again, and never stands in the way of a write.

use serde_json::json;

use super::equality::check;
use super::support::Fixture;

#[test]
fn a_damaged_index_never_blocks_a_write_and_is_made_again() {
    for table in ["search_body_data", "search_head_data", "search_body_docsize"] {
        let koru = Fixture::filled();
        koru.database()
            .execute(
                &format!(
                    "UPDATE {table} SET {} = x'0badc0de'",
                    if table.ends_with("data") { "block" } else { "sz" }
                ),
                (),
            )
            .unwrap();
        // Everything that is written goes through.
        let doc = koru.page("After the damage", &["paragraph aftermath"]);
        koru.change(&doc, "aftermath", "replace_text", &json!({ "text": "aftermath indeed" }));
        koru.change(&doc, "After", "replace_text", &json!({ "text": "Later" }));
        let _ = koru.search("common aftermath");
        koru.until_indexed();
        assert_eq!(koru.titles("indeed"), ["Later"], "{table}");
        assert_eq!(koru.titles("common").len(), 20, "{table}");
        if table.ends_with("data") {
            check(&koru);
        }
    }
}

#[test]
fn tables_without_their_settings_are_made_again() {
    for table in ["search_body_config", "search_head_config"] {
        let mut koru = Fixture::filled();
        koru.again(|database| {
            database.execute(&format!("DELETE FROM {table}"), ()).unwrap();
        });
        let doc = koru.page("After the damage", &["paragraph aftermath"]);
        koru.change(&doc, "aftermath", "replace_text", &json!({ "text": "aftermath indeed" }));
        let _ = koru.search("common");
        koru.until_indexed();
        assert_eq!(koru.titles("common").len(), 20, "{table}");
        check(&koru);
    }
}

#[test]
fn damage_that_a_search_meets_is_mended_not_hidden() {
    let koru = Fixture::filled();
    // The pages, and not the list of them, which would be a valid empty one.
    koru.database()
        .execute("UPDATE search_body_data SET block = x'0badc0de' WHERE id > 100", ())
        .unwrap();
    let found = koru.search("common");
    assert!(
        found["hits"] != json!([]) || found["updating_workspaces"] == json!([koru.workspace]),
        "{found}"
    );
    koru.until_indexed();
    assert_eq!(koru.titles("common").len(), 20);
    check(&koru);
}

#[test]
fn another_version_is_made_anew_beside_the_work() {
    let mut koru = Fixture::filled();
    koru.again(|database| {
        database
            .execute("UPDATE setting SET value = '0.0' WHERE key = 'search.version'", ())
            .unwrap();
    });
    koru.until_indexed();
    check(&koru);
    // A store of an earlier release has no index at all.
    koru.again(|database| {
        database
            .execute_batch(
                "DELETE FROM search_node; DELETE FROM search_more;
                 INSERT INTO search_head (search_head) VALUES ('delete-all');
                 INSERT INTO search_body (search_body) VALUES ('delete-all');
                 UPDATE tag_use SET n = 0; UPDATE attribute_use SET n = 0;
                 UPDATE document SET unindexed = 1;",
            )
            .unwrap();
    });
    // Edits go on meanwhile.
    let doc = koru.page("Meanwhile", &["paragraph between"]);
    koru.change(&doc, "between", "replace_text", &json!({ "text": "between two" }));
    koru.until_indexed();
    assert_eq!(koru.titles("\"between two\""), ["Meanwhile"]);
    assert_eq!(koru.titles("common").len(), 20);
    check(&koru);
}

#[test]
fn a_large_document_is_indexed_in_several_transactions() {
    let mut koru = Fixture::new();
    let texts: Vec<String> = (0..1_700).map(|node| format!("paragraph number {node}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let doc = koru.page("Large", &texts);
    koru.again(|database| {
        database.execute("UPDATE document SET unindexed = 1", ()).unwrap();
        database.execute("UPDATE search_node SET text = 'stale'", ()).unwrap();
    });
    koru.change(&doc, "number 1600", "remove", &json!({}));
    koru.change(&doc, "number 1601", "replace_text", &json!({ "text": "changed" }));
    koru.until_indexed();
    assert_eq!(koru.titles("changed"), ["Large"]);
    check(&koru);
}

#[test]
fn a_rename_that_many_texts_show_reaches_them_all() {
    let koru = Fixture::new();
    let ada = koru.page("Ada", &[]);
    let texts: Vec<String> =
        (0..620).map(|node| format!("paragraph see [[document:{}]] {node}", ada.id)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let first = koru.page("First", &texts);
    koru.page("Second", &texts[..10]);
    // Again and again, while the worker writes the one before.
    for name in ["Augusta", "King", "Byron", "Lovelace"] {
        koru.change(&ada, "", "replace_text", &json!({ "text": name }));
    }
    koru.until_indexed();
    check(&koru);
    let found = koru.search_with(&json!({ "query": "\"see lovelace\"", "document_id": first.id }));
    assert_eq!(found["hits"].as_array().unwrap().len(), 20);
    assert_eq!(koru.titles("\"see ada\""), Vec::<String>::new());
}

/// The numbers of rows that are gone from the end of a table are not given out again, nor taken for lost for ever.
#[test]
fn rows_lost_at_the_end_of_a_table_are_mended_once() {
    let mut koru = Fixture::filled();
    koru.again(|database| {
        for table in ["search_head_docsize", "search_body_docsize"] {
            database.execute(&format!("DELETE FROM {table} WHERE id > 700"), ()).unwrap();
        }
        database.execute("UPDATE document SET unindexed = 1", ()).unwrap();
    });
    koru.until_indexed();
    assert_eq!(koru.titles("common").len(), 20);
    check(&koru);
}
