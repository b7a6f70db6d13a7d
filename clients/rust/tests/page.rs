//! The page about Rust shows nothing but parts of these files.

use std::fs;
use std::path::Path;

/// The lines, without those that are empty, and without what indents all of them.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_start).filter(|line| !line.is_empty()).collect()
}

#[test]
fn page() -> pg_ulid_clients::Result {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(folder.join("../../docs/clients/rust.md"))?;
    let mut sources = vec![
        fs::read_to_string(folder.join("sqlx.toml"))?,
        fs::read_to_string(folder.join("tests/schema.sql"))?,
    ];
    for file in fs::read_dir(folder.join("tests"))? {
        let file = file?.path();
        if file.extension().is_some_and(|extension| extension == "rs") {
            sources.push(fs::read_to_string(file)?);
        }
    }
    let blocks: Vec<&str> = page.split("\n```").skip(1).step_by(2).collect();
    let mut found = 0;
    for block in blocks {
        let (language, text) = block.split_once('\n').ok_or("an empty block")?;
        if ["rust", "sql", "toml sqlx.toml"].contains(&language) {
            let text = lines(text);
            let shown =
                sources.iter().any(|source| lines(source).windows(text.len()).any(|part| part == text));
            assert!(shown, "in no file of the tests:\n{block}");
            found += 1;
        }
    }
    assert!(found > 10, "{found} blocks");
    Ok(())
}
