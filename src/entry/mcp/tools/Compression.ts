/** The tool that chooses the engine of the compression and leaves its other settings. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { field } from "../../../kernel/Documented.ts"
import type { Tool } from "../../../agents/mcp/Tool.ts"
import type { Plane } from "../../management/Management.ts"
import { schemasOf } from "../OperationSchemas.ts"
import { askedOf, optional, schemaTool } from "../SchemaTool.ts"

export const setCompressionEngine = (ask: Plane["ask"]): Tool =>
  schemaTool({
    name: "set_compression_engine",
    title: "Choose the engine of the compression",
    description: "Sets the engine, and whether the compression is on; its other settings stay as they are.",
    scopes: ["write:compression"],
    effect: "write",
    isIdempotent: true,
    input: Schema.Struct({
      engine: field(Schema.String.pipe(Schema.maxLength(100)), "Name of the engine, such as `rtk` or `stacked`."),
      enabled: field(optional(Schema.Boolean), "Whether the compression is on; absent: as it is.")
    }),
    output: schemasOf("compression.setSettings").output,
    run: ({ enabled, engine }, call) =>
      Effect.gen(function* () {
        const get = askedOf(ask, call)
        const settings = yield* get("compression.settings")
        return yield* get("compression.setSettings", {
          body: { ...settings, engine, ...(enabled === undefined ? {} : { enabled }) }
        })
      })
  })
