/** Random requests, answers and streams of the gemini wire. */
import * as FC from "effect/FastCheck"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { text, word, members } from "./arbitraries.ts"

const args = FC.dictionary(word, FC.oneof(FC.integer(), text, FC.boolean(), FC.constant(null)), { maxKeys: 3 })
const signature = FC.constantFrom("c2ln", "c2lnMg==")

const userPart = FC.oneof(
  members({ text }, { partMetadata: FC.constant({ a: 1 }) }),
  FC.record({
    inlineData: FC.record({
      mimeType: FC.constantFrom("image/png", "audio/wav", "application/pdf"),
      data: FC.constant("AA==")
    })
  }),
  FC.record({
    fileData: members(
      { fileUri: FC.constantFrom("https://x.test/a.png", "files/1", "gs://b/o") },
      { mimeType: FC.constantFrom("image/png", "video/mp4") }
    )
  }),
  FC.record({ codeExecutionResult: FC.constant({ outcome: "OUTCOME_OK" }) })
)

const modelPart = FC.oneof(
  members({ text }, { thoughtSignature: signature }),
  members({ text, thought: FC.constant(true) }, { thoughtSignature: signature }),
  FC.record({ executableCode: FC.constant({ language: "PYTHON", code: "1" }) })
)

const content = (role: string, parts: ReadonlyArray<JsonObject>): JsonObject => ({ role, parts })

const talk = () =>
  FC.tuple(FC.array(userPart, { minLength: 1, maxLength: 3 }), FC.array(modelPart, { minLength: 1, maxLength: 3 })).map(
    ([asked, said]) => [content("user", asked), content("model", said)]
  )

const response = FC.oneof(
  text.map((output): JsonObject => ({ output })),
  text.map((error): JsonObject => ({ error })),
  args
)

const toolTurn = (turn: number) =>
  FC.tuple(
    FC.array(FC.tuple(args, response, FC.option(signature, { nil: undefined })), { minLength: 1, maxLength: 3 }),
    FC.boolean(),
    text
  ).map(([calls, named, said]) => {
    const id = (index: number) => (named ? { id: `c:${turn}/${index}` } : {})
    return [
      content("user", [{ text: said }]),
      content(
        "model",
        calls.map(([input, , thoughtSignature], index) => ({
          functionCall: { ...id(index), name: "look", args: input },
          ...(thoughtSignature === undefined ? {} : { thoughtSignature })
        }))
      ),
      content(
        "user",
        calls.map(([, result], index) => ({ functionResponse: { ...id(index), name: "look", response: result } }))
      ),
      content("model", [{ text: said }])
    ]
  })

const schema = FC.record({
  type: FC.constant("object"),
  properties: FC.dictionary(word, FC.constantFrom({ type: "string" }, { type: "integer", minimum: 1 }), {
    minKeys: 1,
    maxKeys: 3
  })
})

const tools = FC.constantFrom<ReadonlyArray<JsonObject>>([], [{ googleSearch: {} }, { urlContext: {} }]).chain(
  (builtins) =>
    FC.array(members({ name: word }, { description: text, parametersJsonSchema: schema, behavior: FC.constant("B") }), {
      minLength: 1,
      maxLength: 3
    }).map((functionDeclarations): ReadonlyArray<JsonObject> => builtins.concat([{ functionDeclarations }]))
)

const generationConfig = members(
  {},
  {
    temperature: FC.constantFrom(0, 0.5, 2),
    topP: FC.constantFrom(0.5, 1),
    topK: FC.constantFrom(1, 40),
    seed: FC.integer(),
    maxOutputTokens: FC.integer({ min: 1, max: 9000 }),
    stopSequences: FC.array(text, { minLength: 1, maxLength: 7 }),
    responseMimeType: FC.constant("application/json"),
    responseJsonSchema: schema,
    thinkingConfig: FC.constantFrom<JsonObject>(
      { thinkingBudget: 0 },
      { thinkingBudget: -1, includeThoughts: true },
      { thinkingBudget: 5000 },
      { thinkingLevel: "LOW", includeThoughts: false }
    ),
    mediaResolution: FC.constant("MEDIA_RESOLUTION_LOW")
  }
)

const withContents = (body: JsonObject, contents: ReadonlyArray<JsonObject>): JsonObject => ({
  ...body,
  contents: [...contents, content("user", [{ text: "last" }])]
})

/** As the edge hands it on, with `model` and `stream`. */
export const geminiRequest = FC.tuple(
  members(
    { model: word, stream: FC.boolean() },
    {
      systemInstruction: text.map((value) => ({ parts: [{ text: value }] })),
      tools,
      toolConfig: FC.constantFrom<JsonObject>(
        { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["a", "b"] } },
        { functionCallingConfig: { mode: "VALIDATED" } },
        { functionCallingConfig: { mode: "AUTO" }, retrievalConfig: {} }
      ),
      generationConfig,
      safetySettings: FC.constant([]),
      labels: FC.constant({ a: "b" })
    }
  ),
  FC.integer({ min: 1, max: 4 }).chain((length) =>
    FC.tuple(...Array.from({ length }, (_, index) => FC.oneof(talk(), toolTurn(index))))
  )
).map(([body, turns]) => withContents(body, turns.flat()))

const answerPart = FC.oneof(
  members({ text }, { thoughtSignature: signature }),
  members({ text, thought: FC.constant(true) }, { thoughtSignature: signature }),
  members({ functionCall: FC.record({ id: word, name: word, args }) }, { thoughtSignature: signature })
)

const finishReason = FC.constantFrom("STOP", "MAX_TOKENS", "SAFETY")
const usageMetadata = FC.tuple(FC.integer({ min: 9, max: 999 }), FC.nat(999), FC.nat(999), FC.nat(9)).map(
  ([prompt, candidates, thoughts, cached]): JsonObject => ({
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    thoughtsTokenCount: thoughts,
    cachedContentTokenCount: cached,
    totalTokenCount: prompt + candidates + thoughts
  })
)

const named = (candidate: JsonObject, more: JsonObject = {}): JsonObject => ({
  candidates: [{ ...candidate, index: 0 }],
  ...more,
  modelVersion: "m",
  responseId: "r"
})

export const geminiAnswer = FC.tuple(
  FC.array(answerPart, { minLength: 1, maxLength: 5 }),
  finishReason,
  usageMetadata
).map(([parts, finish, usage]) =>
  named({ content: { parts, role: "model" }, finishReason: finish }, { usageMetadata: usage })
)

const lastChunk = (finish: string, usage: JsonObject): JsonObject =>
  named({ content: { parts: [{ text: "" }], role: "model" }, finishReason: finish }, { usageMetadata: usage })

/** The chunks of a well-formed stream. */
export const geminiChunks = FC.tuple(
  FC.array(FC.array(answerPart, { minLength: 1, maxLength: 2 }), { maxLength: 6 }),
  finishReason,
  usageMetadata
).map(([steps, finish, usage]): ReadonlyArray<JsonObject> =>
  steps.map((parts) => named({ content: { parts, role: "model" } })).concat([lastChunk(finish, usage)])
)

/** A well-formed stream in one of the legal framings. */
export const geminiStream = FC.tuple(
  geminiChunks,
  FC.constantFrom("\n", "\r\n", "\r"),
  FC.constantFrom("data: ", "data:"),
  FC.boolean()
).map(([chunks, newline, field, comments]) =>
  chunks
    .map((chunk) => `${comments ? `: c${newline}` : ""}${field}${JSON.stringify(chunk)}${newline}${newline}`)
    .join("")
)
