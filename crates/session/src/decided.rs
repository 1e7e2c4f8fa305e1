//! Where the decisions of a path were made, as a run folder keeps them: each place once, and its number for each decision.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wryneck_exec::prefix::{self, Prefix};
use wryneck_exec::{CodePos, Image, places};
use wryneck_report::Place;

/// The decisions of a path that left a test or a finding, encoded.
pub struct Decisions {
    pub prefix: Vec<u8>,
    /// [`Places`] as JSON.
    pub places: String,
}

/// The places of a path's decisions, and for each decision the number of its place.
#[derive(Default, Serialize, Deserialize)]
pub struct Places(Vec<Row>, Vec<u32>);

/// A place's function, file, line and column. Without their names, which would be half of the text.
type Row = (String, String, u32, u32);

impl Decisions {
    pub fn of(image: &Image, path: &Prefix) -> Decisions {
        let (mut rows, mut numbers): (Vec<Row>, FxHashMap<CodePos, u32>) = Default::default();
        let mut of: Vec<u32> = path
            .backwards()
            .map(|made| {
                *numbers.entry(made.pos).or_insert_with(|| {
                    rows.push(row(image, made.pos));
                    rows.len() as u32 - 1
                })
            })
            .collect();
        of.reverse();
        let places = serde_json::to_string(&Places(rows, of)).expect("places and numbers have a form in JSON");
        Decisions { prefix: prefix::encode(&path.to_vec()), places }
    }
}

fn row(image: &Image, pos: CodePos) -> Row {
    let source = places::source(image, pos).into_iter().next().unwrap_or_default();
    (source.function, source.file, source.line, source.column)
}

impl Places {
    /// Reads them; none where a folder is damaged, because only a tree without lines comes of that.
    pub fn read(text: &str) -> Places {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The place of a decision, by its number on the path.
    pub fn at(&self, decision: usize) -> Option<Place> {
        let (function, file, line, column) = self.0.get(*self.1.get(decision)? as usize)?.clone();
        Some(Place { function, file, line, column })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_places_are_none() {
        let text = r#"[[["f","a.c",7,1]],[0,1]]"#;
        let places = Places::read(text);
        assert_eq!(places.at(0).map(|place| place.line), Some(7));
        assert!(places.at(1).is_none() && places.at(2).is_none());
        assert!(Places::read(&text[1..]).at(0).is_none());
    }
}
