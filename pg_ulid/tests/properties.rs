//! The rules of every value and text, for inputs of a fixed seed. The stage `fuzz` has others.

mod rules;

#[test]
fn every_rule_holds() {
    for target in &rules::TARGETS {
        println!("{}", target.name); // shown if it fails
        target.run(1, 50_000);
    }
}

/// Texts of each form. The library combines the faults of a text, so two might cancel each other.
#[test]
fn every_byte_is_read_in_every_place_and_with_another_fault() {
    for (check, valid) in [
        (
            rules::parse::check as fn(&[u8]) -> bool,
            "01ARYZ6S41TSV4RRFFQ69G5FAV",
        ),
        (rules::parse::check, "7zzzzzzzzzzzzzzzzzzzzzzzzz"),
        (rules::parse::check, "01563df3-6481-d676-4c61-efb99302bd5b"),
        (rules::parse::check, "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"),
        (rules::parse::check, "01563df36481d6764c61efb99302bd5b"),
        (
            rules::parse::check,
            "{0156-3df3-6481-d676-4c61-efb9-9302-bd5b}",
        ),
        (rules::typeid::check, "a_b_01h455vb4pex5vsknk084sn02q"),
    ] {
        assert!(check(valid.as_bytes()));
        for position in 0..valid.len() {
            let mut text = valid.as_bytes().to_vec();
            for byte in 0..=u8::MAX {
                text[position] = byte;
                check(&text);
            }
            for other in 0..position {
                for faults in [*b"**", [b'*', 0xff], *b"Z*", *b"*Z", *b"--", [0, 0]] {
                    let mut text = valid.as_bytes().to_vec();
                    (text[other], text[position]) = (faults[0], faults[1]);
                    check(&text);
                }
            }
        }
        for byte in [b'*', b'-', 0, 0xff] {
            check(&vec![byte; valid.len()]);
        }
        // all hyphens and braces at once, for a reader that looks at the digits
        for other in ["0", "x"] {
            check(valid.replace(['-', '{', '}'], other).as_bytes());
        }
    }
}

/// Each choice of hyphens between the groups of four digits, with or without one more anywhere, and
/// with each pair of braces, missing or turned ones too.
#[test]
fn every_hyphen_and_brace_of_a_uuid_is_read_or_named() {
    let digits = "01563df36481d6764c61efb99302bd5b";
    let mut read = 0;
    for groups in 0..1 << 7 {
        for odd in 0..=32 {
            for (before, after) in [("", ""), ("{", "}"), ("{", ""), ("", "}"), ("}", "{")] {
                let mut text = before.to_owned();
                for (index, digit) in digits.chars().enumerate() {
                    let hyphen = index % 4 == 0 && groups << 1 >> (index / 4) & 1 == 1;
                    text.extend(hyphen.then_some('-'));
                    text.extend((index == odd && odd > 0).then_some('-'));
                    text.push(digit);
                }
                text.extend((odd == 32).then_some('-'));
                text.push_str(after);
                read += usize::from(rules::parse::check(text.as_bytes()));
                for length in 0..text.len() {
                    rules::parse::check(&text.as_bytes()[..length]);
                }
            }
        }
    }
    // One of each seven hyphens, without the odd one or with it in a free place, and two braces.
    assert_eq!(read, 2 * (128 + 7 * 64));
}

#[test]
fn what_follows_a_prefix_is_zeros_and_ones() {
    let valid = "01ARYZ6S41TSV4RRFFQ69G5FAV";
    assert!((0..=valid.len()).all(|length| rules::prefix::check(&valid.as_bytes()[..length])));
}
