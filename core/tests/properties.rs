//! The rules of every value and every text, for inputs of a fixed seed. `make fuzz` takes others.

mod rules;

#[test]
fn every_rule_holds() {
    for target in &rules::TARGETS {
        println!("{}", target.name); // shown if it fails
        target.run(1, 50_000);
    }
}
