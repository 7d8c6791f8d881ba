/**
 * Quick tunnels: `cloudflared` with an address of Cloudflare that is new at every start.
 * https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/do-more-with-tunnels/trycloudflare/
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { programEnvironment } from "../../../platform/programs/ProgramEnvironment.ts"
import { SupervisedPrograms } from "../../../platform/programs/SupervisedProgram.ts"
import { type Backend, TunnelFailed } from "../Backend.ts"
import { nothingYet, readLine, reasonOfEnd, reasonOfSilence } from "./Output.ts"
import { QuickProgram } from "./Program.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export type QuickOptions = Readonly<Record<never, never>>

export class QuickBackend extends Context.Tag("gateway/net/tunnels/quick/QuickBackend")<
  QuickBackend,
  Backend<QuickOptions>
>() {}

const warning =
  "Quick tunnels do not carry server-sent events, so answers that are streamed do not arrive, and they carry at most 200 requests at once. Use another tunnel for streaming."

/** Time limit in ms from the start to a registered connection. */
export const openMs = 25_000

const protocols = ["auto", "http2", "quic"]

const final = (reason: string): TunnelFailed => new TunnelFailed({ reason, isFinal: true })

export const make = Effect.gen(function* () {
  const { dataDir, environment } = yield* AppConfig
  const programs = yield* SupervisedPrograms
  const program = yield* QuickProgram
  const folder = join(dataDir, "tunnels")
  const configFile = join(folder, "cloudflared.yml")

  /**
   * Writes an empty configuration: without it `cloudflared` would read that of the user, which may name other tunnels.
   */
  const writeConfig = Effect.try({
    try: () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(configFile, "", { mode: 0o600 })
    },
    catch: () => final("The folder 'tunnels' of the data folder cannot be written.")
  })

  const run: Backend<QuickOptions>["run"] = (_, entrance, opened) =>
    Effect.gen(function* () {
      const protocol = environment.get("TUNNEL_TRANSPORT_PROTOCOL") || "http2"
      if (!protocols.includes(protocol)) {
        return yield* final(`TUNNEL_TRANSPORT_PROTOCOL must be one of: ${protocols.join(", ")}.`)
      }
      const command = yield* program.path
      yield* writeConfig
      const isOpen = yield* Deferred.make<string>()
      let output = nothingYet
      const { ended } = yield* programs
        .start({
          command,
          args: [
            "tunnel",
            "--no-autoupdate",
            "--config",
            configFile,
            "--url",
            `http://${entrance.host}:${entrance.port}`,
            "--protocol",
            protocol,
            "--metrics",
            "127.0.0.1:0"
          ],
          environment: programEnvironment(environment),
          onLine: (line) => {
            output = readLine(output, line)
            const { address, connections } = output
            if (address !== null && connections > 0) Deferred.unsafeDone(isOpen, Effect.succeed(address))
          }
        })
        .pipe(Effect.mapError(({ problem }) => final(`cloudflared ${asSentence(problem)}`)))

      const end = Effect.flatMap(
        ended,
        ({ lastWords, problem }) =>
          new TunnelFailed({ reason: reasonOfEnd(output, problem, lastWords), isFinal: false })
      )
      const silence = Effect.suspend(
        () => new TunnelFailed({ reason: reasonOfSilence(output, openMs), isFinal: false })
      ).pipe(Effect.delay(openMs))
      const publicUrl = yield* Effect.raceFirst(Deferred.await(isOpen), Effect.raceFirst(end, silence))
      yield* opened({ publicUrl })
      return yield* end
    })

  return QuickBackend.of({ name: "quick", warning, run })
})

export const layer: Layer.Layer<QuickBackend, never, AppConfig | SupervisedPrograms | QuickProgram> = Layer.effect(
  QuickBackend,
  make
)
