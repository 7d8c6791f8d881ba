/** `gateway search`: searches of the web, the providers of them, and what they have done. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SearchAnalytics, SearchAnswer, SearchProviders } from "../../../contract/compat/Search.ts"
import { BadArgument } from "../../Failure.ts"
import { taking } from "../../flags/Forms.ts"
import * as Client from "../../gateway/Client.ts"
import * as Inference from "../../gateway/Inference.ts"
import * as Column from "../../output/Column.ts"
import { usd } from "../../output/money.ts"
import * as Output from "../../output/Output.ts"

type Found = (typeof SearchAnswer.Type)["results"][number]
type Listed = (typeof SearchProviders.Type)["providers"][number]
type Counted = (typeof SearchAnalytics.Type)["providers"][number]

const columns: ReadonlyArray<Column.Column<Found>> = [
  Column.number("#", ({ position }) => position),
  Column.prose("TITLE", ({ title }) => title),
  Column.text("URL", ({ url }) => url, { isName: true }),
  Column.prose("EXCERPT", ({ snippet }) => snippet.replaceAll(/\s+/g, " "))
]

const providerColumns: ReadonlyArray<Column.Column<Listed>> = [
  Column.name("PROVIDER", ({ id }) => id),
  Column.yesNo("CONNECTED", ({ configured }) => configured),
  Column.text("SEARCHES", ({ types }) => types.join(", ")),
  Column.number("MOST RESULTS", (provider) => provider.max_results),
  Column.prose("CAN BE TOLD", ({ fields }) => fields.join(", "))
]

const countColumns: ReadonlyArray<Column.Column<Counted>> = [
  Column.name("PROVIDER", ({ provider }) => provider),
  Column.number("REQUESTS", ({ requests }) => requests, Column.thousands),
  Column.number("ERRORS", ({ errors }) => errors, Column.thousands),
  Column.number("MS", ({ avgLatencyMs }) => avgLatencyMs, Column.thousands),
  Column.number("FROM CACHE", ({ cacheHits }) => cacheHits, Column.thousands),
  Column.number("USD", ({ costUsd }) => costUsd, usd)
]

const noQuery = new BadArgument({
  message: "There is nothing to search for.",
  hint: "Say it: gateway search 'api gateways'."
})

const words = Args.text({ name: "query" }).pipe(Args.withDescription("What to search for."), Args.repeated)

const flags = {
  provider: Options.text("provider").pipe(
    Options.withDescription(
      "Only this provider; see 'gateway search providers'. Else those that are connected, by priority."
    ),
    Options.optional
  ),
  maxResults: Options.integer("max-results").pipe(
    Options.withAlias("n"),
    taking(Schema.Int.pipe(Schema.between(1, 100)), () => "--max-results must be a whole number from 1 to 100."),
    Options.withDescription("Most results, from 1 to 100; else 5."),
    Options.optional
  ),
  type: Options.choice("type", ["web", "news"] as const).pipe(
    Options.withDescription("What is searched; else the web."),
    Options.optional
  ),
  ...Client.connection
}

const optionalField = <A>(name: string, value: Option.Option<A>): Readonly<Record<string, A>> =>
  Option.isNone(value) ? {} : { [name]: value.value }

const hint = "'gateway search providers' shows which are connected; 'gateway provider add tavily' connects one."

export const searchWeb = Command.make(
  "web",
  { words, ...flags },
  ({ maxResults, provider, type, words: said, ...rest }) =>
    Effect.gen(function* () {
      const query = said.join(" ").trim()
      if (query === "") return yield* noQuery
      const to = yield* Client.target(rest)
      const body = {
        query,
        ...optionalField("provider", provider),
        ...optionalField("max_results", maxResults),
        ...optionalField("search_type", type)
      }
      const request = HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${to.url}/v1/search`), body)
      const response = yield* Inference.ask(to, request, hint)
      const answer = yield* Inference.jsonOf(to, SearchAnswer)(response)
      if (answer.answer !== null) yield* Output.remark(`${answer.answer}\n`)
      yield* Output.list({
        schema: SearchAnswer,
        value: answer,
        rows: answer.results,
        columns,
        empty: `${answer.provider} found nothing.`
      })
      const cost = answer.cached ? "kept from before" : `${usd(answer.usage.search_cost_usd)} USD`
      yield* Output.remark(`${answer.provider}, ${answer.metrics.response_time_ms} ms, ${cost}`)
    })
)

/** A list of an inference route. */
const listed = <A, I>(path: string, schema: Schema.Schema<A, I>, rest: Parameters<typeof Client.target>[0]) =>
  Effect.gen(function* () {
    const to = yield* Client.target(rest)
    const response = yield* Inference.ask(to, HttpClientRequest.get(to.url + path))
    return yield* Inference.jsonOf(to, schema)(response)
  })

export const searchProviders = Command.make("providers", Client.connection, (rest) =>
  Effect.gen(function* () {
    const value = yield* listed("/v1/search", SearchProviders, rest)
    const rows = value.providers
    yield* Output.list({ schema: SearchProviders, value, rows, columns: providerColumns, empty: "" })
  })
)

export const searchStats = Command.make("stats", Client.connection, (rest) =>
  Effect.gen(function* () {
    const value = yield* listed("/v1/search/analytics", SearchAnalytics, rest)
    yield* Output.list({
      schema: SearchAnalytics,
      value,
      rows: value.providers,
      columns: countColumns,
      empty: "Nothing was searched yet. Try 'gateway search api gateways'."
    })
  })
)
