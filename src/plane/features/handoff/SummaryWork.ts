/** The request for a summary: the gateway's own, made in the name of the client whose conversation it is. Pure. */
import { FixedPrices } from "../../request/FixedPrices.ts"
import { Trail } from "../../request/Trail.ts"
import * as Either from "effect/Either"
import { noPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import { handoffIdOf } from "../../../contract/domain/Usage.ts"
import type { Question } from "../../routing/decide/Engine.ts"
import type { Decided } from "../../routing/decide/Decide.ts"
import type { Resolution, Target } from "../../routing/resolve/ModelResolver.ts"
import type { Conversation } from "../../../wire/canonical/Conversation.ts"
import { chat } from "../../../wire/chat/Codec.ts"
import type { Envelope } from "../../../wire/WireCodec.ts"
import type { Exchange, Work } from "../../request/Exchange.ts"
import { makeInnerReply } from "../../request/InnerReply.ts"
import { featuresOf } from "../../request/RequestFeatures.ts"
import { instruction, maxAnswerTokens } from "./Summary.ts"

/** Path shown in its log line. */
const handoffPath = "/handoff"

const conversationOf = (model: string, question: string): Conversation => ({
  // "Off" is a word of this wire; the others' encoders say it where a model thinks unasked, and leave it out where it may be refused.
  wire: "ollama",
  reasoning: { mode: "off" },
  model,
  stream: false,
  wantsUsage: true,
  messages: [
    { role: "system", parts: [{ type: "text", text: instruction }] },
    { role: "user", parts: [{ type: "text", text: question }] }
  ],
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  maxOutputTokens: maxAnswerTokens,
  candidates: 1,
  sampling: {},
  outputFormat: null,
  user: null,
  metadata: null,
  extras: {}
})

const envelopeOf = (model: string): Envelope => ({
  model,
  stream: false,
  wantsUsage: true,
  messageCount: 2,
  hasTools: false,
  hasImages: false,
  wantsReasoning: false,
  wantsSchema: false,
  maxOutputTokens: maxAnswerTokens,
  candidates: 1,
  // There are no client bytes of it: the body is written for each target.
  needsRewrite: true
})

/** Narrows the resolution to the target that has answered. */
export const alone = ({ combo }: Resolution, target: Target): Resolution => ({
  combo,
  strategy: "priority",
  targets: [target],
  weights: [1],
  steps: [0],
  auto: null,
  quotaGroup: null,
  policy: noPolicy
})

export interface Asking {
  /** The client's request. */
  readonly work: Work
  readonly question: string
  /** The id it is asked by, and what that stands for. */
  readonly model: string
  readonly resolution: Resolution
  readonly decide: (question: Question) => Decided
  readonly seed: number
  readonly nowMs: number
  readonly monotonicMs: number
}

export const summaryWork = (asking: Asking): Work => {
  const { decide, model, monotonicMs, nowMs, question: text, resolution, seed, work } = asking
  const conversation = conversationOf(model, text)
  const envelope = envelopeOf(model)
  const { body: parsed } = chat.encodeRequest(conversation, {
    model,
    stream: false,
    maxOutputTokens: null,
    reasoning: null
  })
  const body = Buffer.from(JSON.stringify(parsed))
  const exchange: Exchange = {
    requestId: handoffIdOf(work.exchange.requestId),
    receivedMs: nowMs,
    startedMs: monotonicMs,
    wire: "chat",
    codec: chat,
    method: "POST",
    path: handoffPath,
    body,
    fromPath: null,
    atOnce: null,
    headers: {},
    principal: work.exchange.principal,
    madeFor: "aside",
    reply: makeInnerReply()
  }
  const decoded = () => Either.right(conversation)
  const question: Question = {
    model,
    resolution,
    features: () => featuresOf(exchange, envelope, { parsed, conversation: decoded }, null),
    // It is no turn of the session.
    sessionKey: null,
    startsPrompt: () => true,
    modeHeader: null,
    budgetHeader: null,
    seed,
    nowMs
  }
  const decided = decide(question)
  return {
    exchange,
    leftOut: [],
    owner: work.owner,
    asked: parsed,
    parsed,
    body,
    conversation: decoded,
    envelope,
    outputCap: null,
    // Its row is under the combo whose conversation it sums up.
    resolution: { ...resolution, combo: work.resolution.combo },
    question,
    decision: { ...decided, reason: { _tag: "Summary", requestId: work.exchange.requestId } },
    sessionId: work.sessionId,
    commitment: null,
    prices: new FixedPrices(),
    trail: new Trail()
  }
}
