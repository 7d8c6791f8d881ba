/** Names what each of several gateways on one database counts or keeps by itself (docs/cluster.md). Pure. */

/** Things that an operator could expect to be shared. */
export const ownOfEach: ReadonlyArray<string> = [
  "the places of maxConcurrent",
  "the position of round robin",
  "answers in the cache",
  "uploaded files, stored media and plugins"
]
