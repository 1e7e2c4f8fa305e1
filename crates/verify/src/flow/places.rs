//! Abstract memory locations: an object with a byte offset, or somewhere in the object. Contents are distinguished by cells of 8 bytes.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::ObjectId;

/// A place by its number.
pub type Loc = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    pub object: ObjectId,
    /// In bytes; `None`: somewhere.
    pub offset: Option<u32>,
}

#[derive(Default)]
pub struct Places {
    all: Vec<Place>,
    numbers: FxHashMap<Place, Loc>,
    /// By object: how many places of it are told apart.
    counts: FxHashMap<ObjectId, u32>,
}

/// So many places of an object are told apart; more are somewhere.
const MOST: u32 = 48;

impl Places {
    /// The number of byte `offset` of an object of `size` bytes (0: bytes are not told apart). What lies outside of the object, or would
    /// be one place too many, is somewhere in it.
    pub fn at(&mut self, object: ObjectId, offset: u64, size: u64) -> Loc {
        let offset = u32::try_from(offset).ok().filter(|offset| u64::from(*offset) < size);
        let place = Place { object, offset };
        if let Some(loc) = self.numbers.get(&place) {
            return *loc;
        }
        if offset.is_some() {
            let count = self.counts.entry(object).or_default();
            if *count >= MOST {
                return self.somewhere(object);
            }
            *count += 1;
        }
        self.number(place)
    }

    /// The number of some byte of an object.
    pub fn somewhere(&mut self, object: ObjectId) -> Loc {
        self.number(Place { object, offset: None })
    }

    fn number(&mut self, place: Place) -> Loc {
        *self.numbers.entry(place).or_insert_with(|| {
            self.all.push(place);
            self.all.len() as Loc - 1
        })
    }

    /// By number.
    pub fn all(&self) -> &[Place] {
        &self.all
    }

    pub fn place(&self, loc: Loc) -> Place {
        self.all[loc as usize]
    }
}
