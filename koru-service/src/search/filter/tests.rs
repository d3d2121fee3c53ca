//! Every operator on every kind of value, and every fault of a filter.

use jiff::tz::{TimeZone, TimeZoneDatabase};
use koru_model::comparable::Comparable;
use koru_model::protocol::error::ToolError;
use koru_model::protocol::tools::AttributeFilter;
use koru_model::value::{Value, ValueKind};
use serde_json::{Value as Json, json};

use super::condition::{Condition, Faults, Known, Test, condition};
use super::{Admitted, grouped, refusal};
use crate::search::memory::NodeKey;

fn zone(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled().get(name).unwrap()
}

fn kinds(names: &str) -> Vec<ValueKind> {
    names.split(' ').map(|name| ValueKind::from_name(name).unwrap()).collect()
}

fn filter(op: &str, operands: &Json) -> AttributeFilter {
    let mut filter = json!({ "key": "k", "op": op });
    for (name, value) in operands.as_object().unwrap() {
        filter[name] = value.clone();
    }
    serde_json::from_str(&filter.to_string()).unwrap()
}

fn check(takes: &str, filter: &AttributeFilter, zone: &TimeZone) -> Result<Condition, Faults> {
    let known = Known::from([("k".to_owned(), kinds(takes))]);
    let mut faults = Faults::default();
    match condition(0, filter, &known, zone, &mut faults) {
        Some(condition) => Ok(condition),
        None => Err(faults),
    }
}

/// Which of the values, given as `kind:text`, pass the filter.
fn passing<'a>(
    takes: &str,
    op: &str,
    operands: &Json,
    zone: &TimeZone,
    values: &[&'a str],
) -> Vec<&'a str> {
    let condition = check(takes, &filter(op, operands), zone).unwrap();
    let Test::In(ranges) = condition.test else { panic!("{op} has ranges") };
    let passes = |value: &&&str| {
        let (kind, text) = value.split_once(':').unwrap();
        let value = Value { kind: ValueKind::from_name(kind).unwrap(), value: text.into() };
        assert_eq!(value.check(), Ok(()), "{value:?}");
        let comparable = Comparable::of(&value).unwrap();
        ranges.iter().any(|(kind, range)| *kind == value.kind && range.holds(&comparable))
    };
    values.iter().filter(passes).copied().collect()
}

const NUMBERS: &[&str] = &[
    "number:-9007199254740993",
    "number:-9007199254740992",
    "number:-0",
    "number:1e-400",
    "number:1.0",
    "number:9007199254740992",
    "number:9007199254740993",
    "number:9007199254740994",
];

