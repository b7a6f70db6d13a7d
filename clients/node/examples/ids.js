import { canonical, toUuid } from "pg-ulid";

console.log(canonical("01aryz6s41tsv4rrffq69g5fav")); // 01ARYZ6S41TSV4RRFFQ69G5FAV
console.log(canonical("01563df3-6481-d676-4c61-efb99302bd5b")); // 01ARYZ6S41TSV4RRFFQ69G5FAV
console.log(canonical("first")); // first: the server refuses it
console.log(toUuid("01ARYZ6S41TSV4RRFFQ69G5FAV")); // 01563df3-6481-d676-4c61-efb99302bd5b
