/** The requests that a fusion makes in the client's name: those to the panel, which the client never sees, and the judge's. */
import type { Reason } from "../../routing/candidate/Reason.ts"
import { Trail } from "../../request/Trail.ts"
import * as Either from "effect/Either"
import type { Target } from "../../routing/resolve/ModelResolver.ts"
import type { Conversation } from "../../../wire/canonical/Conversation.ts"
import { codecs } from "../../../wire/Codec.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { WireCodec } from "../../../wire/WireCodec.ts"
import type { ClientReply, Work } from "../../request/Exchange.ts"
import type { Member } from "./Members.ts"

/** `remembered`: the request that a later turn goes on from, which is the client's own and not ours. */
export type InnerWork = Work & { readonly remembered: JsonObject }

/** The registry's codec of the client's wire. The client's own may be another endpoint's, which cannot say a whole conversation. */
export const innerCodec = ({ exchange }: Pick<Work, "exchange">): WireCodec => codecs[exchange.wire]

const asking = (work: Work, question: Conversation): Pick<Work, "parsed" | "body" | "conversation"> => {
  const { body: parsed } = innerCodec(work).encodeRequest(question, {
    model: work.envelope.model,
    stream: question.stream,
    maxOutputTokens: null,
    reasoning: null
  })
  return { parsed, body: Buffer.from(JSON.stringify(parsed)), conversation: () => Either.right(question) }
}

/** The request that all members are asked; each gets its own of it by `memberWork`. */
export const panelWork = (work: Work, question: Conversation): InnerWork => ({
  ...work,
  ...asking(work, question),
  remembered: work.parsed,
  envelope: {
    ...work.envelope,
    stream: false,
    hasTools: false,
    candidates: 1,
    // There are no client bytes of it: the body is written for each target.
    needsRewrite: true
  }
})

export const memberWork = (panel: InnerWork, member: Member, reply: ClientReply): InnerWork => ({
  ...panel,
  exchange: { ...panel.exchange, codec: innerCodec(panel), reply },
  decision: { ...panel.decision, order: member },
  trail: new Trail(panel.trail.live)
})

/** The client's codec for the answer; for the question the wire's own, where the client's endpoint has a smaller one. */
const judgeCodec = (work: Work): WireCodec => {
  const client = work.exchange.codec
  const { checkEnvelope, decodeRequest, encodeRequest, relayRequest, upstreamPath } = innerCodec(work)
  return client.decodeRequest === decodeRequest
    ? client
    : { ...client, checkEnvelope, decodeRequest, encodeRequest, relayRequest, upstreamPath }
}

/** The client's request with the sources in it: its stream flag, its tools, its reply. */
export const judgeWork = (
  work: Work,
  question: Conversation,
  order: ReadonlyArray<Target>,
  reason: Reason
): InnerWork => ({
  ...work,
  ...asking(work, question),
  remembered: work.parsed,
  exchange: { ...work.exchange, codec: judgeCodec(work) },
  envelope: { ...work.envelope, needsRewrite: true },
  decision: { ...work.decision, order, reason },
  trail: new Trail(work.trail.live)
})
