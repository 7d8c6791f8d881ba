/** Health and the description of the service. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer, UnavailableAnswer } from "../../contract/Errors.ts"
import { Accepted, body, Text } from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"
import { AccountCounts } from "../rateLimits/routes.ts"

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
 * breaker, there are active connections and none can be used now, a worker is missing, the shared database is away, or usage rows cannot be written.
 */
export const Health = Schema.Struct({
  status: field(
    Schema.Literal("ok", "degraded"),
    "`degraded`: a provider in use has an open breaker, no connection can be used, a worker is missing, the database that gateways share cannot be reached, or usage rows cannot be written."
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
  ),
  database: field(
    Schema.NullOr(
      Schema.Struct({
        node: field(Schema.String, "Name of this gateway among those on the database.", "gateway-1:20128"),
        problem: field(Schema.NullOr(Schema.String), "Why the database cannot be reached; null: it can.", null)
      })
    ),
    "Reach of a database of Postgres, which other gateways may use as well; null: the gateway has its own.",
    null
  ),
  valkey: field(
    Schema.NullOr(
      Schema.Struct({
        address: field(Schema.String, "Host and port.", "valkey:6379"),
        problem: field(
          Schema.NullOr(Schema.String),
          "Why it cannot be used: what gateways tell each other goes over the database meanwhile; null: it can.",
          null
        )
      })
    ),
    "Valkey, over which gateways on one database tell each other what they learn; null: they do over the database.",
    null
  ),
  workers: field(
    Schema.NullOr(
      Schema.Struct({
        wanted: field(Schema.Number, "Workers that were asked for.", 4),
        running: field(Schema.Number, "Workers that have a process. One that has ended is replaced at once.", 4),
        processes: field(
          Schema.Array(
            Schema.Struct({
              place: field(Schema.Number, "Number of the worker, from 1.", 1),
              pid: field(Schema.Number, "Its process id.", 4242),
              startedAt: field(Schema.String, "When the process was started, ISO 8601.", "2026-11-26T12:00:00.000Z"),
              replaced: field(Schema.Number, "Processes of this worker that have ended before.", 0)
            })
          ),
          "Their processes. While they are replaced there may be two of a worker."
        )
      })
    ),
    "Processes that serve requests beside the one with the database; null: the gateway is one process.",
    null
  )
}).annotations({ identifier: "Health" })

export const Init = Schema.Struct({
  needsSetup: field(
    Schema.Boolean,
    "No administrator is set: neither a password, nor an admin key, nor an API key that may manage.",
    false
  ),
  passwordSet: field(Schema.Boolean, "There is an admin password to log in with.", true),
  version: field(Schema.String, ...words.version),
  requireLogin: field(Schema.Boolean, "Management needs a credential.", true)
}).annotations({ identifier: "Init" })

const RepairEnvironment = Schema.Struct({
  provider: field(Text.pipe(Schema.maxLength(200)), "A provider's id or alias.", "openai")
}).annotations(body("RepairEnvironment"))

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
    at("init", { summary: "Ask whether it is set up", description: "Needs no key, and says nothing else." }).addSuccess(
      Init
    )
  )
  .add(
    at("shutdown", {
      summary: "Stop the gateway",
      description: "Running requests may finish within the drain time; then the process ends with code 0."
    }).addSuccess(
      Accepted(
        Schema.Struct({
          shuttingDown: field(Schema.Literal(true), "Always true."),
          drainMs: field(Schema.Number, "Time that running requests have.", 10_000)
        }).annotations({ identifier: "ShuttingDown" })
      )
    )
  )
  .add(
    at("restart", {
      summary: "Restart the gateway",
      description:
        "Restarts in the same process: the settings file and the flags are read again, the port stays open, and requests that come meanwhile wait. The address and `DATA_DIR` stay as they are."
    })
      .addSuccess(
        Accepted(
          Schema.Struct({
            restarting: field(Schema.Literal(true), "Always true."),
            mode: field(Schema.Literal("in-process"), "The process goes on, and so does its id."),
            pid: field(Schema.Number, "Id of the process, before and after.", 4711)
          }).annotations({ identifier: "Restarting" })
        )
      )
      .addError(ConflictAnswer)
  )
  .add(
    at("envRepair", {
      summary: "Repair the settings file",
      description:
        "Writes variables of a provider that the running gateway has, and that the file `.env` of the data folder lacks or holds in a form that cannot be read, into it. No line is removed; a backup is made first."
    })
      .setPayload(RepairEnvironment)
      .addSuccess(
        Schema.Struct({
          success: field(Schema.Literal(true), "Always true."),
          repaired: field(Schema.Array(Schema.String), "Names of the variables that were written.", ["OPENAI_API_KEY"]),
          backupPath: field(
            Schema.NullOr(Schema.String),
            "The copy of the former file; null when nothing was changed or there was none.",
            "/var/lib/gateway/.env.20260131T120000000Z.bak"
          )
        }).annotations({ identifier: "EnvironmentRepaired" })
      )
      .addError(UnavailableAnswer)
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
    at("configurationSchema", {
      summary: "Show the schema of configuration files",
      description: "JSON Schema of what `gateway apply` reads and `gateway export` writes, for editors. Needs no key."
    }).addSuccess(
      Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
        identifier: "ConfigurationSchema",
        description: "A JSON Schema.",
        examples: [{ $schema: "http://json-schema.org/draft-07/schema#", title: "Configuration of a gateway" }]
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
