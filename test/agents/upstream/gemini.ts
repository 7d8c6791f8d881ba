/** A generative-language upstream that wants the signature of its thoughts on the first call of each step, as Gemini 3 does. */
import { data, halves, list, type Loose, nameProblems, textOf, type Turn, type UpstreamWire, usage } from "./Words.ts"

/** Accepted in place of a missing signature. */
const pardon = "skip_thought_signature_validator"

/** Keywords the `parameters` of a declaration may not use. A property may well have such a name. */
const foreign = [
  "$schema",
  "$ref",
  "$defs",
  "additionalProperties",
  "const",
  "oneOf",
  "exclusiveMinimum",
  "exclusiveMaximum"
]

const schemaProblems = (schema: Loose, at: string): ReadonlyArray<string> => {
  if (schema === null || typeof schema !== "object") return []
  return [
    ...foreign.filter((word) => word in schema).map((word) => `${at}: ${word}`),
    ...(Array.isArray(schema.type) ? [`${at}: a list of types`] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, value]) => schemaProblems(value, `${at}.${name}`)),
    ...schemaProblems(schema.items, `${at}[]`)
  ]
}

const declarationProblems = (declaration: Loose): ReadonlyArray<string> => [
  ...(declaration.parameters !== undefined && declaration.parametersJsonSchema !== undefined
    ? [`${declaration.name}: two schemas`]
    : []),
  ...schemaProblems(declaration.parameters, declaration.name)
]

const contentProblems = (contents: ReadonlyArray<Loose>, knows: (proof: string) => boolean): ReadonlyArray<string> =>
  contents.flatMap((content, index) => {
    const at = `contents[${index}]`
    const parts = list(content.parts)
    const calls = parts.filter((part) => part.functionCall !== undefined)
    const answers = list(contents[index + 1]?.parts).filter((part) => part.functionResponse !== undefined)
    const signature = calls[0]?.thoughtSignature
    return [
      ...(content.role === "user" || content.role === "model" ? [] : [`${at}.role ${content.role}`]),
      ...(parts.length === 0 ? [`${at} has no parts`] : []),
      ...(calls.length === answers.length ? [] : [`${at}: ${calls.length} calls, ${answers.length} answers`]),
      ...(calls.length === 0 || signature === pardon || knows(signature)
        ? []
        : [`${at}: the call's thoughtSignature is ${signature}`]),
      ...parts
        .filter(
          (part) =>
            part.thoughtSignature !== undefined && part.thoughtSignature !== pardon && !knows(part.thoughtSignature)
        )
        .map((part) => `${at}: thoughtSignature ${part.thoughtSignature} is not ours`)
    ]
  })

const tokens = {
  promptTokenCount: usage.in,
  cachedContentTokenCount: usage.cached,
  candidatesTokenCount: usage.out - usage.reasoning,
  thoughtsTokenCount: usage.reasoning,
  totalTokenCount: usage.in + usage.out
}

const partsOf = (turn: Turn, pieces: (text: string) => ReadonlyArray<string>): ReadonlyArray<Loose> => [
  ...pieces(turn.reasoning).map((text) => ({ text, thought: true })),
  ...pieces(turn.text).map((text) => ({ text })),
  ...(turn.call === null
    ? []
    : [
        { functionCall: { id: turn.call.id, name: turn.call.tool, args: turn.call.args }, thoughtSignature: turn.proof }
      ])
]

const answer = (turn: Turn, parts: ReadonlyArray<Loose>, finishReason?: string) => ({
  candidates: [
    { index: 0, content: { role: "model", parts }, ...(finishReason === undefined ? {} : { finishReason }) }
  ],
  usageMetadata: tokens,
  modelVersion: "gemini-3-scripted",
  responseId: turn.id
})

export const gemini: UpstreamWire = {
  name: "gemini",
  label: "gemini",
  model: "gemini-3-scripted",
  node: (origin) => ({ type: "gemini-compatible", baseUrl: `${origin}/v1beta` }),
  path: /^\/v1beta\/models\/[^/]+:(generateContent|streamGenerateContent\?alt=sse)$/u,
  contentType: "text/event-stream",
  proofOf: (turn) => turn.proof,
  read: (body, knows, { url }) => {
    const contents = list(body.contents)
    const parts = contents.flatMap((content) => list(content.parts))
    const declarations = list(body.tools).flatMap((tool) => list(tool.functionDeclarations))
    const names = declarations.map((declaration) => declaration.name)
    return {
      stream: url.includes(":streamGenerateContent"),
      tools: names,
      results: parts.flatMap((part) =>
        part.functionResponse === undefined ? [] : [textOf(part.functionResponse.response)]
      ),
      proofs: parts.flatMap((part) => (part.thoughtSignature === undefined ? [] : [part.thoughtSignature])),
      problems: [
        ...(contents.length === 0 ? ["contents is empty"] : []),
        ...contentProblems(contents, knows),
        ...declarations.flatMap(declarationProblems),
        ...nameProblems(names)
      ]
    }
  },
  stream: (turn) => [
    ...partsOf(turn, halves).map((part) => data(answer(turn, [part]))),
    data(answer(turn, [{ text: "" }], "STOP"))
  ],
  whole: (turn) =>
    answer(
      turn,
      partsOf(turn, (text) => (text === "" ? [] : [text])),
      "STOP"
    )
}
