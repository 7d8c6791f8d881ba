/** Searches of the web. */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { anyObject, maybe, others } from "./Open.ts"

const Domains = Schema.Array(Schema.String)

export const SearchRequest = Schema.Struct(
  {
    query: field(Schema.String, "What is searched for; at most 500 characters.", "what is an API gateway"),
    provider: field(
      maybe(Schema.String),
      "Only this provider, by its id in `GET /v1/search`; absent: those that are connected, by priority.",
      "tavily"
    ),
    max_results: field(maybe(Schema.Number), "Most results, from 1 to 100; absent: 5.", 3),
    search_type: field(maybe(Schema.Literal("web", "news")), "What is searched; absent: `web`.", "web"),
    offset: field(maybe(Schema.Number), "Results to pass over, from 0 to 1000. Many providers count whole pages.", 0),
    country: field(maybe(Schema.String), "Two letters of ISO 3166.", "DE"),
    language: field(maybe(Schema.String), "A language tag.", "en"),
    time_range: field(
      maybe(Schema.Literal("day", "week", "month", "year", "any")),
      "How old results may be; absent: `any`.",
      "month"
    ),
    content: field(
      maybe(
        Schema.Struct({
          snippet: field(maybe(Schema.Boolean), "Whether results have an excerpt; absent: true.", true),
          full_page: field(maybe(Schema.Boolean), "Whether they have the text of the page.", false),
          format: field(maybe(Schema.Literal("text", "markdown")), "How that is written.", "text"),
          max_characters: field(maybe(Schema.Number), "Most characters of it.", 2_000)
        })
      ),
      "What results hold."
    ),
    filters: field(
      maybe(
        Schema.Struct({
          include_domains: field(maybe(Domains), "Only pages of these hosts, at most 100.", ["example.com"]),
          exclude_domains: field(maybe(Domains), "No pages of these hosts, at most 100.", ["example.org"]),
          safe_search: field(
            maybe(Schema.Union(Schema.Literal("off", "moderate", "strict"), Schema.Boolean)),
            "How strictly unsuitable pages are left out.",
            "moderate"
          )
        })
      ),
      "Which pages."
    ),
    synthesis: field(maybe(Schema.Boolean), "Whether an answer in words is wanted.", false),
    provider_options: field(maybe(anyObject), "Members of the provider's own form; only with `provider`.", {
      search_depth: "basic"
    }),
    strict_filters: field(
      maybe(Schema.Boolean),
      "Only providers that can be told all of the request; else what one cannot be told is named in `X-Gateway-Dropped`.",
      false
    )
  },
  others
).annotations({ identifier: "SearchRequest", description: "A search of the web." })

const Result = Schema.Struct({
  title: field(Schema.String, "Title of the page.", "What is an API gateway?"),
  url: field(Schema.String, "Its address.", "https://example.com/gateways"),
  display_url: field(Schema.String, "Host and path of it.", "example.com/gateways"),
  snippet: field(Schema.String, "An excerpt.", "A gateway passes requests on."),
  position: field(Schema.Number, "From 1.", 1),
  score: field(Schema.NullOr(Schema.Number), "How well it fits, as the provider counts; null: it does not say.", 0.98),
  published_at: field(Schema.NullOr(Schema.String), "As the provider writes it; null: it does not say.", "2035-01-01"),
  favicon_url: field(Schema.NullOr(Schema.String), "The site's icon; null: it is not known.", null),
  content: field(Schema.NullOr(Schema.String), "The text of the page, where it was asked for and is known.", null),
  metadata: field(anyObject, "What else the provider says.", { language: "en" }),
  citation: field(
    Schema.Struct({
      provider: field(Schema.String, "Who found it.", "tavily"),
      retrieved_at: field(Schema.String, "When; ISO 8601.", "2035-01-01T00:00:00.000Z"),
      rank: field(Schema.Number, "Its position there.", 1)
    }),
    "Where it comes from."
  )
}).annotations({ identifier: "SearchResult", description: "A page that was found." })

export const SearchAnswer = Schema.Struct({
  id: field(Schema.String, "Id of the request.", "0199aa6e-6f0b-7d3c-8f52-a1b2c3d4e5f6"),
  object: field(Schema.Literal("search"), "Always `search`.", "search"),
  provider: field(Schema.String, "The provider that answered.", "tavily"),
  query: field(Schema.String, "What was searched for.", "what is an API gateway"),
  results: field(Schema.Array(Result), "Best first."),
  answer: field(Schema.NullOr(Schema.String), "An answer in words, where the provider gives one.", null),
  usage: field(
    Schema.Struct({
      queries_used: field(Schema.Number, "Searches that were paid for; 0: the answer was kept from before.", 1),
      search_cost_usd: field(Schema.Number, "What this request has cost.", 0.008),
      llm_tokens: field(Schema.Number, "Always 0: no model is asked.", 0)
    }),
    "What it took."
  ),
  metrics: field(
    Schema.Struct({
      response_time_ms: field(Schema.Number, "Milliseconds at the gateway.", 412),
      upstream_latency_ms: field(
        Schema.NullOr(Schema.Number),
        "Milliseconds of the provider's call; null: there was none.",
        405
      ),
      total_results_available: field(
        Schema.NullOr(Schema.Number),
        "How many pages there are; null: it does not say.",
        120
      )
    }),
    "How long it took."
  ),
  cached: field(Schema.Boolean, "Whether the answer was kept from before, or shared with another request.", false),
  errors: field(Schema.Array(anyObject), "Calls that failed before.", [
    { provider: "brave", status: 503, reason: "http_503" }
  ])
}).annotations({ identifier: "SearchAnswer", description: "What a search found." })

export const SearchProviders = Schema.Struct({
  providers: field(
    Schema.Array(
      Schema.Struct({
        id: field(Schema.String, "What `provider` of a search names.", "tavily"),
        configured: field(Schema.Boolean, "Whether an active connection can be asked.", true),
        types: field(Schema.Array(Schema.String), "What it can search.", ["web", "news"]),
        max_results: field(Schema.Number, "Most results of one search.", 20),
        fields: field(Schema.Array(Schema.String), "What of a request it can be told, beside the query.", ["country"])
      })
    ),
    "All that are known."
  )
}).annotations({ identifier: "SearchProviders", description: "The providers of searches." })

export const SearchAnalytics = Schema.Struct({
  providers: field(
    Schema.Array(
      Schema.Struct({
        provider: field(Schema.String, "Id of the provider.", "tavily"),
        requests: field(Schema.Number, "Calls of it, and answers that were kept from it.", 120),
        errors: field(Schema.Number, "Calls that failed.", 2),
        avgLatencyMs: field(
          Schema.NullOr(Schema.Number),
          "Mean milliseconds of the calls that were answered; null: none was.",
          430
        ),
        cacheHits: field(Schema.Number, "Requests that took no call.", 40),
        costUsd: field(Schema.Number, "What the calls cost.", 0.64)
      })
    ),
    "Those that were asked, the one with the most requests first."
  )
}).annotations({ identifier: "SearchAnalytics", description: "What searches have done at each provider." })
