//! The places where a service is read again after a long time. Only those count where someone who
//! may talk has spoken: others could push them out of a list that has an end.

use serde::{Deserialize, Serialize};

/// So many places are remembered; the oldest ones are forgotten.
const MOST: usize = 50;

/// Places, the newest last.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, bound(deserialize = "T: Deserialize<'de>"))]
pub struct KnownPlaces<T> {
    #[serde(alias = "channels", alias = "places")]
    admitted: Vec<T>,
    /// Whether one of those who spoke there may talk is not known yet.
    undecided: Vec<T>,
}

impl<T> Default for KnownPlaces<T> {
    fn default() -> KnownPlaces<T> {
        KnownPlaces { admitted: Vec::new(), undecided: Vec::new() }
    }
}

impl<T: PartialEq> KnownPlaces<T> {
    /// Something was said there.
    pub fn heard(&mut self, place: T) {
        let is_admitted = self.admitted.contains(&place);
        push(if is_admitted { &mut self.admitted } else { &mut self.undecided }, place);
    }

    /// Someone who may talk said it; whether that was news.
    pub fn admit(&mut self, is_it: impl Fn(&T) -> bool) -> bool {
        let Some(at) = self.undecided.iter().position(is_it) else { return false };
        push(&mut self.admitted, self.undecided.remove(at));
        true
    }

    /// The places to read.
    pub fn admitted(&self) -> &[T] {
        &self.admitted
    }
}

fn push<T: PartialEq>(places: &mut Vec<T>, place: T) {
    places.retain(|known| *known != place);
    places.push(place);
    if places.len() > MOST {
        places.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_push_no_place_out_where_a_user_has_spoken() {
        let mut places = KnownPlaces::default();
        places.heard(7);
        assert!(places.admitted().is_empty(), "nobody knows who that was");
        assert!(places.admit(|place| *place == 7) && !places.admit(|place| *place == 7));
        for stranger in 100..300 {
            places.heard(stranger);
        }
        assert_eq!(places.admitted(), [7]);
        assert_eq!(places.undecided.len(), MOST);
        assert!(!places.admit(|place| *place == 100), "long forgotten");
    }

    #[test]
    fn the_oldest_places_are_forgotten() {
        let mut places = KnownPlaces::default();
        for place in (0..60).chain([20]) {
            places.heard(place);
            places.admit(|known| *known == place);
        }
        let known = places.admitted();
        assert_eq!((known.len(), known[0], known[MOST - 1]), (MOST, 10, 20));
    }

    #[test]
    fn what_an_older_version_wrote_is_read() {
        for old in [r#"{"channels":[1,2]}"#, r#"{"places":[1,2]}"#] {
            let places: KnownPlaces<u8> = serde_json::from_str(old).unwrap();
            assert_eq!(places.admitted(), [1, 2]);
        }
    }
}
