/** The door to plugins for tests that have none. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { PluginsDoor } from "../../src/plugins/PluginsDoor.ts"

export const layer = Layer.succeed(PluginsDoor, {
  get: Effect.die("this test has no plugins"),
  current: () => null
})
