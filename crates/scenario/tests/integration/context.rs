//! Lengths beyond the longest context of the model, at every door.

use proptest::prelude::*;
use scenario::{BeyondContext, NoticeKind, Scenario};

fn told(link: &str) -> Vec<String> {
    let cautions = Scenario::from_link(link).scenario.cautions();
    cautions.into_iter().map(|caution| caution.message).collect()
}

#[test]
fn a_length_set_by_hand_is_cut_as_in_a_link() {
    let parsed = Scenario::from_link("in=200000");
    let mut scenario = Scenario::preset();
    assert_eq!(scenario.set("in", "200000"), Ok(Vec::new()));
    assert_eq!(scenario.limit_to_context(), parsed.notices);
    assert_eq!(scenario, parsed.scenario);
    assert_eq!(parsed.notices[0].kind, NoticeKind::Shortened);
    // Once is enough.
    assert_eq!(scenario.limit_to_context(), []);
}

#[test]
fn prompt_and_answer_together_are_held_against_the_context() {
    assert_eq!(
        told("in=131000"),
        [
            "Every request exceeds this model’s context of 131,072 tokens, prompt and answer together; \
          the longest has 131,256. Engines refuse such a prompt or cut its answer off there; here \
          it is simulated whole. Set out=72 to stay within it."
        ]
    );
    assert_eq!(told("in=131000&out=72"), [""; 0]);
    // A prompt that leaves no room for any answer has to give way itself.
    assert!(told("in=131072")[0].ends_with("Set in=130816 to stay within it."));
    assert_eq!(told("in=130816"), [""; 0]);
    // Where neither alone would leave anything of its kind, both are cut alike.
    for (link, way_out, within) in [
        ("in=131072&out=131072", "Set in=65536 out=65536 to", "in=65536&out=65536"),
        ("in=131072&out=120000", "Set in=68426 out=62646 to", "in=68426&out=62646"),
    ] {
        let said = told(link);
        assert!(said[0].contains(way_out), "{}", said[0]);
        assert!(said[0].contains("or choose a model with a longer context"), "{}", said[0]);
        assert_eq!(told(within), [""; 0]);
    }
    assert!(told("in=131072&out=65536")[0].ends_with("Set in=65536 to stay within it."));
    // Neither is a model known nor its context where the step time is given by constants.
    assert_eq!(told("step.kind=affine&in=131000&out=4000"), [""; 0]);
}

#[test]
fn of_drawn_lengths_it_is_said_how_many_are_too_long() {
    let some = told("in=uniform(100000,131072)&out=uniform(1,16000)&sim.requests=1000");
    assert!(some[0].contains(" of 1,000 requests exceed this model’s context"), "{some:?}");
    assert!(some[0].ends_with("or choose a model with a longer context."), "{some:?}");
    // So is it of a class.
    let class = told("class.long=share:10,in:131000,out:500");
    assert!(class[0].contains("the longest has 131,500."), "{class:?}");
    // However long the runs are, 10,000 requests tell enough.
    let many = told("in=uniform(100000,131072)&out=uniform(1,16000)&sim.requests=1000000");
    assert!(many[0].contains(" of 10,000 requests"), "{many:?}");
}

proptest! {
    #[test]
    fn the_count_is_that_of_the_obvious_loop(
        requests in prop::collection::vec((0_u64..300, 1_u64..300), 0..40),
        context in 1_u64..500,
    ) {
        let too_long = requests.iter().filter(|(i, o)| i + o > context).count() as u64;
        let longest = requests.iter().map(|(i, o)| i + o).max().unwrap_or(0);
        let mut found = BeyondContext::none_yet(context);
        requests.iter().for_each(|(i, o)| found.count(*i, *o));
        let expected = BeyondContext {
            requests: too_long,
            of: requests.len() as u64,
            longest_tokens: longest,
            context_tokens: context,
        };
        prop_assert_eq!(found, expected);
    }
}
