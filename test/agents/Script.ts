/** What the scripted model says: it reads a file, changes it, and tells so; and what it noticed while it was at it. */
import type { Answer } from "../support/FakeUpstream.ts"
import * as Fake from "../support/FakeUpstream.ts"
import type { Agent, ToolUse } from "./Agents.ts"
import type { Seen, Turn, UpstreamWire } from "./upstream/Words.ts"

export interface Script {
  /** What the file holds before, and what it must hold after. */
  readonly before: string
  readonly after: string
  /** What the agent must show in the end. */
  readonly lastWords: string
  readonly answer: Answer
  /** Requests of the conversation itself; agents ask other things beside it. */
  readonly main: ReadonlyArray<Seen>
  /** Requests beside it: a title, a memory. */
  readonly asides: () => number
  /** What a strict provider would have refused. */
  readonly problems: ReadonlyArray<string>
  /** Tool turns whose proof of reasoning was in the last request, and how many there were to come back. */
  readonly reasoning: () => { readonly back: number; readonly of: number }
}

const silent: Turn = { id: "aside", reasoning: "", proof: "", text: "A colour", call: null }

const base64 = (text: string): string => Buffer.from(text).toString("base64")

export const make = (wire: UpstreamWire, agent: Agent, file: string, nonce: string): Script => {
  const before = `blue-${nonce}`
  const after = `green-${nonce}`
  const lastWords = `Done, it is ${after} now ✓ ünïcode`
  const turn = (step: number, text: string, use: ToolUse | null): Turn => ({
    id: `${nonce}_${step}`,
    reasoning: `Step ${step} of ${nonce} wants thought. Naïve thought ✓ even.`,
    proof: base64(`proof ${step} of ${nonce}`),
    text,
    call: use === null ? null : { id: `call_${nonce}_${step}`, ...use }
  })
  const turns = [
    turn(1, "I look at the file first.", agent.read(file)),
    turn(2, "Now I change it.", agent.edit(file, before, after)),
    turn(3, lastWords, null)
  ] as const
  const known = new Set(turns.map(wire.proofOf))
  const toolProofs = turns.filter((each) => each.call !== null).map(wire.proofOf)

  const main: Array<Seen> = []
  const problems: Array<string> = []
  let asides = 0

  /** The answer to a request of the conversation follows from how many results it brings. */
  const next = (seen: Seen): Turn => {
    const chosen = turns[Math.min(seen.results.length, 2)] ?? silent
    if (chosen.call !== null && !seen.tools.includes(chosen.call.tool))
      problems.push(`tool ${chosen.call.tool} is not on offer: ${seen.tools.join(", ")}`)
    return chosen
  }

  const answer: Answer = async (response, request) => {
    if (request.method !== "POST" || !wire.path.test(request.url)) {
      problems.push(`${request.method} ${request.url} is not a route of this upstream`)
      return Fake.json(Fake.errorBody(wire.name, "No such route."), { status: 404 })(response, request)
    }
    const seen = wire.read(JSON.parse(request.body), (proof) => known.has(proof), request)
    const isMain = seen.tools.includes(turns[0].call?.tool ?? "") && request.body.includes(nonce)
    if (isMain) main.push(seen)
    else asides += 1
    if (seen.problems.length > 0) {
      problems.push(...seen.problems)
      const message = `A strict provider refuses: ${seen.problems.join("; ")}`
      return Fake.json(Fake.errorBody(wire.name, message), { status: 400 })(response, request)
    }
    const said = isMain ? next(seen) : silent
    if (!seen.stream) return Fake.json(wire.whole(said))(response, request)
    return Fake.sse(wire.stream(said), { headers: { "content-type": wire.contentType } })(response, request)
  }

  const reasoning = () => {
    const last = main.at(-1)
    return { back: toolProofs.filter((proof) => last?.proofs.includes(proof)).length, of: toolProofs.length }
  }
  return { before, after, lastWords, answer, main, asides: () => asides, problems, reasoning }
}
