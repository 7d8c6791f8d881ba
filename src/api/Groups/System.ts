/** Health and the description of the service. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../Endpoints.ts"
import { NotFoundAnswer } from "../Errors.ts"
import { field } from "../../kernel/Documented.ts"
import { AccountCounts } from "./RateLimits.ts"

const words = {
  version: ["Version of the gateway.", "0.1.0"],
  uptimeMs: ["Milliseconds since its start.", 86_400_000]
} as const

export const Ping = Schema.Struct({
  status: field(Schema.Literal("ok"), "Always `ok`: the gateway answers."),
  version: field(Schema.String, ...words.version),
  uptimeMs: field(Schema.Number, ...words.uptimeMs)
}).annotations({ identifier: "Ping" })

/**
 * Counts of known providers, stored connections, active ones, and ones whose health is known; then the
 * breakers of connected providers by state, and the connections by what can be done with them. `degraded`: a provider in use has an open
 * breaker, there are active connections and none can be used now, or usage rows cannot be written.
 */
export const Health = Schema.Struct({
  status: field(
    Schema.Literal("ok", "degraded"),
    "`degraded`: a provider in use has an open breaker, no connection can be used, or usage rows cannot be written."
  ),
  version: field(Schema.String, ...words.version),
  uptimeMs: field(Schema.Number, ...words.uptimeMs),
  catalogCount: field(Schema.Number, "Providers that the gateway knows.", 100),
  configuredCount: field(Schema.Number, "Connections.", 3),
  activeCount: field(Schema.Number, "Connections that are switched on.", 3),
  monitoredCount: field(Schema.Number, "Connections whose health is known.", 2),
  breakers: field(
    Schema.Struct({
      closed: field(Schema.Number, "Breakers that let requests through.", 2),
      degraded: field(Schema.Number, "Breakers that let requests through after some failures.", 0),
      open: field(Schema.Number, "Breakers that hold requests back.", 0),
      halfOpen: field(Schema.Number, "Breakers that try one request.", 0)
    }),
    "Circuit breakers of the providers in use, by state."
  ),
  connections: field(AccountCounts, "Connections by what can be done with them."),
  usageLog: field(
    Schema.Struct({
      problem: field(
        Schema.NullOr(Schema.String),
        "Why usage rows cannot be written, such as a full disk; null: they can.",
        null
      ),
      waitingRows: field(Schema.Number, "Rows that wait for the database.", 0),
      rowsNotOnFile: field(Schema.Number, "Rows since the start that were only in memory for a time.", 0),
      rowsDropped: field(Schema.Number, "Rows since the start that were given up because too many waited.", 0)
    }),
    "How the log of usage is doing."
  )
}).annotations({ identifier: "Health" })

const page = (contentType: string, description: string, example: string) =>
  HttpApiSchema.Text({ contentType }).annotations({ description, examples: [example] })

const at = endpointsOf("system", { file: ["Name of a file of the page.", "page.css"] })

export class System extends HttpApiGroup.make("system")
  .annotate(OpenApi.Title, "System")
  .annotate(OpenApi.Description, "The gateway itself: whether it runs, how it is doing, and what it can do.")
  .add(at("ping", { summary: "Ask whether it runs", description: "Needs no key." }).addSuccess(Ping))
  .add(
    at("health", {
      summary: "Show its health",
      description: "Counts of providers, connections and breakers."
    }).addSuccess(Health)
  )
  .add(
    at("openapi", { summary: "This document", description: "OpenAPI 3.1, as JSON. Needs no key." }).addSuccess(
      Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
        identifier: "OpenApiDocument",
        description: "An OpenAPI document.",
        examples: [{ openapi: "3.1.0", info: { title: "Gateway", version: "0.1.0" }, paths: {} }]
      })
    )
  )
  .add(
    at("docs", {
      summary: "Show the API documentation",
      description: "A page that shows this document. It loads from this gateway only. Needs no key."
    }).addSuccess(page("text/html", "A page for people.", "<!doctype html><title>Gateway API</title>"))
  )
  .add(
    at("docsFile", {
      summary: "Load a file of the documentation",
      description: "Scripts and styles of `/docs`, with an ETag; kept for good under the addresses that the page names."
    })
      .addSuccess(page("text/css", "A style, or a script (`text/javascript`).", "body { margin: 0 }"))
      .addError(NotFoundAnswer)
  ) {}
