/** `/api/cli-tools`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { NotFound } from "../../api/Errors.ts"
import type { CliToolView, DetectionView, ToolStatusView } from "../../api/Groups/CliTools.ts"
import { addressAsked } from "../../auth/Credentials.ts"
import { closest } from "../../kernel/Closest.ts"
import { type Tool, toolNamed, tools } from "../../tools/catalogue/Tools.ts"
import { type Detection, Detector, type ToolStatus } from "../../tools/detection/Detector.ts"
import { iso } from "./Views.ts"

const given = <K extends string, V>(name: K, value: V | null): { readonly [P in K]?: V } =>
  (value === null ? {} : { [name]: value }) as { readonly [P in K]?: V }

const viewOf = ({ setup, ...tool }: Tool): CliToolView => ({
  id: tool.id,
  name: tool.name,
  color: tool.color,
  description: tool.description,
  docsUrl: tool.docsUrl,
  vendor: tool.vendor,
  category: tool.category,
  acpSpawnable: tool.acpSpawnable,
  baseUrlSupport: tool.baseUrlSupport,
  configType: tool.configType,
  risks: tool.risks,
  setupCommand: setup === null ? null : `gateway setup-${setup}`
})

const detectionView = ({ command, commandPath, installed, reason, runnable, version }: Detection): DetectionView => ({
  installed,
  runnable,
  ...given("version", version),
  ...given("command", command),
  ...given("commandPath", commandPath),
  ...given("reason", reason)
})

const statusView = ({ config, detection, error }: ToolStatus): ToolStatusView => ({
  detection: detectionView(detection),
  config: {
    status: config.status,
    ...given("endpoint", config.endpoint),
    ...given("lastConfiguredAt", config.configuredAtMs === null ? null : iso(config.configuredAtMs))
  },
  ...given("error", error)
})

/** This gateway as its own machine calls it. */
const origin = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => addressAsked(headers) ?? "")

const mostAtOnce = 8

const known = (id: string): Effect.Effect<Tool, NotFound> => {
  const tool = toolNamed(id)
  if (tool !== null) return Effect.succeed(tool)
  const [near] = closest(
    id.slice(0, 64),
    tools.map((each) => each.id),
    1
  )
  return new NotFound({
    message: `There is no tool '${id.slice(0, 64)}'.${near === undefined ? "" : ` Did you mean '${near}'?`}`,
    param: "id"
  })
}

export const layer = HttpApiBuilder.group(GatewayApi, "cliTools", (handlers) =>
  Effect.map(Detector, (detector) =>
    handlers
      .handle("list", () => Effect.succeed({ tools: tools.map(viewOf) }))
      .handle("statuses", () =>
        Effect.flatMap(origin, (address) =>
          Effect.map(
            Effect.forEach(
              tools.filter(({ id }) => id !== "custom"),
              (tool) => Effect.map(detector.status(tool, address), (status) => [tool.id, statusView(status)] as const),
              { concurrency: mostAtOnce }
            ),
            Object.fromEntries
          )
        )
      )
      .handle("runtime", ({ path }) =>
        Effect.flatMap(known(path.id), ({ command, id }) =>
          Effect.map(detector.detect(id, command, true), detectionView)
        )
      )
  )
)