#[test]
fn numbers_are_compared_by_all_digits() {
    for (op, operands, range) in [
        ("is", json!({ "numeric_values": [0] }), 2..3),
        ("is", json!({ "values": ["-0.0"] }), 2..3),
        ("is", json!({ "values": ["10e-1"] }), 4..5),
        ("before", json!({ "numeric_values": [0] }), 0..2),
        ("after", json!({ "numeric_values": [0] }), 3..8),
        ("before", json!({ "values": ["-9007199254740992"] }), 0..1),
        ("between", json!({ "numeric_values": [0, 1] }), 2..5),
        ("between", json!({ "values": ["0"], "numeric_values": [1] }), 2..5),
        ("between", json!({ "numeric_values": [1, 1] }), 4..5),
    ] {
        let found = passing("number", op, &operands, &TimeZone::UTC, NUMBERS);
        assert_eq!(found, NUMBERS[range], "{op} {operands}");
    }
    // Digits beyond what a float holds must arrive as they were written.
    for (op, range) in [("is", 6..7), ("before", 0..6), ("after", 7..8)] {
        let text = format!(r#"{{"key":"k","op":"{op}","numeric_values":[9007199254740993]}}"#);
        let filter: AttributeFilter = serde_json::from_str(&text).unwrap();
        let Test::In(ranges) = check("number", &filter, &TimeZone::UTC).unwrap().test else {
            panic!("{op} has ranges")
        };
        let holds = |text: &&&str| {
            let value = text.split_once(':').unwrap().1.to_owned();
            let value = Comparable::of(&Value { kind: ValueKind::Number, value }).unwrap();
            ranges.iter().any(|(_, range)| range.holds(&value))
        };
        let found: Vec<_> = NUMBERS.iter().filter(holds).copied().collect();
        assert_eq!(found, NUMBERS[range], "{op}");
    }
}

#[test]
fn texts_urls_and_bools_are_equal_or_not() {
    let values = [
        "text:Äpfel",
        "text:a\u{308}PFEL",
        "text:Apfel",
        "text:true",
        "url:http://x.y/A",
        "bool:true",
        "bool:false",
    ];
    for (takes, op, operands, passes) in [
        ("text url bool", "is", json!({ "values": ["ÄPFEL"] }), &values[0..2]),
        ("text url bool", "is", json!({ "values": ["true"] }), &[values[3], values[5]]),
        ("text url bool", "is", json!({ "values": ["http://X.Y/a"] }), &values[4..5]),
        ("bool", "is", json!({ "values": ["false"] }), &values[6..7]),
        ("text", "one_of", json!({ "values": ["apfel", "nothing", "TRUE"] }), &values[2..4]),
        ("text", "is", json!({ "values": ["true"], "kinds": ["bool"] }), &values[5..6]),
    ] {
        let found = passing(takes, op, &operands, &TimeZone::UTC, &values);
        assert_eq!(found, passes, "{takes} {op} {operands}");
    }
}

const TIMES: &[&str] = &[
    "date:2026-03-28",
    "date:2026-03-29",
    "date:2026-03-30",
    // In Berlin: 28 March, 23:59:59.999999999; 29 March, 0:00, 3:30, 23:59:59.999999999; 30 March, 0:00.
    "datetime_zoned:2026-03-28T22:59:59.999999999Z",
    "datetime_zoned:2026-03-29T00:00:00+01:00[Europe/Berlin]",
    "datetime_zoned:2026-03-29T01:30:00Z",
    "datetime_zoned:2026-03-29T21:59:59.999999999Z",
    "datetime_zoned:2026-03-29T22:00:00Z",
    "datetime_floating:2026-03-28T23:59:59.999999999",
    "datetime_floating:2026-03-29T00:00:00",
    "datetime_floating:2026-03-29T03:30:00",
    "datetime_floating:2026-03-30T00:00:00",
];

/// As `TIMES` by place: the whole second day.
const DAY: &[usize] = &[1, 4, 5, 6, 9, 10];

#[test]
fn times_of_all_kinds_are_compared_with_one_another() {
    let all = "date datetime_zoned datetime_floating";
    let berlin = zone("Europe/Berlin");
    let one = |op: &'static str, value: &str| (op, json!({ "values": [value] }));
    let two = |from: &str, until: &str| ("between", json!({ "values": [from, until] }));
    for ((op, operands), passes) in [
        (one("is", "2026-03-29"), DAY),
        (one("before", "2026-03-29"), &[0, 3, 8]),
        (one("after", "2026-03-29"), &[2, 7, 11]),
        (two("2026-03-29", "2026-03-29"), DAY),
        (two("2026-03-29", "2026-03-30"), &[1, 2, 4, 5, 6, 7, 9, 10, 11]),
        // An instant: that of others, the time that a clock in Berlin shows, the day there.
        (one("is", "2026-03-29T01:30:00Z"), &[1, 5, 10]),
        (one("before", "2026-03-29T01:30:00Z"), &[0, 3, 4, 8, 9]),
        (one("after", "2026-03-29T01:30:00Z"), &[2, 6, 7, 11]),
        (one("is", "2026-03-28T22:59:59.999999999Z"), &[0, 3, 8]),
        // A time without zone: 2:30 is left out, the clock shows 3:30 then.
        (one("is", "2026-03-29T02:30:00"), &[1, 5]),
        (one("is", "2026-03-29T03:30:00"), &[1, 5, 10]),
        (one("after", "2026-03-29T02:30:00"), &[2, 6, 7, 10, 11]),
        (two("2026-03-29T03:30:00", "2026-03-29"), &[1, 5, 6, 10]),
        (two("2026-03-29", "2026-03-29T01:30:00Z"), &[1, 4, 5, 9, 10]),
    ] {
        let found = passing(all, op, &operands, &berlin, TIMES);
        let passes: Vec<&str> = passes.iter().map(|place| TIMES[*place]).collect();
        assert_eq!(found, passes, "{op} {operands}");
    }
    let found =
        passing(all, "is", &json!({ "values": ["2026-03-29"], "kinds": ["date"] }), &berlin, TIMES);
    assert_eq!(found, [TIMES[1]]);
}

#[test]
fn a_day_is_that_of_the_zone() {
    let at = [
        "datetime_zoned:2026-03-31T10:30:00Z",
        "datetime_zoned:2026-04-01T11:30:00Z",
        "date:2026-04-01",
    ];
    let operands = json!({ "values": ["2026-04-01"] });
    for (zone, passes) in [
        (TimeZone::fixed(jiff::tz::offset(14)), &[at[0], at[2]][..]),
        (TimeZone::fixed(jiff::tz::offset(-12)), &at[2..]),
        (zone("Asia/Kolkata"), &at[1..]),
        (TimeZone::UTC, &at[1..]),
    ] {
        assert_eq!(passing("date datetime_zoned", "is", &operands, &zone, &at), passes, "{zone:?}");
    }
}

#[test]
fn the_ends_of_time_are_like_other_days() {
    let values = [
        "date:0001-01-01",
        "date:9999-12-31",
        "datetime_zoned:0001-01-01T00:00:00+23:59",
        "datetime_zoned:9999-12-31T23:59:59.999999999-23:59",
        "datetime_floating:0001-01-01T00:00:00",
        "datetime_floating:9999-12-31T23:59:59.999999999",
    ];
    let zones = [
        TimeZone::fixed(jiff::tz::offset(14)),
        TimeZone::fixed(jiff::tz::offset(-12)),
        zone("Europe/Berlin"),
        TimeZone::UTC,
    ];
    let operands = [
        "0001-01-01",
        "9999-12-31",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00",
        "9999-12-31T23:59:59",
    ];
    for zone in &zones {
        for operand in operands {
            let all = |op: &str| {
                passing(
                    "date datetime_zoned datetime_floating",
                    op,
                    &json!({ "values": [operand] }),
                    zone,
                    &values,
                )
                .len()
            };
            assert_eq!(all("before") + all("is") + all("after"), values.len(), "{operand}");
        }
        let all = json!({ "values": ["0001-01-01", "9999-12-31"] });
        assert_eq!(passing("date datetime_floating", "between", &all, zone, &values).len(), 4);
    }
}

#[test]
fn every_fault_is_told_with_its_path() {
    let values = |values: &[&str]| json!({ "values": values });
    for (takes, op, operands, faults) in [
        ("text", "is", json!({}), &[("values", "one operand")][..]),
        ("text", "is", values(&["a", "b"]), &[("values", "one_of")]),
        ("text", "one_of", values(&[]), &[("values", "1 to 1,000")]),
        (
            "number",
            "one_of",
            json!({ "numeric_values": vec![1; 1_001] }),
            &[("numeric_values", "1001")],
        ),
        ("number", "between", json!({ "numeric_values": [1] }), &[("numeric_values", "two")]),
        (
            "number",
            "between",
            json!({ "numeric_values": [2, 1] }),
            &[("numeric_values", "lower one first")],
        ),
        (
            "date",
            "between",
            values(&["2026-12-25", "2026-12-24"]),
            &[("values", "lower one first")],
        ),
        (
            "datetime_zoned",
            "between",
            values(&["2026-12-25", "2026-12-24"]),
            &[("values", "lower one first")],
        ),
        (
            "date number",
            "between",
            json!({ "values": ["2026-12-25"], "numeric_values": [1] }),
            &[("values", "one kind")],
        ),
        ("text", "exists", values(&["a"]), &[("values", "no operands")]),
        ("text", "missing", json!({ "numeric_values": [1] }), &[("numeric_values", "no operands")]),
        ("text", "before", values(&["a"]), &[("op", "no order")]),
        ("bool url", "after", values(&["true"]), &[("op", "bool, url")]),
        (
            "date",
            "before",
            json!({ "values": ["2026-12-24"], "kinds": ["date", "text"] }),
            &[("kinds[1]", "text has no order")],
        ),
        (
            "date",
            "one_of",
            values(&["2026-12-24", "2026-02-29", "tomorrow", "2026-12-24T25:00:00Z"]),
            &[("values[1]", "no date"), ("values[2]", "no date"), ("values[3]", "does not exist")],
        ),
        (
            "number",
            "one_of",
            values(&["1", "one", "1e999"]),
            &[("values[1]", "no finite"), ("values[2]", "no finite")],
        ),
        ("bool", "is", values(&["True"]), &[("values[0]", "true or false")]),
        ("url", "is", values(&["x.y"]), &[("values[0]", "URL")]),
        ("text", "is", values(&["a\u{0}"]), &[("values[0]", "U+0000")]),
        ("text", "is", json!({ "numeric_values": [1] }), &[("numeric_values[0]", "use values")]),
        ("date number", "is", values(&["soon"]), &[("values[0]", "number")]),
        // Several faults at once.
        (
            "number",
            "between",
            json!({ "values": ["x", "y", "z"], "kinds": ["bool"] }),
            &[("values", "two"), ("kinds[0]", "no order")],
        ),
    ] {
        let found = check(takes, &filter(op, &operands), &TimeZone::UTC).unwrap_err();
        let paths: Vec<&str> = found.problems.iter().map(|problem| problem.path.as_str()).collect();
        let wanted: Vec<String> =
            faults.iter().map(|(path, _)| format!("attributes[0].{path}")).collect();
        assert_eq!(paths, wanted, "{takes} {op} {operands}: {found:?}");
        for (problem, (_, part)) in found.problems.iter().zip(faults) {
            assert!(problem.reason.contains(part), "{problem:?} says {part}");
        }
    }
    for (takes, op, operands) in [
        ("text number", "before", json!({ "values": ["1"] })),
        ("text", "is", json!({ "values": [""] })),
        ("text", "exists", json!({ "kinds": [] })),
        ("date", "between", values(&["2026-12-24", "2026-12-24"])),
        ("datetime_zoned", "between", values(&["2026-12-24", "2026-12-24T12:00:00Z"])),
        ("date", "is", json!({ "values": ["1"], "kinds": ["number"] })),
    ] {
        assert!(check(takes, &filter(op, &operands), &TimeZone::UTC).is_ok(), "{takes} {op}");
    }
}

#[test]
fn a_day_that_a_zone_left_out_is_in_order_and_empty() {
    let day = json!({ "values": ["2011-12-30", "2011-12-30"] });
    let values = ["datetime_zoned:2011-12-30T09:59:59Z", "datetime_zoned:2011-12-30T10:00:00Z"];
    let apia = zone("Pacific/Apia");
    assert_eq!(passing("datetime_zoned", "between", &day, &apia, &values), [""; 0]);
}

#[test]
fn an_unknown_key_is_told_with_what_is_known() {
    let known = Known::from([("koru.due".to_owned(), kinds("date"))]);
    let faults = |problem: bool| {
        let mut faults = Faults::default();
        for key in ["koru.duee", "zzz"] {
            faults.unknown.push(("attributes[0].key".into(), key.into()));
        }
        if problem {
            faults.add("tags[0]", "is wrong");
        }
        serde_json::to_value(ToolError::from(refusal(faults, &known).unwrap())).unwrap()
    };
    let error = faults(false);
    assert_eq!(error["code"], "unknown_attribute", "{error}");
    assert_eq!(error["details"]["known"], json!(["koru.due"]), "{error}");
    assert_eq!(error["details"]["nearest"], "koru.due", "{error}");
    assert_eq!(error["details"]["problems"].as_array().unwrap().len(), 2, "{error}");
    let error = faults(true);
    assert_eq!(error["code"], "invalid_request", "{error}");
    assert_eq!(error["details"]["problems"].as_array().unwrap().len(), 3, "{error}");
}

#[test]
fn nodes_are_grouped_by_document() {
    let found = [(3, 1), (1, 2), (3, 4), (1, 9)].map(|(document, key)| (document, NodeKey(key)));
    let admitted = grouped(&found);
    let of = |document| admitted.of(document).iter().map(|key| key.0).collect::<Vec<_>>();
    assert_eq!(
        [of(0), of(1), of(2), of(3), of(4)],
        [vec![], vec![2, 9], vec![], vec![1, 4], vec![]]
    );
    assert_eq!(admitted.nodes().len(), 4);
    assert_eq!(grouped(&[]).of(1), Admitted::default().nodes());
}
