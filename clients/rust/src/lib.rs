#![doc = include_str!("../README.md")]
#![doc = concat!("```\n", include_str!("../programs/diesel.rs"), "```\n")]
#![doc = concat!("```\n", include_str!("../programs/sea_orm.rs"), "```\n")]
