/** `/api/cli-tools`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { CliTools } from "./routes.ts"
import { Conflict, NotFound } from "../../contract/Errors.ts"
import type { CliToolView, DetectionView, ToolStatusView } from "./routes.ts"
import { requestedAddress } from "../auth/Credentials.ts"
import { closest } from "../../kernel/text/Closest.ts"
import { type Tool, toolNamed, tools } from "../../agents/tools/catalogue/Tools.ts"
import { type Detection, Detector, type ToolStatus } from "../../agents/tools/detection/Detector.ts"
import { ToolRefused, ToolSettings } from "./service.ts"
import { toolSetups } from "../../agents/tools/config/tools/index.ts"
import type { ToolSetup } from "../../agents/tools/config/ToolSetup.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { iso } from "../../entry/handling/Views.ts"

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

/** Address of this gateway as its own machine calls it. */
const origin = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => requestedAddress(headers) ?? "")

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

/** Finds the setup of a tool: only tools that can be set up have settings. */
const setupOf = (id: string): Effect.Effect<ToolSetup, NotFound> => {
  const found = toolSetups.find((tool) => tool.id === id)
  return found === undefined
    ? new NotFound({ message: `There is no tool '${id.slice(0, 64)}' that can be set up.`, param: "tool" })
    : Effect.succeed(found)
}

const orConflict = <A, E, R>(effect: Effect.Effect<A, E | ToolRefused, R>) =>
  Effect.catchIf(
    effect,
    (error): error is ToolRefused => error instanceof ToolRefused,
    ({ message }) => Effect.fail(new Conflict({ message, code: "tool_refused" }))
  )

export const layer = HttpApiBuilder.group(contractOf(CliTools), "cliTools", (handlers) =>
  Effect.map(Effect.all([Detector, ToolSettings]), ([detector, settings]) =>
    handlers
      .handle("settings", ({ path }) =>
        Effect.flatMap(setupOf(path.tool), (tool) =>
          Effect.map(answered(orConflict(settings.read(tool))), (state) => ({ tool: tool.id, ...state }))
        )
      )
      .handle("writeSettings", ({ path, payload }) =>
        Effect.gen(function* () {
          const tool = yield* setupOf(path.tool)
          const address = yield* origin
          const written = yield* answered(orConflict(settings.write(tool, address, payload)))
          return { success: true, ...written }
        })
      )
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
