/**
 * Loads and builds capture by its first use. At a start it is built only when there is something to resume or to finish: custom hosts
 * that are turned on, or changes of the machine that an ended gateway left in the journal.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { claimed } from "../../plane/state/Claims.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import * as BuiltOnce from "../../platform/BuiltOnce.ts"
import type { SettingsRepo } from "../../subjects/settings/repo.ts"
import type { Capture } from "./Capture.ts"
import * as CaptureSettings from "./CaptureSettings.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

export interface CaptureServices {
  readonly capture: typeof Capture.Service
  /** Services built together with it, for callers above capture. */
  readonly built: Context.Context<never>
}

export class LazyCapture extends Context.Tag("gateway/observe/capture/LazyCapture")<
  LazyCapture,
  {
    /** Loads and builds it by the first use; a defect where that fails. */
    readonly get: Effect.Effect<typeof Capture.Service>
    /** Hot: null until it is built. */
    readonly current: () => typeof Capture.Service | null
    /** Builds the services that are built together with it, and returns them. */
    readonly built: Effect.Effect<Context.Context<never>>
  }
>() {}

/** Loads what builds capture; `R` is what it works on. */
export type LoadCapture<R> = BuiltOnce.Load<CaptureServices, R>

/** The same folder as that of `host/undo/restore`, which is not loaded for this. */
const hasJournal = (dataDir: string): boolean => {
  try {
    return readdirSync(join(dataDir, "capture", "journal")).some((name) => name.endsWith(".json"))
  } catch {
    return false
  }
}

const make = Effect.fnUntraced(function* <R>(load: LoadCapture<R>) {
  const { dataDir } = yield* AppConfig
  const once = yield* BuiltOnce.make(load)

  const takeUp = Effect.gen(function* () {
    const { capture } = yield* once.get
    const { failed, restored } = yield* capture.finishEnded
    if (restored.length > 0) {
      yield* Effect.logInfo(
        `Taken back what a gateway that ended had changed: ${restored.map(({ what }) => what).join("; ")}.`
      )
    }
    for (const { problem, what } of failed)
      yield* Effect.logWarning(`Could not take back ${what}: ${asSentence(problem)}`)
    const warning = yield* capture.resume
    if (warning !== null) yield* Effect.logWarning(warning)
  }).pipe(Effect.catchAllCause((cause) => Effect.logError("Capture could not be taken up again", cause)))

  const stored = yield* Effect.orElseSucceed(CaptureSettings.read, () => CaptureSettings.nothingStored)
  if (hasJournal(dataDir) || CaptureSettings.resumes(stored)) yield* Effect.forkScoped(claimed("capture", takeUp))

  return LazyCapture.of({
    get: Effect.map(once.get, ({ capture }) => capture),
    current: () => once.current()?.capture ?? null,
    built: Effect.map(once.get, ({ built }) => built)
  })
})

export const layer = <R>(
  load: LoadCapture<R>
): Layer.Layer<LazyCapture, never, Exclude<R, Scope.Scope> | AppConfig | SettingsRepo> =>
  Layer.scoped(LazyCapture, make(load)) as Layer.Layer<
    LazyCapture,
    never,
    Exclude<R, Scope.Scope> | AppConfig | SettingsRepo
  >
