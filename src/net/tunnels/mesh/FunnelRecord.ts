/**
 * Record on disk that this gateway has opened a funnel. Tailscale keeps a funnel over restarts, also when the gateway is killed: it
 * would then lead to a port that any other program may take. The next start removes the recorded funnel, and never another one.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import {
  readSmallFile,
  removeSmallFile,
  type SmallFileFailed,
  writeSmallFile
} from "../../../platform/files/SmallFile.ts"

const Content = Schema.parseJson(
  Schema.Struct({
    port: Schema.Literal(443, 8443, 10_000),
    /** Target that it leads to. */
    target: Schema.String.pipe(Schema.pattern(/^http:\/\/127\.0\.0\.1:\d{1,5}$/))
  })
)
export type FunnelRecord = typeof Content.Type

const decode = Schema.decodeUnknownOption(Content)
const encode = Schema.encodeSync(Content)

export interface FunnelRecords {
  readonly read: Effect.Effect<FunnelRecord | null>
  readonly write: (record: FunnelRecord) => Effect.Effect<void, SmallFileFailed>
  readonly remove: Effect.Effect<void>
}

export const makeFunnelRecords = (dataDir: string): FunnelRecords => {
  const path = join(dataDir, "mesh-funnel.json")
  return {
    read: Effect.map(readSmallFile(path), (text) => (text === null ? null : Option.getOrNull(decode(text)))),
    write: (record) => writeSmallFile(path, `${encode(record)}\n`),
    remove: removeSmallFile(path)
  }
}
