//! Abstract memory locations: an object with a byte offset, or somewhere in the object. Contents are distinguished by cells of 8 bytes.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::ObjectId;

/// A place by its number.
pub type Loc = u32;

/// What a value holds of an object's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Form {
    /// An address in the object.
    Address,
    /// Some of the bits of such an address, or a number computed from them.
    Part,
    /// The distance between an address in the object and one in this other object ([`ANY`]: in any other).
    Distance(ObjectId),
}

/// The other end of a distance that too many objects may be at.
pub const ANY: ObjectId = ObjectId(u32::MAX);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    pub object: ObjectId,
    /// In bytes; `None`: somewhere.
    pub offset: Option<u32>,
    pub form: Form,
}

impl Place {
    /// Whether a value may be used as an address of the object: a part of an address may be put together with others.
    pub fn is_address(self) -> bool {
        !matches!(self.form, Form::Distance(_))
    }
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
        let place = Place { object, offset, form: Form::Address };
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
        self.in_form(object, Form::Address)
    }

    /// The number of what a value holds of the address of some byte of an object.
    pub fn in_form(&mut self, object: ObjectId, form: Form) -> Loc {
        self.number(Place { object, offset: None, form })
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
