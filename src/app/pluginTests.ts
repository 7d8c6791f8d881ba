/** Runs the tests of a plugin in the sandbox of the gateway, without a gateway. Imported dynamically by `gateway plugin test`. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defaultResilience } from "../subjects/resilience/entity.ts"
import type { PluginManifest } from "../subjects/plugins/entity.ts"
import * as Dns from "../net/egress/Dns.ts"
import * as GuardedFetch from "../net/egress/GuardedFetch.ts"
import { UpstreamSettings } from "../net/egress/UpstreamSettings.ts"
import * as Flags from "../subjects/flags/service.ts"
import { FlagStore } from "../subjects/flags/repo.ts"
import type { AppConfig } from "../platform/AppConfig.ts"
import * as Timers from "../platform/Timers.ts"
import * as ConfigRules from "../agents/plugins/ConfigRules.ts"
import { codeOf, missingHooks, warningsOf } from "../agents/plugins/registry/Code.ts"
import { readTest, runTest } from "../agents/plugins/registry/TestCall.ts"
import type { LogLine, PluginNotLoaded } from "../agents/plugins/sandbox/Sandbox.ts"
import { Sandbox } from "../agents/plugins/sandbox/Sandbox.ts"
import * as Sandboxes from "../agents/plugins/sandbox/Sandboxes.ts"
import { difference, type Fixture } from "../agents/plugins/sdk/Project.ts"
import { objectOr } from "../wire/json/Json.ts"

export interface TestOutcome {
  readonly name: string
  readonly passed: boolean
  readonly action: string
  /** Reason for which it failed; null: it passed. */
  readonly problem: string | null
  readonly ms: number
  readonly logs: ReadonlyArray<LogLine>
}

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-plugin-test-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Flags as the environment sets them: there is no database. */
const noStore = Layer.succeed(FlagStore, {
  load: Effect.succeed(new Map<string, string>()),
  save: () => Effect.void,
  remove: () => Effect.void,
  clear: Effect.void
})

const sandboxes = Sandboxes.layer.pipe(
  Layer.provide(
    GuardedFetch.layer.pipe(
      Layer.provide(
        Layer.mergeAll(
          Dns.layer,
          Layer.succeed(UpstreamSettings, { connectTimeoutMs: () => defaultResilience.timeouts.connectMs }),
          Flags.layer.pipe(Layer.provide(noStore))
        )
      )
    )
  ),
  Layer.provide(Timers.layer)
)

const opened = (
  manifest: PluginManifest,
  files: ReadonlyMap<string, string>,
  set: Readonly<Record<string, unknown>>,
  log: (line: LogLine) => void
) =>
  Effect.gen(function* () {
    const { open } = yield* Sandbox
    const changed = ConfigRules.change(manifest.configSchema, {}, set)
    const config = ConfigRules.effective(manifest.configSchema, changed._tag === "Set" ? changed.values : {})
    const sandbox = yield* open(
      codeOf(manifest, files, manifest.permissions, config, yield* folder),
      (_permission, line) => log(line)
    )
    return { sandbox, wrong: changed._tag === "Wrong" ? changed.problems : [] }
  })

/** Reports on loading the code, without running a test. */
export const checkCode = (manifest: PluginManifest, files: ReadonlyMap<string, string>) =>
  Effect.map(
    opened({ ...manifest, permissions: [] }, files, {}, () => {}),
    ({ sandbox }) => ({
      problems: missingHooks(manifest, sandbox.defined),
      warnings: warningsOf(manifest, sandbox.defined)
    })
  ).pipe(Effect.scoped, Effect.provide(sandboxes))

const runOne = (manifest: PluginManifest, files: ReadonlyMap<string, string>, { given, name }: Fixture) =>
  Effect.gen(function* () {
    const logs: Array<LogLine> = []
    const failed = (problem: string): TestOutcome => ({ name, passed: false, action: "failed", problem, ms: 0, logs })
    const read = readTest(given)
    if ("problems" in read) return failed(read.problems.map(({ field, message }) => `${field}: ${message}`).join("; "))
    const { sandbox, wrong } = yield* opened(manifest, files, objectOr(given["config"]), (line) => {
      if (logs.length < 200) logs.push(line)
    })
    if (wrong.length > 0) return failed(wrong.map(({ field, message }) => `${field}: ${message}`).join("; "))
    const result = yield* runTest(sandbox, read.input, Clock.currentTimeMillis)
    const expected = given["expect"]
    const problem =
      expected === undefined
        ? result.action === "failed"
          ? String(result.result)
          : null
        : difference(expected, result)
    const why = problem !== null && result.action === "failed" ? `${problem} (${String(result.result)})` : problem
    return { name, passed: why === null, action: result.action, problem: why, ms: result.ms, logs }
  }).pipe(Effect.scoped)

/** Each test in a sandbox of its own, with all permissions that the plugin asks for. */
export const runTests = (
  manifest: PluginManifest,
  files: ReadonlyMap<string, string>,
  fixtures: ReadonlyArray<Fixture>
): Effect.Effect<ReadonlyArray<TestOutcome>, PluginNotLoaded, AppConfig> =>
  Effect.forEach(fixtures, (fixture) => runOne(manifest, files, fixture)).pipe(Effect.provide(sandboxes))
