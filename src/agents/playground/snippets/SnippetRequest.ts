/** Builds the request of a program for a trial in the playground. Pure. */
import {
  type PlaygroundEndpoint,
  type PlaygroundParams,
  playgroundParams,
  type PromptMessage
} from "../../../subjects/playground/entity.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import { searchAdapters } from "../../../wire/media/search/adapters/index.ts"

export interface Snippet {
  readonly endpoint: PlaygroundEndpoint
  readonly model: string
  readonly system?: string
  readonly messages?: ReadonlyArray<PromptMessage>
  readonly params?: PlaygroundParams
}

/** Call of the official SDK, and the shown part of its answer. */
export interface SdkCall {
  readonly method: string
  readonly shown: string
}

export interface SnippetRequest {
  readonly path: string
  /** Body as JSON; of a form its fields, which are texts. */
  readonly body: JsonObject
  /** The file that goes with it as a form; null: it is no form. */
  readonly file: string | null
  /** File for an answer that is no text; null: it is JSON. */
  readonly savedAs: string | null
  /** Null: the official SDK has no such call. */
  readonly sdk: SdkCall | null
  /** Path of the text in a JSON answer; null: all of it is shown. */
  readonly textAt: ReadonlyArray<string | number> | null
  /** Names of given values that this endpoint does not take. */
  readonly omitted: ReadonlyArray<string>
}

/** Placeholder for a missing prompt. */
const sample = "Hello!"
const sampleDocuments = ["Paris is the capital of France.", "Berlin is the capital of Germany."]
const maxQueryChars = 500

const textsOf = ({ messages = [] }: Snippet): ReadonlyArray<string> =>
  messages.flatMap(({ content, role }) => (role === "user" ? content : []))

const lastText = (snippet: Snippet): string => textsOf(snippet).at(-1) ?? sample

/** A search takes one line. */
const queryOf = (snippet: Snippet): string =>
  lastText(snippet)
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, maxQueryChars)

/** A search has no model: what is there may be the name of the provider that is to be asked. */
const searchOf = (snippet: Snippet): JsonObject => ({
  ...(Object.hasOwn(searchAdapters, snippet.model) ? { provider: snippet.model } : { model: snippet.model }),
  query: queryOf(snippet) || sample
})

/** A form's field is no JSON: only line ends and tabs of it are kept as they are. */
const plainText = (text: string): string => text.replaceAll(/(?![\n\t])\p{Cc}/gu, "")

/** The first text is the question, the others are what is ordered. */
const rerankOf = (snippet: Snippet): JsonObject => {
  const [query = sample, ...documents] = textsOf(snippet)
  return { query, documents: documents.length === 0 ? sampleDocuments : documents }
}

const chatOf = (snippet: Snippet): JsonObject => {
  const { messages = [{ role: "user", content: sample }], system } = snippet
  const asked = messages.length === 0 ? [{ role: "user" as const, content: sample }] : messages
  const told: ReadonlyArray<PromptMessage> =
    system === undefined || system === "" ? asked : [{ role: "system", content: system }, ...asked]
  return { messages: told.map(({ content, role }) => ({ role, content })) }
}

interface Form {
  readonly path: string
  readonly of: (snippet: Snippet) => JsonObject
  /** `of` says it, or something in its place. */
  readonly namesModel?: true
  readonly takes: ReadonlyArray<keyof PlaygroundParams>
  readonly takesSystem?: true
  readonly sdk: SdkCall | null
  readonly textAt?: ReadonlyArray<string | number>
  readonly file?: string
  readonly savedAs?: string
}

const forms: Readonly<Record<PlaygroundEndpoint, Form>> = {
  chat: {
    path: "/v1/chat/completions",
    of: chatOf,
    takes: playgroundParams,
    takesSystem: true,
    sdk: { method: "chat.completions.create", shown: "response.choices[0]?.message.content" },
    textAt: ["choices", 0, "message", "content"]
  },
  completions: {
    path: "/v1/completions",
    of: (snippet) => ({ prompt: lastText(snippet) }),
    takes: playgroundParams,
    sdk: { method: "completions.create", shown: "response.choices[0]?.text" },
    textAt: ["choices", 0, "text"]
  },
  embeddings: {
    path: "/v1/embeddings",
    of: (snippet) => ({ input: lastText(snippet) }),
    takes: [],
    sdk: { method: "embeddings.create", shown: "response.data[0]?.embedding" },
    textAt: ["data", 0, "embedding"]
  },
  images: {
    path: "/v1/images/generations",
    of: (snippet) => ({ prompt: lastText(snippet) }),
    takes: [],
    sdk: { method: "images.generate", shown: "response.data" }
  },
  audio: {
    path: "/v1/music/generations",
    of: (snippet) => ({ prompt: lastText(snippet) }),
    takes: [],
    sdk: null
  },
  speech: {
    path: "/v1/audio/speech",
    of: (snippet) => ({ input: lastText(snippet), voice: "alloy" }),
    takes: [],
    sdk: { method: "audio.speech.create", shown: "" },
    savedAs: "speech.mp3"
  },
  transcriptions: {
    path: "/v1/audio/transcriptions",
    of: ({ system }) => (system === undefined || system === "" ? {} : { prompt: plainText(system) }),
    takes: ["temperature"],
    takesSystem: true,
    sdk: { method: "audio.transcriptions.create", shown: "response.text" },
    textAt: ["text"],
    file: "audio.mp3"
  },
  moderations: {
    path: "/v1/moderations",
    of: (snippet) => ({ input: lastText(snippet) }),
    takes: [],
    sdk: { method: "moderations.create", shown: "response.results" }
  },
  rerank: { path: "/v1/rerank", of: rerankOf, takes: [], sdk: null },
  search: { path: "/v1/search", of: searchOf, namesModel: true, takes: [], sdk: null }
}

export const requestOf = (snippet: Snippet): SnippetRequest => {
  const { endpoint, messages = [], model, params = {}, system = "" } = snippet
  const form = forms[endpoint]
  const kept = playgroundParams.filter((name) => params[name] !== undefined && form.takes.includes(name))
  const values = Object.fromEntries(kept.map((name) => [name, params[name]]))
  const omitted = playgroundParams.filter((name) => params[name] !== undefined && !form.takes.includes(name))
  const isHeard = endpoint === "transcriptions"
  return {
    path: form.path,
    body: { ...(form.namesModel === true ? {} : { model }), ...form.of(snippet), ...values },
    file: form.file ?? null,
    savedAs: form.savedAs ?? null,
    sdk: form.sdk,
    textAt: form.textAt ?? null,
    omitted: [
      ...(system !== "" && form.takesSystem !== true ? ["system"] : []),
      ...(isHeard && messages.length > 0 ? ["messages"] : []),
      ...omitted
    ]
  }
}
