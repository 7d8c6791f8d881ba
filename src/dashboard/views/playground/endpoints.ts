/** The ten endpoints of the playground: which fields each takes, and the request that is made of them. */
import { linesOf, type Draft, numberOf } from "./draft.ts"

export const endpoints = [
  "chat",
  "completions",
  "embeddings",
  "images",
  "audio",
  "speech",
  "transcriptions",
  "moderations",
  "rerank",
  "search"
] as const
export type Endpoint = (typeof endpoints)[number]

export const isEndpoint = (text: string): text is Endpoint => (endpoints as ReadonlyArray<string>).includes(text)

export type FieldName =
  | "system"
  | "prompt"
  | "params"
  | "tools"
  | "schema"
  | "images"
  | "documents"
  | "count"
  | "size"
  | "voice"
  | "seconds"
  | "file"

/** Kind of the answer. */
export type AnswerKind = "stream" | "json" | "bytes"

export interface Asked {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** The file that goes with the body as a form; null: the body is JSON. */
  readonly file: File | null
  readonly answer: AnswerKind
}

/** A field that cannot be sent as it is. */
export class WrongField extends Error {
  readonly field: FieldName
  constructor(field: FieldName, message: string) {
    super(message)
    this.field = field
  }
}

interface Form {
  readonly path: string
  readonly fields: ReadonlyArray<FieldName>
  readonly answer: AnswerKind
  readonly body: (draft: Draft, model: string) => Readonly<Record<string, unknown>>
}

const params = (draft: Draft): Readonly<Record<string, unknown>> => {
  const stops = linesOf(draft.params.stop)
  const numbers = Object.entries(draft.params).flatMap(([name, text]) => {
    const value = name === "stop" ? null : numberOf(text)
    return value === null ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(numbers), ...(stops.length === 0 ? {} : { stop: stops }) }
}

export const paramsOf = params

const jsonOf = (field: "tools" | "schema", text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new WrongField(field, field)
  }
}

const toolsOf = ({ tools }: Draft): Readonly<Record<string, unknown>> => {
  if (tools.trim() === "") return {}
  const read = jsonOf("tools", tools)
  if (!Array.isArray(read)) throw new WrongField("tools", "tools")
  // A function alone is a tool, too.
  const isWhole = (one: unknown): boolean =>
    typeof one === "object" && one !== null && "type" in one && "function" in one
  return { tools: read.map((one: unknown) => (isWhole(one) ? one : { type: "function", function: one })) }
}

const schemaOf = ({ schema }: Draft): Readonly<Record<string, unknown>> => {
  if (schema.trim() === "") return {}
  const read = jsonOf("schema", schema)
  if (typeof read !== "object" || read === null || Array.isArray(read)) throw new WrongField("schema", "schema")
  return { response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema: read } } }
}

const chat = (draft: Draft, model: string): Readonly<Record<string, unknown>> => ({
  model,
  stream: true,
  stream_options: { include_usage: true },
  messages: [
    ...(draft.system === "" ? [] : [{ role: "system", content: draft.system }]),
    {
      role: "user",
      content:
        draft.images.length === 0
          ? draft.prompt
          : [
              { type: "text", text: draft.prompt },
              ...draft.images.map(({ url }) => ({ type: "image_url", image_url: { url } }))
            ]
    }
  ],
  ...params(draft),
  ...toolsOf(draft),
  ...schemaOf(draft)
})

const given = (name: string, text: string): Readonly<Record<string, unknown>> =>
  text.trim() === "" ? {} : { [name]: text.trim() }
const givenNumber = (name: string, text: string): Readonly<Record<string, unknown>> => {
  const value = numberOf(text)
  return value === null ? {} : { [name]: value }
}

export const forms: Readonly<Record<Endpoint, Form>> = {
  chat: {
    path: "v1/chat/completions",
    fields: ["prompt", "system", "params", "images", "tools", "schema"],
    answer: "stream",
    body: chat
  },
  completions: {
    path: "v1/completions",
    fields: ["prompt", "params"],
    answer: "stream",
    body: (draft, model) => ({
      model,
      prompt: draft.prompt,
      stream: true,
      stream_options: { include_usage: true },
      ...params(draft)
    })
  },
  embeddings: {
    path: "v1/embeddings",
    fields: ["prompt"],
    answer: "json",
    body: ({ prompt }, model) => ({ model, input: linesOf(prompt) })
  },
  images: {
    path: "v1/images/generations",
    fields: ["prompt", "count", "size"],
    answer: "json",
    body: ({ count, prompt, size }, model) => ({
      model,
      prompt,
      response_format: "b64_json",
      ...givenNumber("n", count),
      ...given("size", size)
    })
  },
  audio: {
    path: "v1/music/generations",
    fields: ["prompt", "seconds"],
    answer: "json",
    body: ({ prompt, seconds }, model) => ({ model, prompt, ...givenNumber("seconds", seconds) })
  },
  speech: {
    path: "v1/audio/speech",
    fields: ["prompt", "voice"],
    answer: "bytes",
    body: ({ prompt, voice }, model) => ({ model, input: prompt, voice: voice.trim() || "alloy" })
  },
  transcriptions: {
    path: "v1/audio/transcriptions",
    fields: ["file", "system"],
    answer: "json",
    body: ({ system }, model) => ({ model, ...given("prompt", system) })
  },
  moderations: {
    path: "v1/moderations",
    fields: ["prompt"],
    answer: "json",
    body: ({ prompt }, model) => ({ model, input: prompt })
  },
  rerank: {
    path: "v1/rerank",
    fields: ["prompt", "documents"],
    answer: "json",
    body: ({ documents, prompt }, model) => ({ model, query: prompt, documents: linesOf(documents) })
  },
  search: {
    path: "v1/search",
    fields: ["prompt", "count"],
    answer: "json",
    // A search has no model: what is typed there is the provider that is asked.
    body: ({ count, prompt }, model) => ({
      query: prompt,
      ...(model === "auto" ? {} : given("provider", model)),
      ...givenNumber("max_results", count)
    })
  }
}

/** The request of a column. Throws `WrongField` where something that was typed cannot be sent. */
export const askedOf = (endpoint: Endpoint, model: string, draft: Draft): Asked => {
  const { answer, body, path } = forms[endpoint]
  if (endpoint === "transcriptions" && draft.file === null) throw new WrongField("file", "file")
  return { path, body: body(draft, model), file: endpoint === "transcriptions" ? draft.file : null, answer }
}
