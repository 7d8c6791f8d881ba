/** Requests without turns: what was sent goes through as a whole, as the extras of an empty conversation. */
import type { Conversation } from "../canonical/Conversation.ts"
import type { JsonObject } from "../json/Json.ts"
import type { Envelope } from "../WireCodec.ts"

export const envelopeOf = (model: string): Envelope => ({
  model,
  stream: false,
  wantsUsage: true,
  messageCount: 0,
  hasTools: false,
  hasImages: false,
  wantsReasoning: false,
  wantsSchema: false,
  maxOutputTokens: null,
  candidates: 1,
  needsRewrite: false
})

export const wholeRequest = (body: JsonObject, model: string): Conversation => {
  const { model: _model, ...extras } = body
  return {
    wire: "chat",
    model,
    stream: false,
    wantsUsage: true,
    messages: [],
    tools: [],
    toolChoice: null,
    parallelToolCalls: null,
    maxOutputTokens: null,
    candidates: 1,
    sampling: {},
    outputFormat: null,
    reasoning: null,
    user: null,
    metadata: null,
    extras
  }
}
