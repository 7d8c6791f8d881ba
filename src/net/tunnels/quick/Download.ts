/** Downloads `cloudflared`: into a new file that gets its name only when its sum is the known one. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { createHash, randomUUID } from "node:crypto"
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import type { DownloadError, PublicDownload } from "../../egress/PublicDownload.ts"
import { fileIn } from "../../../kernel/Tar.ts"
import type { ReleaseFile } from "./Release.ts"

export const downloadLimits = {
  /** Most bytes of the file, and of the program in an archive. */
  bytes: 128 * 1_048_576,
  timeoutMs: 10 * 60_000
}

/** `reason` goes on from "cloudflared": "could not be downloaded: …". */
export class NotDownloaded extends Data.TaggedError("NotDownloaded")<{
  readonly reason: string
  /** Another try would end the same. */
  readonly isFinal: boolean
}> {}

const failed = (reason: string, isFinal = false): NotDownloaded =>
  new NotDownloaded({ reason: `could not be downloaded: ${reason}`, isFinal })

const explain = (error: DownloadError): NotDownloaded => {
  switch (error._tag) {
    case "UrlBlocked":
      return failed("the outbound policy does not allow its address", true)
    case "RedirectRefused":
      return failed("its address leads to another one that is not followed")
    case "TransportFailure":
      return failed(error.message.replace(/\.$/, ""))
    case "ResponseTooLarge":
      return failed(`the file has more than ${error.limitBytes} bytes`)
    case "TimedOut":
      return failed(`it took more than ${error.timeoutMs / 1_000} seconds`)
    case "NoSuchFile":
      return failed(`the server answered with status ${error.status}`)
    case "NotWritten":
      return failed("the file cannot be written", true)
  }
}

const notWritten = (): NotDownloaded => failed("the file cannot be written", true)

const unpack = (archive: Buffer) =>
  Effect.tryPromise({
    try: () => promisify(gunzip)(archive, { maxOutputLength: downloadLimits.bytes }),
    catch: () => failed("the archive cannot be read", true)
  }).pipe(
    Effect.map((bytes) => fileIn(bytes, "cloudflared")),
    Effect.flatMap((program) =>
      program === null ? failed("the archive does not hold it", true) : Effect.succeed(program)
    )
  )

const onFile = <A>(run: () => A) => Effect.try({ try: run, catch: notWritten })

/** Makes `target` with mode 0700, whole or not at all. */
export const downloadProgram = Effect.fn("quick.downloadProgram")(
  (download: typeof PublicDownload.Service, base: string, file: ReleaseFile, target: string) =>
    Effect.gen(function* () {
      const fresh = yield* Effect.acquireRelease(
        onFile(() => {
          mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
          const path = `${target}.${randomUUID()}.new`
          return { path, descriptor: openSync(path, "wx", 0o700) }
        }),
        ({ path }) => Effect.sync(() => rmSync(path, { force: true }))
      )
      const hash = createHash("sha256")
      yield* download
        .get(
          `${base}/${file.path}`,
          { maxBytes: downloadLimits.bytes, timeoutMs: downloadLimits.timeoutMs },
          (piece) => {
            hash.update(piece)
            for (let at = 0; at < piece.length;) at += writeSync(fresh.descriptor, piece, at)
          }
        )
        .pipe(Effect.mapError(explain), Effect.ensuring(Effect.sync(() => closeSync(fresh.descriptor))))
      const sum = hash.digest("hex")
      if (sum !== file.sha256) {
        return yield* failed(
          `the file's SHA-256 sum is ${sum.slice(0, 16)}… in place of ${file.sha256.slice(0, 16)}…. It was thrown away`,
          true
        )
      }
      if (file.form === "tgz") {
        const program = yield* unpack(yield* onFile(() => readFileSync(fresh.path)))
        yield* onFile(() => writeFileSync(fresh.path, program, { mode: 0o700 }))
      }
      yield* onFile(() => renameSync(fresh.path, target))
    }).pipe(Effect.scoped)
)
