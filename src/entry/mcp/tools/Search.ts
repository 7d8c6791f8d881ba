/** Tools that search: the web, and the tools themselves. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SearchAnswer, SearchRequest } from "../../../contract/compat/Search.ts"
import type { Principal } from "../../../subjects/keys/entity.ts"
import { field } from "../../../kernel/Documented.ts"
import { toolProblem } from "../../../agents/mcp/Server.ts"
import type { Tool } from "../../../agents/mcp/Tool.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import { optional, schemaTool, refusedBy } from "../SchemaTool.ts"

/** Asks `POST /v1/search` in a caller's name. */
export type AskSearch = (
  body: JsonObject,
  principal: Principal
) => Effect.Effect<{ readonly status: number; readonly body: JsonObject }>

const { content, filters, language, max_results, offset, provider, query, search_type, time_range } =
  SearchRequest.fields

export const webSearch = (ask: AskSearch, errorOf: (status: number, body: JsonObject) => string): Tool =>
  schemaTool({
    name: "web_search",
    category: "search",
    title: "Search the web",
    description: "Asks a connected search provider, as POST /v1/search does: with limits, cost and a cache.",
    scopes: ["execute:search"],
    effect: "read",
    isOpenWorld: true,
    input: Schema.Struct({ query, provider, max_results, search_type, offset, language, time_range, content, filters }),
    output: SearchAnswer,
    run: (input, { caller }) =>
      Effect.flatMap(ask(input as unknown as JsonObject, caller.principal), ({ body, status }) =>
        status >= 400 ? refusedBy(status, errorOf(status, body)) : Effect.succeed(body)
      )
  })

const Found = Schema.Struct({
  name: field(Schema.String, "As it is called."),
  title: field(Schema.String, "What it does, in short."),
  description: field(Schema.String, "What it does."),
  readOnly: field(Schema.Boolean, "Whether it changes nothing.")
})

const usualTools = 10

/** Rates how well a tool fits the words: hits in its name count most. */
const fit = ({ description, name, title }: Tool, words: ReadonlyArray<string>): number => {
  const [short, long] = [`${name} ${title}`.toLowerCase(), description.toLowerCase()]
  return words.reduce((sum, word) => sum + (short.includes(word) ? 3 : 0) + (long.includes(word) ? 1 : 0), 0)
}

/** `all` gives the tools of a caller, this one among them. */
export const toolSearch = (
  all: (caller: Parameters<Tool["call"]>[1]["caller"]) => Effect.Effect<ReadonlyArray<Tool>>
): Tool =>
  schemaTool({
    name: "tool_search",
    title: "Find tools by words",
    description: "The tools that this caller may call and that fit the words best.",
    scopes: ["read:tools"],
    effect: "read",
    input: Schema.Struct({
      query: field(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(500)), "Words, such as `quota left`."),
      limit: field(optional(Schema.Int.pipe(Schema.between(1, 100))), `Most tools; absent: ${usualTools}.`)
    }),
    output: Schema.Struct({ tools: field(Schema.Array(Found), "The best first.") }),
    run: ({ limit = usualTools, query: asked }, { caller }) =>
      Effect.map(all(caller), (tools) => {
        const words = asked.toLowerCase().split(/\W+/).filter(Boolean).slice(0, 20)
        return {
          tools: tools
            .filter((tool) => toolProblem(tool, caller) === null)
            .map((tool) => ({ tool, score: fit(tool, words) }))
            .filter(({ score }) => score > 0)
            .toSorted((a, b) => b.score - a.score)
            .slice(0, limit)
            .map(({ tool: { description, effect, name, title } }) => ({
              name,
              title,
              description,
              readOnly: effect === "read"
            }))
        }
      })
  })
