/** How the gemini wire says the rows of the request table. */
import type { RequestFieldId } from "../../../../src/wire/fields/RequestFields.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"

const png = "iVBORw0KGgoAAAANSUhEUgAA"
const schema = { type: "object", properties: { a: { type: "string" } } }
/** As every wire takes it: closed, and with all it has required. */
const closed = { ...schema, required: ["a"], additionalProperties: false }

const contents = (...list: ReadonlyArray<JsonObject>): JsonObject => ({ contents: list })
const user = (...parts: ReadonlyArray<JsonObject>): JsonObject => ({ role: "user", parts })
const model = (...parts: ReadonlyArray<JsonObject>): JsonObject => ({ role: "model", parts })
const hi = user({ text: "Hi" })
const inline = (mimeType: string, data: string, more: JsonObject = {}): JsonObject =>
  contents(user({ inlineData: { mimeType, data, ...more } }))
const linked = (fileUri: string, mimeType: string): JsonObject => contents(user({ fileData: { fileUri, mimeType } }))

const call = (args: JsonObject, response: JsonObject, more: JsonObject = {}, id = "t"): JsonObject =>
  contents(
    hi,
    model({ functionCall: { id, name: "f", args } }),
    user({ functionResponse: { id, name: "f", response, ...more } })
  )

const declare = (...names: ReadonlyArray<string>): JsonObject => ({
  tools: [{ functionDeclarations: names.map((name) => ({ name, description: "d", parametersJsonSchema: schema })) }]
})
const choose = (functionCallingConfig: JsonObject): JsonObject => ({
  ...declare("f", "g", "h"),
  toolConfig: { functionCallingConfig }
})
const config = (generationConfig: JsonObject): JsonObject => ({ generationConfig })
const thinks = (thinkingConfig: JsonObject): JsonObject => config({ thinkingConfig })

export const geminiRequests: Partial<Readonly<Record<RequestFieldId, JsonObject>>> = {
  system: { systemInstruction: { parts: [{ text: "s" }] } },
  userText: contents(user({ text: "a" })),
  userTexts: contents(user({ text: "a" }, { text: "b" })),
  imageInline: inline("image/png", png),
  imageUrl: linked("https://x.test/a.png", "image/png"),
  imageId: linked("files/1", "image/png"),
  filePdf: inline("application/pdf", "AAAA"),
  fileText: inline("text/plain", "AAAA"),
  fileName: inline("application/pdf", "AAAA", { displayName: "a.pdf" }),
  fileUrl: linked("https://x.test/a.pdf", "application/pdf"),
  fileId: linked("files/1", "application/pdf"),
  audio: inline("audio/wav", "AAAA"),
  video: inline("video/mp4", "AAAA"),
  opaqueBlock: contents(hi, model({ text: "a" }, { executableCode: { language: "PYTHON", code: "1" } }), hi),
  reasoningHistory: contents(hi, model({ text: "hm", thought: true }, { text: "a" }), hi),
  reasoningSigned: contents(hi, model({ text: "hm", thought: true, thoughtSignature: "c2ln" }, { text: "a" }), hi),
  toolCall: call({ a: 1 }, { output: "r" }),
  toolCallOddId: call({}, { output: "r" }, {}, "a:b"),
  toolResult: call({}, { output: "r" }),
  toolResultImage: call({}, { output: "r" }, { parts: [{ inlineData: { mimeType: "image/png", data: png } }] }),
  toolResultError: call({}, { error: "r" }),
  tool: declare("f"),
  toolBuiltin: { tools: [{ codeExecution: {} }] },
  toolWebSearch: { tools: [{ googleSearch: {} }] },
  toolChoiceNone: choose({ mode: "NONE" }),
  toolChoiceRequired: choose({ mode: "ANY" }),
  toolChoiceNamed: choose({ mode: "ANY", allowedFunctionNames: ["f"] }),
  toolChoiceAllowed: choose({ mode: "ANY", allowedFunctionNames: ["f", "g"] }),
  maxOutputTokens: config({ maxOutputTokens: 77 }),
  maxOutputTokensLow: config({ maxOutputTokens: 5 }),
  temperature: config({ temperature: 0.5 }),
  temperatureHigh: config({ temperature: 1.5 }),
  topP: config({ topP: 0.5 }),
  topK: config({ topK: 5 }),
  stop: config({ stopSequences: ["a", "b"] }),
  stopMany: config({ stopSequences: ["a", "b", "c", "d", "e"] }),
  seed: config({ seed: 7 }),
  presencePenalty: config({ presencePenalty: 0.5 }),
  frequencyPenalty: config({ frequencyPenalty: 0.5 }),
  logprobs: config({ responseLogprobs: true }),
  topLogprobs: config({ logprobs: 2 }),
  candidates: config({ candidateCount: 2 }),
  jsonAny: config({ responseMimeType: "application/json" }),
  jsonSchema: config({ responseMimeType: "application/json", responseJsonSchema: closed }),
  reasoningEffort: thinks({ thinkingLevel: "HIGH" }),
  reasoningBudget: { generationConfig: { maxOutputTokens: 8000, thinkingConfig: { thinkingBudget: 4096 } } },
  reasoningOff: thinks({ thinkingBudget: 0 }),
  reasoningShown: {
    generationConfig: { maxOutputTokens: 8000, thinkingConfig: { thinkingBudget: 4096, includeThoughts: false } }
  },
  stream: { stream: true },
  safetySettings: { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }] },
  cachedContent: { cachedContent: "cachedContents/1" },
  responseModalities: config({ responseModalities: ["TEXT", "IMAGE"] }),
  ownMember: { labels: { a: "b" } },
  ownOption: config({ mediaResolution: "MEDIA_RESOLUTION_LOW" })
}
