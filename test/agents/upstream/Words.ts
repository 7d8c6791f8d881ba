/** The words the five scripted upstreams share: what a model says in one turn, and what a request showed it. */
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { RecordedRequest } from "../../support/FakeUpstream.ts"

// eslint-disable-next-line typescript/no-explicit-any -- a scripted upstream reads into bodies as it pleases
export type Loose = any

export interface Call {
  readonly id: string
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

/** One answer of the scripted model. */
export interface Turn {
  /** Of the answer: agents join answers of one id into one message. */
  readonly id: string
  /** Unique to this answer, so that it can be told when it comes back. Empty: no reasoning. */
  readonly reasoning: string
  /** What the provider wants to see again (signature, encrypted reasoning). Base64. */
  readonly proof: string
  readonly text: string
  readonly call: Call | null
}

/** What a request tells, in the same words for every wire. */
export interface Seen {
  readonly stream: boolean
  /** Names of the tools on offer. */
  readonly tools: ReadonlyArray<string>
  /** Texts of the tool results, in order. */
  readonly results: ReadonlyArray<string>
  /** Proofs in the history, or the reasoning itself where the wire knows no proof. */
  readonly proofs: ReadonlyArray<string>
  /** Why a strict provider of this wire would refuse the request. */
  readonly problems: ReadonlyArray<string>
}

export interface UpstreamWire {
  readonly name: WireName
  /** One word for it; a wire may have more than one upstream. */
  readonly label: string
  /** Its model; the name tells the gateway which rules hold. */
  readonly model: string
  /** As `POST /api/provider-nodes` wants it, without name and prefix. */
  readonly node: (origin: string) => Readonly<Record<string, unknown>>
  /** Path of its one inference endpoint. */
  readonly path: RegExp
  readonly contentType: string
  readonly read: (body: Loose, knows: (proof: string) => boolean, request: RecordedRequest) => Seen
  /** Pieces of the stream. */
  readonly stream: (turn: Turn) => ReadonlyArray<string>
  readonly whole: (turn: Turn) => unknown
  /** What of a turn must come back for its reasoning to live on. */
  readonly proofOf: (turn: Turn) => string
}

export const list = (value: Loose): ReadonlyArray<Loose> => (Array.isArray(value) ? value : [])

/** The text of what may be a string, text parts, or anything else. */
export const textOf = (value: Loose): string => {
  if (typeof value === "string") return value
  if (Array.isArray(value)) return value.map(textOf).join("\n")
  if (value !== null && typeof value === "object")
    return typeof value.text === "string" ? value.text : JSON.stringify(value)
  return ""
}

/** In halves, so that every delta has a neighbour. */
export const halves = (text: string): ReadonlyArray<string> => {
  const letters = [...text]
  const middle = Math.ceil(letters.length / 2)
  return [letters.slice(0, middle).join(""), letters.slice(middle).join("")].filter((half) => half !== "")
}

export const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
export const event = (value: { readonly type: string } & Record<string, unknown>): string =>
  `event: ${value.type}\n${data(value)}`

/** What was not cached is well over 1,060: Qwen Code takes a summary that costs less to read for one that shortens nothing. */
export const usage = { in: 2000, cached: 200, out: 60, reasoning: 20 }

const toolName = /^[a-zA-Z0-9_-]{1,64}$/u

/** Problems with the names of tools, which every provider limits. */
export const nameProblems = (names: ReadonlyArray<unknown>): ReadonlyArray<string> => [
  ...names
    .filter((name) => typeof name !== "string" || !toolName.test(name))
    .map((name) => `tool name ${JSON.stringify(name)}`),
  ...(new Set(names).size === names.length ? [] : ["two tools of one name"])
]

/** Problems of calls and results that do not pair. */
export const pairProblems = (calls: ReadonlyArray<string>, results: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...calls.filter((id) => !results.includes(id)).map((id) => `call ${id} has no result`),
  ...results.filter((id) => !calls.includes(id)).map((id) => `result ${id} has no call`),
  ...(new Set(calls).size === calls.length ? [] : ["two calls of one id"])
]
