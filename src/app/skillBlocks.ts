/** The sandbox of skills' code blocks. Imported dynamically, by the first block that is run. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Sandbox } from "../agents/plugins/sandbox/Sandbox.ts"
import * as Sandboxes from "../agents/plugins/sandbox/Sandboxes.ts"

export const skillBlocks = Effect.map(Layer.build(Sandboxes.layer), (built) => Context.get(built, Sandbox))
