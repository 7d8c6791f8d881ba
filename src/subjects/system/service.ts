/** The gateway itself: whether it is set up, its stop and restart, and its settings file. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import { AdminPassword } from "../auth/AdminPassword.ts"
import { ApiKeys } from "../auth/ApiKeys.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Lifecycle, type RestartRefused } from "../../platform/Lifecycle.ts"
import { find } from "../../plane/providers/Registry.ts"
import { describeStoreFailure } from "../../store/Errors.ts"
import * as SettingsFile from "../../store/SettingsFile.ts"
import { repair } from "./EnvRepair.ts"
import { type InvalidInput, OperationFailed, unknownProvider } from "../Errors.ts"

export class SystemControl extends Context.Tag("gateway/subjects/system/SystemControl")<
  SystemControl,
  {
    readonly init: Effect.Effect<{
      readonly needsSetup: boolean
      readonly passwordSet: boolean
      readonly requireLogin: boolean
    }>
    readonly shutdown: Effect.Effect<void>
    readonly restart: Effect.Effect<void, RestartRefused>
    /** Brings a provider's variables that this process has back into the settings file. */
    readonly repairEnvironment: (
      provider: string
    ) => Effect.Effect<
      { readonly repaired: ReadonlyArray<string>; readonly backupPath: string | null },
      OperationFailed | InvalidInput
    >
  }
>() {}

export const make = Effect.gen(function* () {
  const config = yield* AppConfig
  const password = yield* AdminPassword
  const keys = yield* ApiKeys
  const lifecycle = yield* Lifecycle
  const settings = yield* GatewaySettings
  const oneAtATime = makeLane(1)

  const repairEnvironment = Effect.fn("SystemControl.repairEnvironment")(function* (provider: string) {
    const spec = find(provider)
    if (spec === null) return yield* unknownProvider(provider)
    const nowMs = yield* Clock.currentTimeMillis
    return yield* Effect.gen(function* () {
      const before = yield* SettingsFile.read(config.dataDir)
      const { repaired, text } = repair(before ?? "", spec.env, config.environment)
      if (repaired.length === 0) return { repaired, backupPath: null }
      return { repaired, backupPath: yield* SettingsFile.replace(config.dataDir, text, nowMs) }
    }).pipe(
      oneAtATime.inTurn,
      Effect.mapError(
        (failure) => new OperationFailed({ code: "backup_failed", message: describeStoreFailure(failure) })
      )
    )
  })

  return SystemControl.of({
    init: Effect.map(Clock.currentTimeMillis, (nowMs) => ({
      needsSetup: !password.isSet() && !keys.canManage(nowMs),
      passwordSet: password.isSet(),
      requireLogin: settings.access.requireLogin.current().requireLogin
    })),
    shutdown: Effect.zipRight(Effect.logInfo("Stopping: a management request asked for it."), lifecycle.shutdown),
    restart: lifecycle.restart,
    repairEnvironment
  })
})

export const layer: Layer.Layer<
  SystemControl,
  never,
  AdminPassword | ApiKeys | AppConfig | GatewaySettings | Lifecycle
> = Layer.effect(SystemControl, make)
