/** Words of the area of the memory. */
import { plural } from "../plural.ts"

export const words = {
  title: "Memory",
  hint: "What is remembered of callers, by API key, and told to models. A memory is deleted with its key.",
  add: "Add a memory",
  search: "Search memories",
  searchHint: "words of a memory",
  type: "Type",
  key: "Of the key",
  everyKey: "every key",
  noKey: "callers without a key",
  goneKey: "a key that is gone",
  types: { "": "every type", factual: "factual", episodic: "episodic", procedural: "procedural", semantic: "semantic" },
  none: "Nothing is remembered yet. Switch the memory on below, or add the first one.",
  noMatch: "No memory has these words.",
  found: (value: number): string => plural(value, { one: "1 memory", other: `${value} memories` }),
  list: "Memories",
  columns: ["What is remembered", "Type", "Of", "Last used", "Actions"],
  sources: { added: "added", extracted: "from a conversation" },
  forget: "Forget",
  forgotten: "It is forgotten.",
  remembered: "It is remembered again.",
  more: "Next page",
  settings: "Settings",
  on: "Memories are put into requests.",
  off: "Memories are not put into requests: switch it on below.",
  entries: "Memories",
  bytes: "Size",
  index: "In the index",
  broken: "Some are missing in the index: they are not found.",
  reindex: "Make the index anew",
  reindexed: (value: number): string =>
    plural(value, { one: "1 memory is in the index.", other: `${value} memories are in the index.` }),
  vectors: "searched by their meaning, too",
  words: "searched by their words"
} as const
