/** Serves in generations (`Supervisor`), in one process or as the owner of the data folder beside workers. */
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Listener } from "../entry/listening/Listener.ts"
import type { TunnelEntrance } from "../net/tunnels/TunnelEntrance.ts"
import type { AppConfig } from "../platform/AppConfig.ts"
import { CommandIndex } from "../platform/CommandIndex.ts"
import { Lifecycle } from "../platform/Lifecycle.ts"
import type { DataLock } from "../store/DataLock.ts"
import type { AuditQueue } from "../subjects/auth/AuditQueue.ts"
import { type Failure, failed, type ServeOptions, sentence, type StartFailed, withServices } from "./starting.ts"
import * as Supervisor from "./Supervisor.ts"

/** Services that are held as long as the process lives. */
type Lasting = Listener | TunnelEntrance | DataLock | AuditQueue

export interface Generations<Services, E> {
  readonly config: Layer.Layer<AppConfig, ConfigError | StartFailed>
  readonly layer: Layer.Layer<Services, E, AppConfig | CommandIndex | Lasting | Lifecycle>
  /** The lifecycle of a generation; by default the supervisor's. */
  readonly lifecycle?: (own: typeof Lifecycle.Service) => typeof Lifecycle.Service
  /** Serves until `asked` is done; calls `up` when it serves. `isStart`: it is the first generation. */
  readonly running: (
    isStart: boolean,
    up: Effect.Effect<void>,
    asked: Effect.Effect<void>
  ) => Effect.Effect<void, Failure, Services | AppConfig | Scope.Scope>
}

export const serveInGenerations = <Services, E extends Failure>(
  options: ServeOptions,
  { config, layer, lifecycle = (own) => own, running }: Generations<Services, E>
): Effect.Effect<void, StartFailed, Lasting> =>
  Effect.gen(function* () {
    const lasting = yield* Effect.context<Lasting>()
    const { hold } = yield* Listener
    let isFirst = true
    yield* Supervisor.run<StartFailed>({
      hold,
      describe: ({ message }) => message,
      check: (options.readEnvironment ?? Effect.void).pipe(
        Effect.zipRight(Effect.scoped(Layer.build(config))),
        Effect.asVoid,
        Effect.mapError((failure) => sentence(failure as Failure))
      ),
      generation: (services, up, asked) => {
        const isStart = isFirst
        isFirst = false
        const own = Context.add(services, Lifecycle, lifecycle(Context.get(services, Lifecycle)))
        const provided = layer.pipe(
          Layer.provideMerge(config),
          Layer.provide(Layer.succeed(CommandIndex, options.commands)),
          Layer.provide(Layer.succeedContext(Context.merge(lasting, own)))
        )
        return running(isStart, up, asked).pipe(Effect.scoped, withServices(provided), Effect.mapError(failed))
      }
    })
  })
