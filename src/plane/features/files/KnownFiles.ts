/**
 * Files of `/v1/files` that a request names by their ids (`docs/files.md`): their bytes are put in the places of the ids, whatever the wire, because no
 * upstream knows them. Ids of others stay with their provider's wire.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../../kernel/Lane.ts"
import { Files, ownerOf } from "../../../subjects/files/service.ts"
import { unlessDisconnected } from "../../request/ClientDisconnect.ts"
import type { Work } from "../../request/Exchange.ts"
import { rewritten } from "../../request/RewrittenWork.ts"
import type { Feature } from "../Feature.ts"
import { fileIdsIn, type KnownFile, mayNameFile, mediaTypeOfFile, withFiles } from "./FileIds.ts"

export class KnownFiles extends Context.Tag("gateway/plane/features/files/KnownFiles")<KnownFiles, Feature>() {}

/** Most bytes of all files of one request: no provider takes more in one (OpenAI: 50 MB). */
export const maxFileBytes = 50 * 1_048_576
const maxFiles = 32
/** Requests whose files are read at the same time; each may take as much memory as that. */
const atOnce = 4

export const make = Effect.gen(function* () {
  const files = yield* Files
  const places = makeLane(atOnce)

  const concerns = ({ body, exchange }: Work): boolean => exchange.codec.endpoint === undefined && mayNameFile(body)

  /** Null where it is not the caller's, larger than what is left, or cannot be read. */
  const read = (owner: string, id: string, roomBytes: number): Effect.Effect<KnownFile | null> =>
    Effect.scoped(
      Effect.gen(function* () {
        const { handle, row } = yield* Effect.acquireRelease(files.open(owner, id), ({ handle: open }) =>
          Effect.promise(() => open.close().catch(() => {}))
        )
        if (row.bytes > roomBytes) return null
        const data = (yield* Effect.tryPromise(() => handle.readFile())).toString("base64")
        return { filename: row.filename, mediaType: mediaTypeOfFile(row.filename, data), data }
      })
    ).pipe(Effect.catchAll(() => Effect.succeed(null)))

  const filled = Effect.fnUntraced(function* (work: Work) {
    const { principal, wire } = work.exchange
    const ids = fileIdsIn(wire, work.parsed).slice(0, maxFiles)
    if (ids.length === 0) return work
    const known = new Map<string, KnownFile>()
    let bytes = 0
    for (const id of ids) {
      const file = yield* read(ownerOf(principal), id, maxFileBytes - bytes)
      if (file === null) continue
      known.set(id, file)
      bytes += Math.ceil((file.data.length * 3) / 4)
    }
    const body = withFiles(wire, work.parsed, (id) => known.get(id) ?? null)
    return body === work.parsed ? work : { ...rewritten(work, body), putInBytes: bytes }
  })

  return KnownFiles.of({
    concerns,
    around: (next) => (work) =>
      concerns(work)
        ? Effect.flatMap(
            // For a client that has left, failover ends the request.
            Effect.catchTag(unlessDisconnected(work.exchange.reply, places.inTurn(filled(work))), "ClientGone", () =>
              Effect.succeed(work)
            ),
            next
          )
        : next(work)
  })
})

export const layer: Layer.Layer<KnownFiles, never, Files> = Layer.effect(KnownFiles, make)
