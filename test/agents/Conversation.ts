/** A scripted model that follows from the tool results a request brings; and what was noticed while it was at it. */
import type { Answer } from "../support/FakeUpstream.ts"
import * as Fake from "../support/FakeUpstream.ts"
import type { ToolUse } from "./Agents.ts"
import type { Seen, Turn, UpstreamWire } from "./upstream/Words.ts"

export interface Conversation {
  readonly answer: Answer
  /** Requests of the conversation itself; agents ask other things beside it. */
  readonly main: ReadonlyArray<Seen>
  /** Requests beside it: a title, a memory. */
  readonly asides: () => number
  /** Tools of the last request. */
  readonly offered: () => ReadonlyArray<string>
  /** What a strict provider would have refused. */
  readonly problems: ReadonlyArray<string>
}

export interface Told {
  readonly text: string
  /** Null: these are the last words. */
  readonly use: ToolUse | null
}

const silent: Turn = { id: "aside", reasoning: "", proof: "", text: "A colour", call: null }

const base64 = (text: string): string => Buffer.from(text).toString("base64")

/** The turn of a step (from 1) with a reasoning of its own. */
export const turnOf = (nonce: string, step: number, { text, use }: Told): Turn => ({
  id: `${nonce}_${step}`,
  reasoning: `Step ${step} of ${nonce} wants thought. Naïve thought ✓ even.`,
  proof: base64(`proof ${step} of ${nonce}`),
  text,
  call: use === null ? null : { id: `call_${nonce}_${step}`, ...use }
})

export interface Model {
  /** Only requests with it and with this tool are the conversation's. */
  readonly nonce: string
  readonly tool: string
  /** Proofs of reasoning that may come back. */
  readonly knows: (proof: string) => boolean
  /** What is said after these results. */
  readonly next: (results: ReadonlyArray<string>) => Turn
}

export const make = (wire: UpstreamWire, { knows, next, nonce, tool }: Model): Conversation => {
  const main: Array<Seen> = []
  const problems: Array<string> = []
  let asides = 0
  let offered: ReadonlyArray<string> = []

  const said = (seen: Seen): Turn => {
    const turn = next(seen.results)
    if (turn.call !== null && !seen.tools.includes(turn.call.tool))
      problems.push(`tool ${turn.call.tool} is not on offer: ${seen.tools.join(", ")}`)
    return turn
  }

  const answer: Answer = async (response, request) => {
    if (request.method !== "POST" || !wire.path.test(request.url)) {
      problems.push(`${request.method} ${request.url} is not a route of this upstream`)
      return Fake.json(Fake.errorBody(wire.name, "No such route."), { status: 404 })(response, request)
    }
    const seen = wire.read(JSON.parse(request.body), knows, request)
    offered = seen.tools
    const isMain = seen.tools.includes(tool) && request.body.includes(nonce)
    if (isMain) main.push(seen)
    else asides += 1
    if (seen.problems.length > 0) {
      problems.push(...seen.problems)
      const message = `A strict provider refuses: ${seen.problems.join("; ")}`
      return Fake.json(Fake.errorBody(wire.name, message), { status: 400 })(response, request)
    }
    const turn = isMain ? said(seen) : silent
    if (!seen.stream) return Fake.json(wire.whole(turn))(response, request)
    return Fake.sse(wire.stream(turn), { headers: { "content-type": wire.contentType } })(response, request)
  }
  return { answer, main, asides: () => asides, offered: () => offered, problems }
}

/** A model that takes these steps, each after the results before it. */
export const steps = (
  wire: UpstreamWire,
  nonce: string,
  told: ReadonlyArray<(results: ReadonlyArray<string>) => Told>
): Conversation => {
  const proofs = new Set(told.map((_, at) => wire.proofOf(turnOf(nonce, at + 1, { text: "", use: null }))))
  return make(wire, {
    nonce,
    tool: told[0]?.([]).use?.tool ?? "",
    knows: (proof) => proofs.has(proof),
    next: (results) => {
      const at = Math.min(results.length, told.length - 1)
      return turnOf(nonce, at + 1, told[at]?.(results) ?? { text: "", use: null })
    }
  })
}
