/** `/api/db-backups`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Readable } from "node:stream"
import { createGzip } from "node:zlib"
import { contractOf } from "../../contract/GroupContract.ts"
import { Backups as BackupsGroup } from "./routes.ts"
import { Backups } from "./service.ts"
import { Listener } from "../../entry/listening/Listener.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { receiveFile } from "../../entry/handling/Upload.ts"
import { backupView } from "../../entry/handling/Views.ts"

/** Larger uploads are no database of a gateway, whose log is bounded. */
const mostImportBytes = 16 * 1_073_741_824

const attachment = (name: string) => ({ "Content-Disposition": `attachment; filename="${name}"` })

const streamed = (source: AsyncIterable<Uint8Array>) => Stream.fromAsyncIterable(source, (cause) => cause)

/** Compressed on the thread pool of zlib; a client that reads slowly holds the source up. */
const compressed = (source: AsyncIterable<Uint8Array>) => {
  const gzip = createGzip()
  const input = Readable.from(source)
  input.on("error", (error) => gzip.destroy(error))
  gzip.on("close", () => input.destroy())
  return streamed(input.pipe(gzip))
}

export const layer = HttpApiBuilder.group(contractOf(BackupsGroup), "backups", (handlers) =>
  Effect.gen(function* () {
    const backups = yield* Backups
    const listener = yield* Listener

    /** The request that asks for a restart must not be waited for by it. */
    const hooks = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
      const response = NodeHttpServerRequest.toServerResponse(request)
      return { beforeRestart: Effect.sync(() => listener.setAside(response)) }
    })

    return handlers
      .handle("list", () =>
        Effect.map(
          Effect.flatMap(answered(backups.list), (all) => paged(all, ({ id }) => id)),
          ({ items, nextCursor, total }) => ({ backups: items.map(backupView), nextCursor, total })
        )
      )
      .handle("create", () => answered(Effect.map(backups.create, (backup) => ({ backup: backupView(backup) }))))
      .handle("restore", ({ payload }) =>
        Effect.flatMap(hooks, (hook) =>
          answered(
            Effect.map(backups.restore(payload.backupId, hook), ({ id }) => ({
              restored: true as const,
              preRestoreBackupId: id
            }))
          )
        )
      )
      .handle("import", ({ request }) =>
        Effect.flatMap(hooks, (hook) => {
          const message = NodeHttpServerRequest.toIncomingMessage(request)
          return answered(
            Effect.map(
              backups.importFrom((file) => receiveFile(message, file, mostImportBytes), hook),
              ({ id }) => ({ imported: true as const, preImportBackupId: id })
            )
          )
        })
      )
      .handle("export", () =>
        Effect.map(answered(backups.download), ({ name, pieces, sizeBytes }) =>
          HttpServerResponse.stream(streamed(pieces()), {
            contentType: "application/vnd.sqlite3",
            contentLength: sizeBytes,
            headers: attachment(name)
          })
        )
      )
      .handle("exportAll", () =>
        Effect.map(answered(backups.archive), ({ name, pieces }) =>
          HttpServerResponse.stream(compressed(pieces()), {
            contentType: "application/gzip",
            headers: attachment(name)
          })
        )
      )
  })
)
