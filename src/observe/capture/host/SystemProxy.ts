/**
 * The proxy setting of the desktop: set to the gateway's listener for a limited time, and restored as it was. Values that another program
 * has changed meanwhile are kept.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { makeLane } from "../../../kernel/Lane.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { type HostChange, HostJournal, type JournalFailed, type OpenChange, type RestoreReport } from "./HostJournal.ts"
import { findDesktop, reader } from "./proxy/Desktops.ts"
import { type Desktop, proxyHost, type ProxyPlan, type Setting, terminalLines, undoSteps } from "./proxy/Plan.ts"
import { isStillOurs } from "./undo/steps.mjs"
import { asSentence } from "../../../kernel/text/Sentence.ts"

/** Error on a machine that has no setting for it. `lines` do the same for one terminal. */
export class SystemProxyUnsupported extends Data.TaggedError("SystemProxyUnsupported")<{
  readonly reason: string
  readonly lines: ReadonlyArray<string>
}> {
  override get message(): string {
    return this.reason
  }
}

export interface SystemProxyState {
  readonly applied: boolean
  /** ISO time at which it is restored automatically. */
  readonly guardUntilMs: number | null
  readonly port: number | null
  /** Null where none is known. */
  readonly platform: Desktop | null
  readonly supported: boolean
}

export interface ApplyOptions {
  /** Port of the proxy's listener, which has to run. */
  readonly port: number
  readonly guardMs: number
}

export class SystemProxy extends Context.Tag("gateway/observe/capture/host/SystemProxy")<
  SystemProxy,
  {
    /** Applied again with another guard it holds for that time from now. */
    readonly apply: (options: ApplyOptions) => Effect.Effect<SystemProxyState, SystemProxyUnsupported | JournalFailed>
    /** Null when it was not applied. */
    readonly revert: Effect.Effect<RestoreReport | null>
    readonly state: Effect.Effect<SystemProxyState>
    /** Hot. */
    readonly isApplied: () => boolean
    /** Calls the listener when the setting was restored because its time was over. One at a time. */
    readonly onExpired: (listener: () => void) => void
  }
>() {}

/** The longest guard: a timer takes no more than 2^31 ms. */
export const maxGuardMs = 24 * 86_400_000

/** Port for a preview of the changes. */
const probedPort = 1
const prospectTtl = "30 seconds"
/** Pattern of dconf's message where it has nowhere to write to. */
const notKept = /failed to commit changes|cannot autolaunch/i
/** Time for which a refusal counts in `supported`: a desktop session may have begun since. */
const refusalMs = 60_000

interface Applied {
  readonly open: OpenChange
  readonly change: (guardUntilMs: number) => HostChange
  readonly port: number
  readonly guardUntilMs: number
  readonly guard: Fiber.RuntimeFiber<unknown>
}

const unsupported = (port: number, reason: string) => new SystemProxyUnsupported({ reason, lines: terminalLines(port) })

/** Reads and sets the desktop's settings. */
const makeDesktopSettings = (platform: NodeJS.Platform) =>
  Effect.gen(function* () {
    const { environment } = yield* AppConfig
    const journal = yield* HostJournal
    const read = reader(environment)

    const readAll = (settings: ReadonlyArray<Setting>) =>
      Effect.forEach(settings, (setting) => Effect.map(read(setting.read), (ran) => [setting, ran] as const), {
        concurrency: 4
      })

    /**
     * Reads the present value of each setting. Ours, left by a gateway whose journal is lost, is never taken for the
     * previous one.
     */
    const valuesBefore = Effect.fn("SystemProxy.valuesBefore")(function* ({ settings }: ProxyPlan, port: number) {
      const read = yield* readAll(settings)
      const failed = read.find(([, ran]) => !ran.ok)?.[1]
      if (failed?.ok === false) {
        return yield* unsupported(port, `The desktop's settings cannot be read: ${asSentence(failed.problem)}`)
      }
      const printed = new Map(read.map(([{ name }, { stdout }]) => [name, stdout]))
      const isOurs = ({ name, ours }: Setting): boolean => isStillOurs(printed.get(name) ?? "", { lines: ours })
      return settings.every(isOurs) ? new Map(settings.map(({ name, neutral }) => [name, neutral])) : printed
    })

    /** Previews the changes of `apply`, with the present values; fails where they are known to have no effect. */
    const prospect = Effect.fn("SystemProxy.prospect")(function* (port: number) {
      const desktop = findDesktop(environment, platform)
      if (desktop === null) return yield* unsupported(port, "The gateway knows no way to set a proxy on this desktop.")
      const plan = yield* desktop.plan(read, port)
      if (plan === null) return yield* unsupported(port, "The desktop's settings cannot be read.")
      const before = yield* valuesBefore(plan, port)
      if (plan.rehearsal === undefined) return { plan, before }
      const ran = yield* read(plan.rehearsal(before))
      const problem = ran.ok
        ? notKept.test(ran.stderr ?? "")
          ? "It has no session to keep them in."
          : null
        : ran.problem
      if (problem !== null) return yield* unsupported(port, `The desktop keeps no settings: ${asSentence(problem)}`)
      return { plan, before }
    })

    const setAll = Effect.fn("SystemProxy.set")(function* (
      plan: ProxyPlan,
      before: ReadonlyMap<string, string>,
      port: number
    ) {
      for (const { name, set } of plan.settings) {
        for (const argv of set(before.get(name) ?? "")) {
          const ran = yield* journal.run({ argv })
          if (!ran.ok) return yield* unsupported(port, `The proxy cannot be set: ${asSentence(ran.problem)}`)
        }
      }
      yield* Effect.forEach(plan.refresh, (argv) => journal.run({ argv }), { discard: true })
      // Some programs report success without a session that could keep the value.
      const untaken = (yield* readAll(plan.settings)).find(
        ([{ ours, oursWithout }, { stdout }]) =>
          !isStillOurs(stdout, { lines: ours, ...(oursWithout === undefined ? {} : { without: oursWithout }) })
      )
      if (untaken === undefined) return
      const name = untaken[0].name
      yield* unsupported(port, `The desktop has not taken the setting '${name}'. Is a desktop session running?`)
    })

    return { desktop: () => findDesktop(environment, platform)?.desktop ?? null, prospect, setAll }
  })

