//! WVA's `wva-saturation-scaling-config`, key by key, as each analyzer reads it.

use super::{SaturationConfig, TokenConfig};

/// Which analyzer reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// By percentages of saturation: up to v0.8, and where `analyzers` is taken out.
    V1,
    /// By tokens of capacity: the default since v0.9.0.
    V2,
}

/// A key or a value that is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// No analyzer has such a key.
    #[error(
        "{key} is no key of the saturation configuration; there are kvCacheThreshold, \
         queueLengthThreshold, kvSpareTrigger, queueSpareTrigger, scaleUpThreshold and \
         scaleDownBoundary"
    )]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A value outside its domain.
    #[error("{key} is {value}; it must be {requirement}")]
    OutOfDomain {
        /// The key.
        key: String,
        /// Its value.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfigMap {
    /// What V1 goes by.
    pub v1: SaturationConfig,
    /// What V2 goes by.
    pub v2: TokenConfig,
    /// Keys that are valid, and that the analyzer does not read: upstream says nothing of them.
    pub ignored: Vec<String>,
}

impl ConfigMap {
    /// Read keys and values over the defaults.
    ///
    /// # Errors
    /// A key that no analyzer has, or a value outside its domain: shares are above 0 and at most 1,
    /// lengths of queues 0 or more.
    pub fn read(version: Version, keys: &[(&str, f64)]) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        for &(key, value) in keys {
            let is_length = matches!(key, "queueLengthThreshold" | "queueSpareTrigger");
            let (is_good, requirement) = if is_length {
                ((0.0..1e9).contains(&value), "0 or more")
            } else {
                (value > 0.0 && value <= 1.0, "above 0 and at most 1")
            };
            let (v1, v2) = (&mut config.v1, &mut config.v2);
            let (of_v1, of_v2) = match key {
                "kvCacheThreshold" => {
                    (Some(&mut v1.kv_cache_threshold), Some(&mut v2.kv_cache_threshold))
                }
                "queueLengthThreshold" => {
                    (Some(&mut v1.queue_length_threshold), Some(&mut v2.queue_length_threshold))
                }
                "kvSpareTrigger" => (Some(&mut v1.kv_spare_trigger), None),
                "queueSpareTrigger" => (Some(&mut v1.queue_spare_trigger), None),
                "scaleUpThreshold" => (None, Some(&mut v2.scale_up_threshold)),
                "scaleDownBoundary" => (None, Some(&mut v2.scale_down_boundary)),
                _ => return Err(ConfigError::UnknownKey { key: key.to_owned() }),
            };
            if !is_good {
                let key = key.to_owned();
                return Err(ConfigError::OutOfDomain { key, value, requirement });
            }
            let is_read = match version {
                Version::V1 => of_v1.is_some(),
                Version::V2 => of_v2.is_some(),
            };
            if !is_read {
                config.ignored.push(key.to_owned());
            }
            for field in [of_v1, of_v2].into_iter().flatten() {
                *field = value;
            }
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::autoscale::wva::ignored_keys;

    #[test]
    fn each_analyzer_says_what_it_does_not_read() {
        let keys = [("kvSpareTrigger", 0.2), ("kvCacheThreshold", 0.7), ("scaleUpThreshold", 0.9)];
        let v1 = ConfigMap::read(Version::V1, &keys).unwrap();
        assert_eq!(v1.ignored, ["scaleUpThreshold"]);
        assert_eq!((v1.v1.kv_spare_trigger, v1.v1.kv_cache_threshold), (0.2, 0.7));
        let v2 = ConfigMap::read(Version::V2, &keys).unwrap();
        assert_eq!(v2.ignored, ["kvSpareTrigger"]);
        assert_eq!((v2.v2.scale_up_threshold, v2.v2.kv_cache_threshold), (0.9, 0.7));
        let names = keys.map(|(key, _)| key);
        assert_eq!(v2.ignored, ignored_keys(&names));
    }

    #[test]
    fn what_is_no_key_or_no_value_is_named() {
        let error = |key, value| ConfigMap::read(Version::V2, &[(key, value)]).unwrap_err();
        assert!(error("kvSpareTriger", 0.1).to_string().contains("there are kvCacheThreshold"));
        let error = error("kvCacheThreshold", 80.0).to_string();
        assert_eq!(error, "kvCacheThreshold is 80; it must be above 0 and at most 1");
    }
}
