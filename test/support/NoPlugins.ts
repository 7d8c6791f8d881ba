/** Loader of plugins for tests that have none: nothing is installed, and nothing can be. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { PluginNotFound } from "../../src/agents/plugins/PluginErrors.ts"
import { LazyPlugins, type PluginServices } from "../../src/agents/plugins/LazyPlugins.ts"

const missing = (name: string) => new PluginNotFound({ name, where: "installed" })
const none = Effect.die("this test has no plugins")

const services: PluginServices = {
  plugins: {
    list: () => Effect.succeed([]),
    get: missing,
    install: () => none,
    scan: Effect.succeed([]),
    follow: () => Effect.void,
    activate: missing,
    deactivate: missing,
    remove: missing,
    config: missing,
    setConfig: missing,
    logs: missing,
    test: missing
  },
  marketplace: {
    list: Effect.succeed({ plugins: [], remoteError: null }),
    install: (name) => new PluginNotFound({ name, where: "marketplace" })
  }
}

export const layer = Layer.succeed(LazyPlugins, { get: Effect.succeed(services), current: () => services })
