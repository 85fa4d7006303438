//! Policies side by side, each with settings of its own.

use super::{
    FleetArgs,
    names::named,
    readers::{amount, replicas, some_amount},
};
use crate::failure::Failure;

impl FleetArgs {
    /// The options of each policy of `--compare`, with its name.
    pub(crate) fn compared(&self) -> Result<Vec<(String, Self)>, Failure> {
        let mut all = Vec::new();
        for text in &self.compare {
            for one in one_of_each(text) {
                all.push((one.clone(), self.with("--compare", &one)?));
            }
        }
        Ok(all)
    }

    /// These options under a policy as an option like `--compare` names it.
    pub(super) fn with(&self, option: &str, text: &str) -> Result<Self, Failure> {
        let error = |why: String| {
            Failure::input(format!(
                "{option} {text}: {why}. Give it as a policy with its settings, for example \
                 hpa:signal=queue,target=4 or keda:min=0."
            ))
        };
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let mut args = self.clone();
        args.policy = Some(named(name).map_err(&error)?);
        for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
            let no_value = || error(format!("{setting} has no value"));
            let (key, value) = setting.split_once('=').ok_or_else(no_value)?;
            let named_error = |why: String| error(format!("{key}: {why}"));
            let count = || replicas(value).map_err(named_error);
            match key {
                "signal" => args.signal = Some(named(value).map_err(&error)?),
                "aggregate" => args.aggregate = named(value).map_err(&error)?,
                "target" => args.target = Some(some_amount(value).map_err(named_error)?),
                "activation" => args.activation = amount(value).map_err(named_error)?,
                "min" => args.min = Some(count()?),
                "max" => args.max = Some(count()?),
                "initial" => args.initial = Some(count()?),
                "scale-down-window" => {
                    args.scale_down_window = Some(amount(value).map_err(named_error)?);
                }
                "floor" => args.floor = vec![value.to_owned()],
                _ => match key.strip_prefix("wva.") {
                    Some(key) => args.wva.push([key, "=", value].concat()),
                    None => return Err(error(format!("there is no setting {key}"))),
                },
            }
        }
        Ok(args)
    }
}

/// `hpa:target=4/8` as `hpa:target=4` and `hpa:target=8`.
fn one_of_each(text: &str) -> Vec<String> {
    let Some(slash) = text.find('/') else { return vec![text.to_owned()] };
    let begin = text[..slash].rfind(['=', ',', ':']).map_or(0, |at| at + 1);
    let end = text[slash..].find(',').map_or(text.len(), |at| slash + at);
    let values = text[begin..end].split('/');
    values
        .flat_map(|value| one_of_each(&format!("{}{value}{}", &text[..begin], &text[end..])))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_values_is_one_of_each() {
        assert_eq!(one_of_each("keda"), ["keda"]);
        assert_eq!(
            one_of_each("hpa:target=4/8,signal=queue/running"),
            [
                "hpa:target=4,signal=queue",
                "hpa:target=4,signal=running",
                "hpa:target=8,signal=queue",
                "hpa:target=8,signal=running",
            ]
        );
    }
}
