/** Health, `/openapi.json` and the page that shows it. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import { requestedAddress, requestedPrefix, type RequestHeaders } from "../auth/Credentials.ts"
import { contractOf } from "../../contract/GroupContract.ts"
import { System } from "./routes.ts"
import { NotFound } from "../../contract/Errors.ts"
import { openApiJson } from "../../contract/OpenApiDocument.ts"
import { declaredSchemaJson } from "../declared/JsonSchema.ts"
import { SystemControl } from "./service.ts"
import { type HealthReport, SystemHealth } from "./SystemHealth.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { ProcessFacts } from "../../platform/ProcessFacts.ts"
import { version } from "../../platform/Version.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { fileHeaders, htmlType, pageBelow, pageHeaders, viewerPolicy } from "../../entry/pages/PageHeaders.ts"
import { viewerFile, viewerPage } from "../../entry/pages/Viewer.ts"

/** The first of the document's servers: where the document itself was fetched from. */
const rootServer = '"servers":[{"url":"/"'

/** The document with the address of the gateway, where a proxy serves it below a path: there "/" is another program's. */
const withServer = (document: string, headers: RequestHeaders): string => {
  const url = requestedPrefix(headers) === "" ? null : requestedAddress(headers)
  return url === null ? document : document.replace(rootServer, () => `"servers":[{"url":${JSON.stringify(url)}`)
}

const noFile = (name: string): NotFound =>
  new NotFound({ message: `The documentation has no file '${name.slice(0, 100)}'.`, param: "file" })

/** A file of the page at `/docs`; 304 for who has it. Large ones are streamed. */
const docsFile = Effect.fnUntraced(function* (name: string) {
  const file = viewerFile(name)
  if (file === null) return yield* noFile(name)
  const request = yield* HttpServerRequest.HttpServerRequest
  const { v } = yield* HttpServerRequest.ParsedSearchParams
  const etag = `"${file.tag}"`
  const headers = fileHeaders(etag, v === file.tag)
  if (request.headers["if-none-match"] === etag) return HttpServerResponse.empty({ status: 304, headers })
  const { content, contentType } = file
  if (typeof content === "string") return HttpServerResponse.text(content, { contentType, headers })
  return yield* HttpServerResponse.file(fileURLToPath(content)).pipe(
    Effect.map(HttpServerResponse.setHeaders({ ...headers, "Content-Type": contentType })),
    Effect.catchAll((error) =>
      Effect.zipRight(Effect.logError("A file of the documentation cannot be read", error), noFile(name))
    )
  )
})

const workersView = ({ processes, ...counts }: NonNullable<HealthReport["workers"]>) => ({
  ...counts,
  processes: processes.map(({ life, pid, place, startedMs }) => ({
    place,
    pid,
    startedAt: new Date(startedMs).toISOString(),
    replaced: life - 1
  }))
})

export const layer = HttpApiBuilder.group(contractOf(System), "system", (handlers) =>
  Effect.gen(function* () {
    const health = yield* SystemHealth
    const control = yield* SystemControl
    const { drainMs } = yield* AppConfig
    const facts = yield* ProcessFacts
    const uptime = Effect.sync(() => facts.memory().uptimeMs)
    return handlers
      .handle("ping", () => Effect.map(uptime, (uptimeMs) => ({ status: "ok" as const, version, uptimeMs })))
      .handle("health", () =>
        Effect.zipWith(health.report, uptime, ({ status, workers, ...report }, uptimeMs) => ({
          status,
          version,
          uptimeMs,
          ...report,
          workers: workers === null ? null : workersView(workers)
        }))
      )
      .handle("init", () => Effect.map(control.init, (init) => ({ ...init, version })))
      .handle("shutdown", () => Effect.as(control.shutdown, { shuttingDown: true as const, drainMs }))
      .handle("restart", () =>
        answered(
          Effect.as(control.restart, { restarting: true as const, mode: "in-process" as const, pid: process.pid })
        )
      )
      .handle("envRepair", ({ payload }) =>
        answered(
          Effect.map(control.repairEnvironment(payload.provider), (done) => ({ success: true as const, ...done }))
        )
      )
      .handle("docs", () =>
        Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
          HttpServerResponse.text(pageBelow(viewerPage, requestedPrefix(headers)), {
            contentType: htmlType,
            headers: pageHeaders(viewerPolicy)
          })
        )
      )
      .handle("docsFile", ({ path }) => docsFile(path.file))
      .handle("configurationSchema", () =>
        Effect.sync(() => HttpServerResponse.text(declaredSchemaJson(), { contentType: "application/json" }))
      )
      .handle("openapi", () =>
        Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
          HttpServerResponse.text(withServer(openApiJson(), headers), { contentType: "application/json" })
        )
      )
  })
)