type DesktopSettings = Effect.Effect.Success<ReturnType<typeof makeDesktopSettings>>

/** The setting as it was applied, until it is reverted or its time is over. */
const makeAppliedProxy = ({ prospect, setAll }: DesktopSettings) =>
  Effect.gen(function* () {
    const journal = yield* HostJournal
    const scope = yield* Effect.scope
    const oneAtATime = makeLane(1)
    let applied: Applied | null = null
    let expired = (): void => {}

    const revertNow = Effect.suspend(() => {
      const reverted = applied
      if (reverted === null) return Effect.succeed(null)
      return reverted.open.undo.pipe(
        Effect.tap((report) => {
          if (report.failed.length > 0) return Effect.void
          applied = null
          return Fiber.interruptFork(reverted.guard)
        })
      )
    })
    const revert = oneAtATime.inTurn(Effect.uninterruptible(revertNow))

    /** Ends with the gateway; a gateway that is killed gives the setting back at once. */
    const guardUntil = (untilMs: number, nowMs: number) =>
      Effect.sleep(Math.max(0, untilMs - nowMs)).pipe(
        // It is started by what may not be interrupted itself.
        Effect.interruptible,
        Effect.zipRight(
          revert.pipe(
            Effect.tap((report) => Effect.sync(() => (report === null || report.failed.length > 0 ? null : expired()))),
            Effect.forkIn(scope)
          )
        ),
        Effect.forkIn(scope)
      )

    const applyNow = Effect.fn("SystemProxy.apply")(function* ({ guardMs, port }: ApplyOptions) {
      const nowMs = yield* Clock.currentTimeMillis
      const guardUntilMs = nowMs + Math.min(Math.max(0, guardMs), maxGuardMs)
      if (applied !== null && applied.port === port) {
        yield* applied.open.update(applied.change(guardUntilMs))
        yield* Fiber.interruptFork(applied.guard)
        applied = { ...applied, guardUntilMs, guard: yield* guardUntil(guardUntilMs, nowMs) }
        return
      }
      yield* revertNow
      const { before, plan } = yield* prospect(port)
      const change = (untilMs: number): HostChange => ({
        kind: "system-proxy",
        what: `the proxy of the desktop, set to ${proxyHost}:${port}`,
        steps: undoSteps(plan, before),
        facts: { port, platform: plan.desktop, guardUntilMs: untilMs, previous: Object.fromEntries(before) }
      })
      const open = yield* journal.open(change(guardUntilMs))
      yield* setAll(plan, before, port).pipe(Effect.onError(() => open.undo))
      applied = { open, change, port, guardUntilMs, guard: yield* guardUntil(guardUntilMs, nowMs) }
    })

    yield* Scope.addFinalizer(scope, revert)

    return {
      /** `then` follows in the same turn. */
      apply: <A>(options: ApplyOptions, then: Effect.Effect<A>) =>
        oneAtATime.inTurn(Effect.uninterruptible(Effect.zipRight(applyNow(options), then))),
      applied: () => applied,
      revert,
      onExpired: (listener: () => void) => {
        expired = listener
      }
    }
  })

export const makeFor = (platform: NodeJS.Platform) =>
  Effect.gen(function* () {
    const settings = yield* makeDesktopSettings(platform)
    const { applied, apply, onExpired, revert } = yield* makeAppliedProxy(settings)
    let refusedAtMs = Number.NEGATIVE_INFINITY

    // Programs are started for it, and pages ask often.
    const [isPossible, askAnew] = yield* Effect.cachedInvalidateWithTTL(
      Effect.isSuccess(settings.prospect(probedPort)),
      prospectTtl
    )

    const state = Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const now = applied()
      // What was refused a moment ago would be refused again.
      const supported = now !== null || (nowMs - refusedAtMs >= refusalMs && (yield* isPossible))
      return {
        applied: now !== null,
        guardUntilMs: now?.guardUntilMs ?? null,
        port: now?.port ?? null,
        platform: settings.desktop(),
        supported
      } satisfies SystemProxyState
    })

    return SystemProxy.of({
      apply: (options) =>
        apply(options, state).pipe(
          Effect.tapErrorTag("SystemProxyUnsupported", () =>
            Effect.map(Clock.currentTimeMillis, (nowMs) => {
              refusedAtMs = nowMs
            })
          ),
          Effect.tap(() => {
            refusedAtMs = Number.NEGATIVE_INFINITY
          }),
          Effect.ensuring(askAnew)
        ),
      revert,
      state,
      isApplied: () => applied() !== null,
      onExpired
    })
  })

export const make = Effect.suspend(() => makeFor(process.platform))

export const layer: Layer.Layer<SystemProxy, never, AppConfig | HostJournal> = Layer.scoped(SystemProxy, make)
