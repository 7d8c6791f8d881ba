/** Plugins, over the services they work on. Imported dynamically: at the start where one is installed, else by their first use. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Plugins from "../agents/plugins/Plugins.ts"
import type { PluginServices } from "../agents/plugins/LazyPlugins.ts"
import * as Marketplace from "../agents/plugins/Marketplace.ts"
import * as Sandboxes from "../agents/plugins/sandbox/Sandboxes.ts"

const layer = Marketplace.layer.pipe(Layer.provideMerge(Plugins.layer), Layer.provide(Sandboxes.layer))

export const plugins = Effect.map(Layer.build(layer), (built): PluginServices => ({
  plugins: Context.get(built, Plugins.Plugins),
  marketplace: Context.get(built, Marketplace.Marketplace)
}))
