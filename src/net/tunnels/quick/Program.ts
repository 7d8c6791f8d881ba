/** Finds the `cloudflared` to start: that of `QUICK_TUNNEL_BIN`, an installed one, or one that is downloaded. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { isAbsolute, join } from "node:path"
import { makeLane } from "../../../kernel/Lane.ts"
import { PublicDownload } from "../../egress/PublicDownload.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { isProgram } from "../../../platform/programs/ProgramFile.ts"
import { findProgram } from "../../../platform/programs/ProgramPath.ts"
import { TunnelFailed } from "../Backend.ts"
import { Installs } from "../Installs.ts"
import { downloadProgram } from "./Download.ts"
import { releaseBase, releaseFiles, releaseVersion, type ReleaseFile } from "./Release.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export class QuickProgram extends Context.Tag("gateway/net/tunnels/quick/QuickProgram")<
  QuickProgram,
  {
    /** Returns its absolute path, after it was downloaded when it has to be; once for all callers meanwhile. */
    readonly path: Effect.Effect<string, TunnelFailed>
  }
>() {}

export interface QuickProgramOptions {
  /** The folder that downloaded programs are kept in. */
  readonly folder: string
  /** `https://host/path` without a trailing slash. */
  readonly base: string
  readonly files: ReadonlyMap<string, ReleaseFile>
  /** `process.platform` and `process.arch`. */
  readonly platform: string
}

const installIt = "Install cloudflared, or set QUICK_TUNNEL_BIN to its absolute path."

const final = (reason: string): TunnelFailed => new TunnelFailed({ reason, isFinal: true })

export const make = Effect.fn("QuickProgram.make")(function* (options: QuickProgramOptions) {
  const { environment } = yield* AppConfig
  const download = yield* PublicDownload
  const { announced } = yield* Installs
  const oneAtATime = makeLane(1)
  const target = join(options.folder, `cloudflared-${releaseVersion}`)

  const downloaded = Effect.gen(function* () {
    if (yield* Effect.sync(() => isProgram(target))) return target
    const file = options.files.get(options.platform)
    if (file === undefined) {
      return yield* final(`There is no cloudflared to download for ${options.platform}. ${installIt}`)
    }
    yield* Effect.logInfo(`Downloading cloudflared ${releaseVersion}`)
    yield* announced("cloudflared", downloadProgram(download, options.base, file, target)).pipe(
      Effect.mapError(
        ({ isFinal, reason }) => new TunnelFailed({ reason: `cloudflared ${asSentence(reason)} ${installIt}`, isFinal })
      )
    )
    return target
  }).pipe(oneAtATime.inTurn)

  const path = Effect.gen(function* () {
    const named = environment.get("QUICK_TUNNEL_BIN") ?? ""
    if (named !== "") {
      const isUsable = isAbsolute(named) && (yield* Effect.sync(() => isProgram(named)))
      return isUsable ? named : yield* final("QUICK_TUNNEL_BIN is not the absolute path of a program.")
    }
    return (yield* findProgram(environment, "cloudflared")) ?? (yield* downloaded)
  })
  return QuickProgram.of({ path })
})

export const layerOf = (options: QuickProgramOptions): Layer.Layer<QuickProgram, never, AppConfig | PublicDownload> =>
  Layer.effect(QuickProgram, make(options))

export const layer: Layer.Layer<QuickProgram, never, AppConfig | PublicDownload> = Layer.unwrapEffect(
  Effect.map(AppConfig, ({ dataDir }) =>
    layerOf({
      folder: join(dataDir, "tunnels"),
      base: releaseBase,
      files: releaseFiles,
      platform: `${process.platform}-${process.arch}`
    })
  )
)
