/** `gateway start`, `stop` and `restart`: the service of this data folder where one is installed, else the process that serves it. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { CommonFlags } from "../flags/CommonFlags.ts"
import { loadConfig } from "../flags/EnvFile.ts"
import { BadArgument, CommandFailed } from "../Failure.ts"
import * as Client from "../gateway/Client.ts"
import { runningGateway } from "../gateway/Target.ts"
import * as Output from "../output/Output.ts"
import { withSpinner } from "../output/spinner.ts"
import { serve } from "../serve.ts"
import { toServeFlags } from "../flags/serveOptions.ts"
import { systemctl, unitName } from "../service/Systemctl.ts"
import { serveConfig } from "./serve.ts"
import { installedFor, propertiesOf } from "./service.ts"

/** Time in ms beyond the drain, in which connections are closed and waiting rows are written. */
const goodbyeMs = 15_000

const underSystemd = Effect.fnUntraced(function* (action: "start" | "stop" | "restart", drainMs: number) {
  const words = { start: "starts", stop: "stops", restart: "restarts" } as const
  const { ok, text } = yield* systemctl(action, drainMs + 60_000).pipe(
    withSpinner(`systemd ${words[action]} the gateway`)
  )
  if (ok) return
  return yield* new CommandFailed({
    message: `systemctl --user ${action} ${unitName} failed: ${text}`,
    hint: `See what it says: journalctl --user --unit ${unitName} --lines 20`
  })
})

/** The process that the service has in progress; null: it does not run. */
const serviceProcess = Effect.gen(function* () {
  const { ok, text } = yield* systemctl("show")
  if (!ok) return null
  const properties = propertiesOf(text)
  const pid = Number(properties.get("MainPID") ?? "0")
  return properties.get("ActiveState") === "active" && pid > 0 ? pid : null
})

export const startCommand = Command.make("start", serveConfig, (given) =>
  Effect.gen(function* () {
    const config = yield* loadConfig
    const running = yield* runningGateway(config.dataDir)
    if (running !== null) return yield* Output.note(`The gateway runs already at ${running.url}.`)
    const flags = toServeFlags(given)
    if (!(yield* installedFor(config))) return yield* serve(flags)
    if (flags.host !== undefined || flags.port !== undefined || flags.allowKeyless) {
      return yield* new BadArgument({
        message: "The gateway is installed as a service, which has flags of its own.",
        hint: "Change them with 'gateway service install', or start one beside it with 'gateway serve'."
      })
    }
    yield* underSystemd("start", config.drainMs)
    yield* Output.note("The service is started; 'gateway status' asks it.")
  })
)

/** Waits until no gateway serves the data folder any more. */
const gone = (dataDir: string): Effect.Effect<void, CommandFailed> =>
  Effect.flatMap(runningGateway(dataDir), (running) =>
    running === null ? Effect.void : Effect.delay(gone(dataDir), "200 millis")
  )

const stopProcess = Effect.fnUntraced(function* (to: Client.Target, dataDir: string, drainMs: number) {
  const system = yield* Client.group(to, "system")
  yield* system.shutdown().pipe(Client.orExplain(to))
  yield* gone(dataDir).pipe(
    Effect.timeoutFail({
      duration: drainMs + goodbyeMs,
      onTimeout: () =>
        new CommandFailed({
          message: `The gateway at ${to.url} is told to stop, and still runs.`,
          hint: "Its running requests may take their time; 'gateway status' shows whether it is there."
        })
    }),
    withSpinner("The gateway ends its running requests")
  )
})

/** A port was named, and the gateway of the data folder does not listen there. */
const isAtOtherPort = Effect.fnUntraced(function* (dataDir: string) {
  const { port } = yield* CommonFlags
  return port !== null && (yield* runningGateway(dataDir)) === null
})
const noneAtPort = (port: number): string => `No gateway of this data folder runs at port ${port}.`

export const stopCommand = Command.make("stop", {}, () =>
  Effect.gen(function* () {
    const config = yield* loadConfig
    if (yield* isAtOtherPort(config.dataDir)) return yield* Output.note(noneAtPort(config.port))
    const isService = (yield* installedFor(config)) && (yield* serviceProcess) !== null
    if (isService) {
      // A process that ends by itself might be started again.
      yield* underSystemd("stop", config.drainMs)
      return yield* Output.note("The service is stopped; it starts again with your next login, or 'gateway start'.")
    }
    const running = yield* runningGateway(config.dataDir)
    if (running === null) return yield* Output.note(`No gateway runs on ${config.dataDir}.`)
    yield* stopProcess(running, config.dataDir, config.drainMs)
    yield* Output.note(`The gateway at ${running.url} is stopped.`)
  })
)

export const restartCommand = Command.make("restart", {}, () =>
  Effect.gen(function* () {
    const config = yield* loadConfig
    if (yield* isAtOtherPort(config.dataDir)) return yield* new CommandFailed({ message: noneAtPort(config.port) })
    if (yield* installedFor(config)) {
      yield* underSystemd("restart", config.drainMs)
      return yield* Output.note("The service is restarted.")
    }
    const running = yield* runningGateway(config.dataDir)
    if (running === null) {
      return yield* new CommandFailed({
        message: `No gateway runs on ${config.dataDir}.`,
        hint: "Start one with 'gateway start'."
      })
    }
    const system = yield* Client.group(running, "system")
    yield* system.restart().pipe(Client.orExplain(running))
    yield* Output.note(`The gateway at ${running.url} restarts; its address stays.`)
  })
)
