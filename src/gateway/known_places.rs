//! The places where a service is read again after a long time: those where someone who may talk has
//! spoken. Others could push them out of a list that has an end.

use serde::{Deserialize, Serialize};

/// So many places are remembered; the oldest ones are forgotten.
const MAX_PLACES: usize = 50;

/// Places, the newest last.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, bound(deserialize = "T: Deserialize<'de>"))]
pub struct KnownPlaces<T> {
    #[serde(alias = "channels", alias = "places")]
    admitted: Vec<T>,
}

impl<T> Default for KnownPlaces<T> {
    fn default() -> KnownPlaces<T> {
        KnownPlaces { admitted: Vec::new() }
    }
}

impl<T: PartialEq> KnownPlaces<T> {
    /// Someone who may talk has spoken there; whether the place is new.
    pub fn admit(&mut self, place: T) -> bool {
        let known = self.admitted.iter().position(|known| *known == place);
        known.into_iter().for_each(|at| drop(self.admitted.remove(at)));
        self.admitted.push(place);
        if self.admitted.len() > MAX_PLACES {
            self.admitted.remove(0);
        }
        known.is_none()
    }

    /// The places to read.
    pub fn admitted(&self) -> &[T] {
        &self.admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_places_are_forgotten() {
        let mut places = KnownPlaces::default();
        for place in 0..60 {
            assert!(places.admit(place));
        }
        assert!(!places.admit(20), "it is known");
        let known = places.admitted();
        assert_eq!((known.len(), known[0], known[MAX_PLACES - 1]), (MAX_PLACES, 10, 20));
    }

    #[test]
    fn what_an_older_version_wrote_is_read() {
        for old in [r#"{"channels":[1,2]}"#, r#"{"places":[1,2]}"#] {
            let places: KnownPlaces<u8> = serde_json::from_str(old).unwrap();
            assert_eq!(places.admitted(), [1, 2]);
        }
    }
}
