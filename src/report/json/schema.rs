//! The published schema and the document agree: every value is as the schema says, and every key
//! is described there and in `docs/format.md`.

use serde_json::Value;

const SCHEMA: &str = include_str!("../../../docs/offbench.schema.json");
const MANUAL: &str = include_str!("../../../docs/format.md");

/// The keywords of JSON Schema 2020-12 that the schema uses; any other fails the test.
const KNOWN: [&str; 16] = [
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
];

struct Checker {
    root: Value,
    faults: Vec<String>,
}

/// Checks a document; the result is every fault with its place.
pub(super) fn faults(document: &Value) -> Vec<String> {
    let root: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut checker = Checker {
        root: root.clone(),
        faults: Vec::new(),
    };
    checker.check(document, &root, "");
    checker.faults
}

impl Checker {
    fn fault(&mut self, place: &str, what: impl std::fmt::Display) {
        self.faults.push(format!("{place}: {what}"));
    }

    fn check(&mut self, value: &Value, schema: &Value, place: &str) {
        if let Some(target) = schema["$ref"].as_str() {
            let target = self.root.pointer(target.trim_start_matches('#')).cloned();
            return self.check(value, &target.unwrap(), place);
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            // Only used for "this or null".
            if !value.is_null() {
                self.check(value, &choices[0].clone(), place);
            }
            return;
        }
        for keyword in schema.as_object().unwrap().keys() {
            assert!(KNOWN.contains(&keyword.as_str()), "{keyword}");
        }
        self.check_type(value, schema, place);
        match value {
            Value::Object(_) => self.check_object(value, schema, place),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.check(item, &schema["items"], &format!("{place}/{index}"));
                }
                let count = items.len() as u64;
                let least = schema["minItems"].as_u64().unwrap_or(0);
                let most = schema["maxItems"].as_u64().unwrap_or(u64::MAX);
                if count < least || count > most {
                    self.fault(place, format_args!("{count} items"));
                }
            }
            _ => {}
        }
    }

    fn check_type(&mut self, value: &Value, schema: &Value, place: &str) {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let fits = |wanted: &str| wanted == kind || (wanted == "number" && kind == "integer");
        let ok = match &schema["type"] {
            Value::String(wanted) => fits(wanted),
            Value::Array(all) => all.iter().any(|wanted| fits(wanted.as_str().unwrap())),
            _ => true,
        };
        let listed = schema["enum"]
            .as_array()
            .is_none_or(|all| all.contains(value));
        let constant = schema.get("const").is_none_or(|wanted| wanted == value);
        let least = schema["minimum"].as_f64().unwrap_or(f64::NEG_INFINITY);
        let most = schema["maximum"].as_f64().unwrap_or(f64::INFINITY);
        let inside = value
            .as_f64()
            .is_none_or(|number| (least..=most).contains(&number));
        if !(ok && listed && constant && inside) {
            self.fault(place, format_args!("{value} is not {schema}"));
        }
    }

    fn check_object(&mut self, value: &Value, schema: &Value, place: &str) {
        for key in schema["required"].as_array().into_iter().flatten() {
            if value.get(key.as_str().unwrap()).is_none() {
                self.fault(place, format_args!("{key} is missing"));
            }
        }
        for (key, item) in value.as_object().unwrap() {
            let place = format!("{place}/{key}");
            let others = &schema["additionalProperties"];
            let known = schema["properties"].get(key);
            let known = known.or_else(|| others.as_object().map(|_| others));
            if let Some(schema) = known {
                self.check(item, &schema.clone(), &place);
            } else if others != &Value::Bool(true) {
                // The schema lets newer programs add keys; this one has to describe its own.
                self.fault(&place, "is not in the schema");
            }
        }
    }
}

fn keys(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                found.extend(properties.keys().cloned());
            }
            map.values().for_each(|value| keys(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_schema_is_in_the_manual() {
    let mut all = Vec::new();
    keys(&serde_json::from_str(SCHEMA).unwrap(), &mut all);
    for key in all {
        assert!(
            MANUAL.contains(&format!("`{key}`")),
            "docs/format.md lacks `{key}`"
        );
    }
}

#[test]
fn every_field_and_metric_is_in_the_schema() {
    let mut all = Vec::new();
    keys(&serde_json::from_str(SCHEMA).unwrap(), &mut all);
    let fields = crate::sample::field::FIELDS.iter().map(|field| field.key);
    for key in fields.filter(|key| *key != "outcome") {
        assert!(all.iter().any(|known| known == key), "{key}");
    }
    let metrics = crate::metric::METRICS
        .iter()
        .filter(|one| one.id != crate::metric::WALL_CPU);
    for metric in metrics {
        assert!(
            all.iter().any(|known| known == metric.key),
            "{}",
            metric.key
        );
    }
}
