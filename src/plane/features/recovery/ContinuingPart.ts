/** The call that goes on with a cut answer: its question, and the codec that writes its answer into the client's stream. */
import type { Target } from "../../routing/resolve/ModelResolver.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import type { Conversation } from "../../../wire/canonical/Conversation.ts"
import type { AttemptResult } from "../../attempt/AttemptResult.ts"
import type { ContinuingPart } from "../../attempt/Continuation.ts"
import type { Resumption, Work } from "../../request/Exchange.ts"
import { countTokens } from "../../settle/Bill.ts"
import { sumTokens } from "../../../contract/domain/Usage.ts"
import { continuationOf, takesPrefill } from "./Question.ts"
import { makeSplice, type Splice } from "./Splice.ts"

export const continuationFor = (
  conversation: Conversation,
  { sent }: Resumption,
  wire: WireName,
  model: string
): Conversation => continuationOf(conversation, sent.text(), takesPrefill(wire, model))

const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 200)

/** A comment of the event stream. Clients of the other wires read every line. */
const markOf = (client: WireName, { account, model }: Target, dropped: ReadonlyArray<string>): string => {
  if (client === "gemini" || client === "ollama") return ""
  const without = dropped.length === 0 ? "" : `; dropped: ${printable(dropped.join(","))}`
  return `: continued by ${printable(`${account.spec.id}/${model}`)}${without}\n\n`
}

export const continuing = (
  work: Work,
  { before, sent }: Resumption,
  target: Target,
  wire: WireName,
  dropped: ReadonlyArray<string>
): ContinuingPart => {
  const { codec } = work.exchange
  let splice: Splice | null = null
  return {
    hasContent: () => splice?.hasContent() === true,
    codec: {
      ...codec,
      makeStreamEncoder: () =>
        (splice = makeSplice({
          sent,
          // That wire refuses an answer which begins with white space at its end, so the encoder cuts it.
          blanksCut: wire === "messages" && takesPrefill(wire, target.model),
          mark: markOf(work.exchange.wire, target, dropped),
          usageOfAll: (report) => {
            const reports = [...before.map((part) => part.report), report]
            return reports.every(({ usage }) => usage === null)
              ? null
              : reports.map((each) => countTokens(work, target, each).tokens).reduce(sumTokens)
          }
        }))
    }
  }
}

/** The line of the log. */
export const storyOf = (
  work: Work,
  { before }: Resumption,
  { account, model }: Target,
  result: AttemptResult
): string => {
  const parts = before.map(({ target }) => `${target.account.spec.id}/${target.model}`).join(", ")
  const ends = {
    Completed: "completed it",
    Broken: "broke as well",
    Aborted: "lost its client",
    Failed: "did not go on"
  }
  return `The stream of request ${work.exchange.requestId} was cut at ${parts}; ${account.spec.id}/${model} ${ends[result._tag]}`
}
