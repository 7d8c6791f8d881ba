/**
 * Searches, as a variant of the chat wire's codec: its errors are OpenAI's. The request is one that was read (`Request.ts`), as the member
 * `search` of the body.
 */
import * as Either from "effect/Either"
import type { MediaAdapter, SearchAdapterName } from "../../../contract/domain/MediaKind.ts"
import { noTokens } from "../../../contract/domain/Usage.ts"
import type { Usage } from "../../canonical/Usage.ts"
import { chat } from "../../chat/Codec.ts"
import { invalidField } from "../../json/FieldReader.ts"
import { isArray, isObject, type Json, type JsonObject, optional, stringOr } from "../../json/Json.ts"
import { answersOf, valueIn } from "../OpaqueAnswer.ts"
import { envelopeOf, wholeRequest } from "../WholeRequest.ts"
import type { AnswerLimits, EncodedRequest, WireCodec } from "../../WireCodec.ts"
import { searchAdapters } from "./adapters/index.ts"
import { cut, isWebAddress } from "./Reading.ts"
import { asksFor, type AskedAs, type Found, type Search, type SearchAdapter, searchModel } from "./Search.ts"

/** A hundred results with the text of their pages; and people wait for a search. */
const limits: AnswerLimits = { answerBytes: 8 * 1_048_576, firstByteMs: 30_000, idleMs: 10_000, totalMs: 120_000 }

const maxTitleChars = 1_000
const maxSnippetChars = 10_000
const maxContentChars = 100_000
const maxAnswerChars = 100_000

/** A request for the pipeline. */
export const bodyOf = (search: Search, model: string): JsonObject => ({ model, search: { ...search } })

/** Returns the search that `bodyOf` put into the body. */
const searchIn = (body: JsonObject): Search => body["search"] as unknown as Search

const queryOf = (members: AskedAs["members"]): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) {
    if (value === null || value === undefined) continue
    query.append(name, typeof value === "object" ? JSON.stringify(value) : String(value))
  }
  return query.toString()
}

const definedMembers = (members: AskedAs["members"]): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))

const encodeFor = (adapter: SearchAdapter, search: Search): EncodedRequest => {
  const asked = { ...search, maxResults: Math.min(search.maxResults, adapter.mostResults) }
  const { members, method, values = {} } = adapter.ask(asked)
  const all = { ...members, ...search.options }
  const isGet = method === "GET"
  return {
    method,
    body: isGet ? {} : definedMembers(all),
    place: { values, query: isGet ? queryOf(all) : "" },
    dropped: asksFor(search).filter((ability) => !adapter.can.has(ability)),
    mapped: asked.maxResults < search.maxResults ? ["max_results"] : []
  }
}

const valueOf = ({ answer = null, results, total = null }: Found): JsonObject => ({
  results: results.map((result): JsonObject => ({ ...result })),
  answer,
  total
})

const usageOf = (adapter: SearchAdapter, search: Search): Usage => ({
  ...noTokens,
  units: { searchUnits: adapter.units?.(search) ?? 1 }
})

/** The codec of a provider for one search. */
const upstreamOf = (adapter: SearchAdapter, search: Search): WireCodec => {
  const answers = answersOf("search", "results", {
    valueOf: (body) => {
      const found = adapter.read(body, search)
      return found === null ? null : valueOf(found)
    },
    usageOf: () => usageOf(adapter, search)
  })
  return {
    ...chat,
    endpoint: "search",
    limits,
    encodeRequest: () => encodeFor(adapter, search),
    ...answers,
    readAnswer: (body, dialect) => {
      const facts = answers.readAnswer(body, dialect)
      // Some report as text under `error` that nothing was found.
      return facts.hasContent && facts.stop === null
        ? { ...facts, stop: { reason: "stop", raw: "stop", sequence: null } }
        : facts
    }
  }
}

const isSearchAdapter = (name: MediaAdapter): name is SearchAdapterName => Object.hasOwn(searchAdapters, name)

const shown = (result: Json, search: Search): ReadonlyArray<JsonObject> => {
  if (!isObject(result)) return []
  const content = search.fullPage ? stringOr(result["content"]) : null
  return [
    {
      ...result,
      title: cut(stringOr(result["title"]) ?? "", maxTitleChars),
      snippet: search.snippet ? cut(stringOr(result["snippet"]) ?? "", maxSnippetChars) : "",
      content: content === null ? null : cut(content, search.maxCharacters ?? maxContentChars)
    }
  ]
}

const isShown = (result: Json): boolean =>
  isObject(result) &&
  isWebAddress(stringOr(result["url"]) ?? "") &&
  ["title", "snippet"].every((name) => typeof (result[name] ?? "") === "string")

/** The client's side. */
export const searches: WireCodec = {
  ...chat,
  endpoint: "search",
  upstreamPath: "/search",
  maxCandidates: 1,
  mediaUsage: () => ({ ...noTokens, units: { searchUnits: 1 } }),
  peer: (wire, body, adapter) =>
    wire === "chat" && adapter !== null && isSearchAdapter(adapter)
      ? upstreamOf(searchAdapters[adapter], searchIn(body))
      : null,
  checkEnvelope: (body) =>
    isObject(body) && isObject(body["search"])
      ? Either.right(envelopeOf(stringOr(body["model"]) ?? searchModel))
      : Either.left(invalidField("search", "a search is required")),
  decodeRequest: (body) => Either.right(wholeRequest(body, stringOr(body["model"]) ?? searchModel)),
  isOwnAnswer: ({ results }) => isArray(results) && results.every(isShown),
  encodeResponse: (response, { request = {} }) => {
    const { answer, results, total } = valueIn("search", response)
    const search = searchIn(request)
    const found = isArray(results) ? results.flatMap((result) => shown(result, search)) : []
    const words = stringOr(answer)
    return {
      results: found.slice(0, search.maxResults),
      answer: words === null ? null : cut(words, maxAnswerChars),
      ...optional("total", total)
    }
  }
}
