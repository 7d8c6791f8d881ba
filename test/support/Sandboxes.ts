/** Sandboxes of plugins with the thread as the build makes it, for tests that run from source. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { rolldown } from "rolldown"
import { buildThread } from "../../bin/threads.mjs"
import { operatorsOwn } from "../../src/contract/domain/ContentPermission.ts"
import type { PluginPermission, RequestHook } from "../../src/subjects/plugins/entity.ts"
import { GuardedFetch } from "../../src/net/egress/GuardedFetch.ts"
import * as AppConfig from "../../src/platform/AppConfig.ts"
import * as Timers from "../../src/platform/Timers.ts"
import type { HookCall, HookContext } from "../../src/agents/plugins/hooks/Listener.ts"
import type { OpenPlugin } from "../../src/agents/plugins/sandbox/OpenPlugin.ts"
import {
  type LogLine,
  type OpenSandbox,
  type PluginNotLoaded,
  type SandboxedCode
} from "../../src/agents/plugins/sandbox/Sandbox.ts"
import { usualSandboxLimits } from "../../src/agents/plugins/sandbox/Limits.ts"
import { makeWith } from "../../src/agents/plugins/sandbox/Sandboxes.ts"
import type { JsonObject } from "../../src/wire/json/Json.ts"

let built: Promise<URL> | null = null

const build = async (): Promise<URL> => {
  const folder = mkdtempSync(join(process.env["GATEWAY_TEST_TMP"] ?? tmpdir(), "gateway-test-thread-"))
  const file = join(folder, "sandboxThread.mjs")
  await buildThread(rolldown, "src/agents/plugins/sandbox/thread/sandboxThread.mjs", file)
  return pathToFileURL(file)
}

export const sandboxThread = (): Promise<URL> => {
  built ??= build()
  return built
}

const noNetwork: typeof GuardedFetch.Service = {
  send: () => Effect.die("no network in this test")
}

export interface TestSandbox {
  readonly sandbox: OpenSandbox
  readonly plugin: OpenPlugin
  readonly lines: Array<LogLine>
}

export interface TestPlugin {
  readonly files?: Readonly<Record<string, string>>
  readonly permissions?: ReadonlyArray<PluginPermission>
  readonly hosts?: ReadonlyArray<string> | null
  readonly config?: JsonObject
  readonly dataFolder?: string
  readonly limits?: Partial<SandboxedCode["limits"]>
  readonly environment?: Readonly<Record<string, string>>
  readonly fetch?: typeof GuardedFetch.Service
  readonly timers?: typeof Timers.Timers.Service
}

/** A module that defines a plugin with these functions. */
export const pluginOf = (members: string, before = ""): string =>
  `import { definePlugin, blockRequest, modifyBody, addMetadata } from "gateway/plugin"
${before}
export default definePlugin({ name: "under-test", ${members} })
`

export const codeOf = (main: string, over: TestPlugin = {}): SandboxedCode => ({
  name: "under-test",
  version: "1.0.0",
  files: new Map(Object.entries({ "main.js": main, ...over.files })),
  main: "main.js",
  permissions: new Set(over.permissions ?? []),
  hosts: over.hosts ?? null,
  config: over.config ?? {},
  dataFolder: over.dataFolder ?? "/nonexistent",
  isBackground: false,
  limits: { ...usualSandboxLimits, ...over.limits }
})

export const openSandbox = (
  main: string,
  over: TestPlugin = {}
): Effect.Effect<TestSandbox, PluginNotLoaded, Scope.Scope> =>
  Effect.gen(function* () {
    const file = yield* Effect.promise(sandboxThread)
    const plugins: Array<OpenPlugin> = []
    const lines: Array<LogLine> = []
    const settings = AppConfig.layerOf({
      dataDir: "/nowhere",
      environment: new Map(Object.entries(over.environment ?? {})),
      maxBodyBytes: 50 * 1_048_576
    })
    const context = Context.empty().pipe(
      Context.add(GuardedFetch, over.fetch ?? noNetwork),
      Context.add(Timers.Timers, over.timers ?? Timers.make)
    )
    const service = yield* Effect.provide(
      Effect.provide(
        makeWith((plugin) => plugins.push(plugin), file),
        settings
      ),
      context
    )
    const sandbox = yield* service.open(codeOf(main, over), (_permission, line) => lines.push(line))
    const [plugin] = plugins
    if (plugin === undefined) throw new Error("no plugin was opened")
    return { sandbox, plugin, lines }
  })

export const contextOf = (hook: RequestHook, over: Partial<HookContext> = {}): HookContext => ({
  requestId: "req-1",
  model: "gpt-5",
  provider: "",
  headers: { "user-agent": "test" },
  metadata: {},
  timestamp: 1_700_000_000_000,
  hook,
  wire: "chat",
  endpoint: "/v1/chat/completions",
  stream: false,
  apiKeyId: null,
  ...over
})

export const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value), "utf8")

export const callOf = (
  body: unknown = null,
  hook: RequestHook = "onRequest",
  payload: JsonObject = {},
  over: Partial<HookContext> = {}
): HookCall => ({
  context: contextOf(hook, over),
  permission: operatorsOwn,
  body: body === null ? null : bytesOf(body),
  payload
})
