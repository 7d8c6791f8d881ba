/** How the gemini wire says the rows of the answer table. */
import type { AnswerFieldId } from "../../../../src/wire/fields/AnswerFields.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"

const answer = (
  parts: ReadonlyArray<JsonObject>,
  finishReason = "STOP",
  usage: JsonObject = {},
  candidate: JsonObject = {}
): JsonObject => ({
  candidates: [{ index: 0, content: { role: "model", parts }, finishReason, ...candidate }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14, ...usage },
  modelVersion: "m",
  responseId: "x"
})

const grounded = {
  webSearchQueries: ["q"],
  groundingChunks: [{ web: { uri: "https://x.test", title: "X" } }],
  groundingSupports: [{ segment: { endIndex: 1, text: "a" }, groundingChunkIndices: [0] }]
}
const text = answer([{ text: "a" }])
const call = answer([{ functionCall: { id: "t", name: "f", args: { a: 1 } } }])

export const geminiAnswers: Partial<Readonly<Record<AnswerFieldId, JsonObject>>> = {
  id: text,
  model: text,
  created: { ...text, createTime: "2023-11-14T22:13:20Z" },
  text,
  texts: answer([{ text: "a" }, { text: "a" }]),
  reasoning: answer([{ text: "hm", thought: true }, { text: "a" }]),
  reasoningProof: answer([{ text: "hm", thought: true, thoughtSignature: "c2ln" }, { text: "a" }]),
  toolCall: call,
  serverTool: answer([{ executableCode: { language: "PYTHON", code: "1" } }, { text: "a" }]),
  picture: answer([{ text: "a" }, { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }]),
  sound: answer([{ text: "a" }, { inlineData: { mimeType: "audio/wav", data: "iVBORw0KGgo=" } }]),
  webSearch: answer([{ text: "a" }], "STOP", {}, { groundingMetadata: grounded }),
  citations: answer([{ text: "a" }], "STOP", {}, { groundingMetadata: grounded }),
  logprobs: answer([{ text: "a" }], "STOP", {}, { logprobsResult: { chosenCandidates: [{ token: "a" }] } }),
  stopEnd: text,
  stopLength: answer([{ text: "a" }], "MAX_TOKENS"),
  stopTools: call,
  stopFilter: answer([{ text: "a" }], "SAFETY"),
  usageIn: text,
  usageOut: text,
  usageCacheRead: answer([{ text: "a" }], "STOP", { cachedContentTokenCount: 4 }),
  usageReasoning: answer([{ text: "a" }], "STOP", { thoughtsTokenCount: 4 })
}
