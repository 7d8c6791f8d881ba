/**
 * The filter of requests as people type it, `status:failed model:gpt* key:ci >2s`, and as the log's filters have it. What is no filter is
 * searched for.
 */

/** Names of filters: as typed → of `GET /api/usage/logs`. */
const names: Readonly<Record<string, string>> = {
  id: "requestId",
  model: "model",
  asked: "requestedModel",
  provider: "provider",
  account: "connectionId",
  connection: "connectionId",
  key: "apiKeyId",
  batch: "batchId",
  session: "sessionId",
  combo: "combo",
  outcome: "outcome",
  status: "status",
  error: "error",
  from: "from",
  to: "to"
}

export const filterNames: ReadonlyArray<string> = [...Object.keys(names), "cache"]

export interface Filter {
  /** Members of the query. */
  readonly query: Readonly<Record<string, string>>
  /** Words of the typed text that could not be read. */
  readonly wrong: ReadonlyArray<string>
}

const outcomes = new Set(["completed", "failed", "aborted"])

const millisecondsOf = (text: string): number | null => {
  const found = /^(\d+(?:\.\d+)?)(ms|s|min)?$/.exec(text)
  if (found === null) return null
  const unit = { ms: 1, s: 1_000, min: 60_000 }[found[2] ?? "ms"] ?? 1
  return Number(found[1]) * unit
}

/** Words, with "quoted ones" as one. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?:[^\s"]+|"[^"]*")+/g)].map(([word]) => word.replaceAll('"', ""))

interface Reading {
  readonly query: Record<string, string>
  readonly search: Array<string>
  readonly wrong: Array<string>
}

const readAbove = (word: string, { query, wrong }: Reading): void => {
  const rest = word.slice(1)
  const dollars = /^\$(\d+(?:\.\d+)?)$/.exec(rest)?.[1]
  const ms = millisecondsOf(rest)
  if (dollars !== undefined) query["minCostUsd"] = dollars
  else if (ms !== null) query["minLatencyMs"] = String(Math.round(ms))
  else wrong.push(word)
}

const readNamed = (name: string, value: string, word: string, { query, wrong }: Reading): void => {
  if (name === "cache" && /^(?:hit|miss)$/.test(value)) query["cacheHit"] = String(value === "hit")
  else if (name === "status" && outcomes.has(value)) query["outcome"] = value
  else if (value === "" || names[name] === undefined) wrong.push(word)
  else query[names[name]] = value
}

export const readFilter = (text: string): Filter => {
  const reading: Reading = { query: {}, search: [], wrong: [] }
  for (const word of wordsOf(text)) {
    const colon = word.indexOf(":")
    const name = word.slice(0, Math.max(0, colon)).toLowerCase()
    if (word.startsWith(">")) readAbove(word, reading)
    else if (filterNames.includes(name)) readNamed(name, word.slice(colon + 1), word, reading)
    else reading.search.push(word)
  }
  const { query, search, wrong } = reading
  return { query: search.length === 0 ? query : { ...query, search: search.join(" ") }, wrong }
}

export interface Completion {
  /** The name as it is typed; empty: it is not there yet. */
  readonly name: string
  /** Of the log's filters; null: the word has no name yet, or one without values. */
  readonly field: string | null
  /** Typed part of the name or of the value. */
  readonly text: string
}

/** The last word of a filter, which is being typed; a word ends with a space outside of quotes. */
const lastWord = (text: string): string => {
  const last = [...text.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].at(-1)
  return last !== undefined && last.index + last[0].length === text.length ? last[0] : ""
}

/** The end of a filter, as far as it can be completed. */
export const completionOf = (text: string): Completion => {
  const word = lastWord(text)
  const colon = word.indexOf(":")
  if (colon === -1) return { name: "", field: null, text: word }
  const name = word.slice(0, colon).toLowerCase()
  return { name, field: names[name] ?? null, text: word.slice(colon + 1).replaceAll('"', "") }
}

/** The filter with its last word completed. */
export const withCompletion = (text: string, word: string): string =>
  `${text.slice(0, text.length - lastWord(text).length)}${word}`
